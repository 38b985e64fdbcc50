import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExportFiles } from "../../src/kit/export-files.ts";
import { silentLogger } from "../../src/kit/silent-logger.ts";
import { exportedOrder } from "../../src/llm/export-order.ts";
import type { Logger } from "../../src/runtime/ports.ts";
import { exportTools } from "../../src/llm/export.ts";
import { within } from "../../src/base/within.ts";
import { scriptedApp, startKit, topologyText, until } from "../support/kit.ts";
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

/** A logger that keeps what is said, as level and message. */
function hearing(): { log: Logger; said: string[] } {
  const said: string[] = [];
  const at =
    (level: string) =>
    (_fields: object, message: string): void =>
      void said.push(`${level}: ${message}`);
  const log: Logger = { debug: () => {}, info: () => {}, warn: at("warn"), error: at("error"), child: () => log };
  return { log, said };
}

const made =
  (text: string, warnings: string[] = []) =>
  (): ReturnType<Parameters<ReturnType<typeof createExportFiles>["update"]>[1]> => ({
    format: "mcp",
    tools: [],
    text,
    etag: "",
    names: {},
    warnings,
  });

test("faults and warnings are logged when they change, not at every change of the catalogue; the state keeps the fault", async () => {
  await writeFile(path.join(dir, "in-the-way"), "");
  const bad = { format: "mcp", file: path.join(dir, "in-the-way", "tools.json") } as const;
  const good = { format: "mcp", file: path.join(dir, "tools.json") } as const;
  const { log, said } = hearing();
  const files = createExportFiles(log);
  for (const text of ["a", "b", "b"]) await files.update([bad, good], made(text, ["too many"]));
  expect(said).toEqual(["error: tool schemas could not be written", "warn: too many"]);
  expect(files.state()).toEqual([
    expect.objectContaining({ ...bad, error: expect.stringMatching(/ENOTDIR|EEXIST/) }),
    { ...good, tools: 0, pending: false, error: null },
  ]);
  await rm(path.join(dir, "in-the-way"));
  for (const warnings of [["more"], ["more"], []]) await files.update([bad, good], made("c", warnings));
  expect(said.slice(2)).toEqual(["warn: more", "warn: more"]);
  expect(files.state().map((state) => state.error)).toEqual([null, null]);
});

test("whoever stops does not wait for a write that never ends", { timeout: 60_000 }, async () => {
  const { log, said } = hearing();
  const files = createExportFiles(log, undefined, () => new Promise(() => {}));
  void files.update([{ format: "mcp", file: path.join(dir, "tools.json") }], made("a"));
  await files.settled();
  expect(said).toEqual(["error: an export file is not written after 3 s; the host stops without it"]);
});

test.runIf(process.platform !== "win32")("a pipe in the place of a file that is appended to is a fault, not a wait", { timeout: 60_000 }, async () => {
  const file = path.join(dir, "pipe");
  await promisify(execFile)("mkfifo", [file]);
  const files = createExportFiles(silentLogger);
  await files.update([{ format: "mcp", file, order: "append" }], made("a"));
  expect(files.state()).toMatchObject([{ error: "it is not a file" }]);
});

test("a kit stops though neither its exports nor its events can be written", { timeout: 120_000 }, async () => {
  await writeFile(path.join(dir, "file"), "");
  const nowhere = (name: string): string => path.join(dir, "file", name);
  const topology = topologyText(
    { "org.example.one": scriptedApp({ on: {} }) },
    { inbox: { dir: nowhere("pending") }, exports: [{ format: "openai", file: nowhere("tools.json") }] },
  );
  const t = await startKit({ "topology/topology.yaml": topology });
  await until(() => t.kit.status().exports[0]!.error !== null && t.kit.status().inbox.degraded !== null);
  // Longer than the waits together means that one of them has no end.
  expect(await within(t.stop(), 30_000)).toBe(true);
});
