import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../src/base/errors.ts";
import { builtCli, projectRoot } from "../support/built-cli.ts";
import { readPage } from "./markdown.ts";

it("docs/errors.md has a row for every error code of the source, and none besides", async () => {
  const rows = [...(await readPage("docs/errors.md")).matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  expect(rows.sort()).toEqual(Object.keys(ERROR_CODES).sort());
});

it("docs/settings.md and docs/errors.md are what the schemas and the source make of them", { timeout: 120_000 }, async () => {
  await builtCli();
  await promisify(execFile)(process.execPath, ["scripts/generate-docs.mjs", "--check"], { cwd: projectRoot });
});
