import { describe, expect, it } from "vitest";
import { readPage } from "./markdown.ts";

const page = await readPage("docs/checklist.md");
const rows = page.split("\n").filter((line) => line.startsWith("| ☑") || line.startsWith("| ☐"));

describe("docs/checklist.md", () => {
  it("has the 36 boxes of the guide's section 18", () => {
    expect(rows).toHaveLength(36);
    for (const row of rows.filter((line) => line.startsWith("| ☑"))) expect(row, row).toMatch(/\]\(\.\.\/test\/.*“/);
  });

  it.each(rows.map((row) => [row.slice(2, 40), row]))("%s: the tests that it names are there", async (_box, row) => {
    let file = "";
    for (const [, link, name] of row.matchAll(/\]\(\.\.\/(test\/[^)]+)\)|“([^”]+)”/g)) {
      if (link !== undefined) file = link;
      else
        expect(await readPage(file), `${file}: ${name}`).toMatch(
          new RegExp(`\\b(?:it|test)(?:\\.\\w+)*(?:\\([^\\n]*\\))?\\((["'\`])${name!.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\1`),
        );
    }
  });
});
