import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExportFiles } from "../../src/kit/export-files.ts";
import { silentLogger } from "../../src/kit/silent-logger.ts";
import { exportedOrder } from "../../src/llm/export-order.ts";
import { exportTools } from "../../src/llm/export.ts";
import { toolWith } from "../llm/support/export-one.ts";

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(path.join(os.tmpdir(), "aurora-export-"))));
afterEach(() => rm(dir, { recursive: true, force: true }));

test.each([
  ["append", ["z", "m", "a"]],
  ["sorted", ["a", "m", "z"]],
] as const)("order %s: the order of the file on the disk decides, also after a restart", async (order, names) => {
  const file = path.join(dir, "tools.json");
  await writeFile(file, '[\n{"name":"z"},\n{"name":"gone"},\n{"name":"m"}\n]\n');
  const tools = ["a", "m", "z"].map((name) => toolWith({ type: "object" }, { name, full: name, short: name }));
  const files = createExportFiles(silentLogger);
  await files.update([{ format: "mcp", file, order }], (_entry, earlier) => {
    const made = exportTools(tools, "mcp", { earlier: exportedOrder(earlier, "mcp") });
    return { format: "mcp", tools: made.tools, text: made.text, etag: "", names: {}, warnings: [] };
  });
  expect(JSON.parse(await readFile(file, "utf8")).map((tool: { name: string }) => tool.name)).toEqual(names);
});
