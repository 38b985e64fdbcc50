import { access } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../support/built-cli.ts";
import { allPages, anchorOf, blocksOf, headingsOf, linksOf, readPage } from "./markdown.ts";

const pages = await allPages();

describe("links", () => {
  it.each(pages)("of %s lead somewhere", async (page) => {
    const broken: string[] = [];
    for (const link of linksOf(await readPage(page))) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file, anchor] = link.split("#") as [string, string?];
      const target = file === "" ? page : path.join(path.dirname(page), decodeURIComponent(file));
      const there = await access(path.join(projectRoot, target)).then(
        () => true,
        () => false,
      );
      if (!there) broken.push(link);
      else if (anchor !== undefined && !headingsOf(await readPage(target)).some(({ text }) => anchorOf(text) === anchor)) broken.push(link);
    }
    expect(broken).toEqual([]);
  });

  it("the README leads to every page of docs/ but the decisions one by one", async () => {
    const linked = new Set(linksOf(await readPage("README.md")));
    const docs = pages.filter((page) => page.startsWith("docs/") && !page.startsWith("docs/decisions/"));
    expect(docs.filter((page) => !linked.has(page))).toEqual([]);
  });
});

describe("README.zh-CN.md", () => {
  it("has the headings, commands, files and links of README.md, in its order", async () => {
    const [english, chinese] = await Promise.all([readPage("README.md"), readPage("README.zh-CN.md")]);
    expect(headingsOf(chinese).map(({ level }) => level)).toEqual(headingsOf(english).map(({ level }) => level));
    const other = { "README.md": "README.zh-CN.md", "README.zh-CN.md": "README.md" } as Readonly<Record<string, string>>;
    expect(linksOf(chinese).sort()).toEqual(
      linksOf(english)
        .map((link) => other[link] ?? link)
        .sort(),
    );
    const withoutComments = (page: string): string[] =>
      blocksOf(page)
        .filter(({ kind }) => kind !== "mermaid")
        .map(({ kind, text }) => (kind === "js" ? text.replaceAll(/ *\/\/.*$/gm, "") : text));
    expect(withoutComments(chinese)).toEqual(withoutComments(english));
  });
});
