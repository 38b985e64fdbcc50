import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../support/built-cli.ts";
import { readPage } from "./markdown.ts";

const page = await readPage("docs/architecture.md");
const entries = await readdir(path.join(projectRoot, "src"), { withFileTypes: true });

it("docs/architecture.md has a row for every room of src/, and none besides", () => {
  const rows = [...page.matchAll(/^\| `([a-z]+)\/` \|/gm)].map((match) => match[1]);
  expect(rows.sort()).toEqual(
    entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort(),
  );
});

it("it names every file that stands in no room", () => {
  const missing = entries.filter((entry) => entry.isFile() && !page.includes(`\`${entry.name}\``)).map((entry) => entry.name);
  expect(missing).toEqual([]);
});

it("files that it names by path are there", async () => {
  for (const [, file] of page.matchAll(/`((?:[a-z]+\/)+[a-z-]+\.ts)`/g))
    await readFile(path.join(projectRoot, file!.startsWith("src/") ? file! : `src/${file}`));
});
