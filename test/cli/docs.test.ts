import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { ALL_FORMATS } from "../../src/cli/export-texts.ts";
import { createProgram } from "../../src/cli/program.ts";
import { builtCli, projectRoot, runCli, startCli, type RunningCli } from "../support/built-cli.ts";

/** docs/cli.md in order: what to write, and what to run with the lines that must be seen. */
type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "run"; readonly line: string; readonly exit: number; readonly expected: readonly string[] };

let page: string;
let root: string;
let host: RunningCli | null = null;

beforeAll(async () => {
  await builtCli();
  page = await readFile(path.join(projectRoot, "docs/cli.md"), "utf8");
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-docs-")));
}, 120_000);
afterAll(async () => {
  host?.child.kill("SIGTERM");
  await host?.done;
  await rm(root, { recursive: true, force: true });
}, 30_000);

function steps(text: string): Step[] {
  const out: Step[] = [];
  for (const [, info, body] of text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
    const file = /file=(\S+)/.exec(info!)?.[1];
    if (file !== undefined) out.push({ kind: "file", name: file, text: body! });
    if (!info!.startsWith("console")) continue;
    const exit = Number(/exit=(\d+)/.exec(info!)?.[1] ?? 0);
    for (const block of body!.split(/^\$ /m).slice(1)) {
      const [line, ...expected] = block.trimEnd().split("\n");
      out.push({ kind: "run", line: line!, exit, expected });
    }
  }
  return out;
}

/** The words of a command line, with single quotes as the only quoting. */
const words = (line: string): string[] => [...line.matchAll(/'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2]!);

/** A line of the page as a pattern: `…` is anything, runs of spaces are one. */
function pattern(line: string): RegExp {
  const escaped = line
    .trim()
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/ +/g, " +"));
  return new RegExp(escaped.join(".*"), "m");
}

it("docs/cli.md has a heading for every command, and none besides", () => {
  const headings = [...page.matchAll(/^### `(.+)`$/gm)].map((m) => m[1]!);
  expect(headings.sort()).toEqual(commands.map((spec) => spec.usage).sort());
});

it("docs/cli.md names every form of export", () => {
  const section = page.slice(page.indexOf("### `export`"), page.indexOf("### `serve`"));
  expect(ALL_FORMATS.filter((format) => !new RegExp(`(?<![\\w-])${format}(?![\\w-])`).test(section))).toEqual([]);
});

it("docs/cli.md names every option of every command under its heading, and no option besides", () => {
  const program = createProgram("0", async () => {});
  const forAll = new Set(["--topology", "--json", "--help"]);
  for (const spec of commands) {
    const words = spec.usage.split(" ").filter((word) => /^[a-z]/.test(word));
    const command = words.reduce((at, word) => at.commands.find((c) => c.name() === word)!, program);
    const section = page.split(`### \`${spec.usage}\`\n`)[1]!.split(/^##/m)[0]!;
    const told = new Set([...section.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/--[a-z][a-z-]*/g)].map((m) => m[0]));
    const real = new Set(command.options.map((option) => option.long!).filter((long) => !forAll.has(long)));
    expect
      .soft(
        [...real].filter((option) => !told.has(option)),
        `${spec.usage}: not on the page`,
      )
      .toEqual([]);
    expect
      .soft(
        [...told].filter((option) => !real.has(option) && !forAll.has(option)),
        `${spec.usage}: not in --help`,
      )
      .toEqual([]);
  }
});

it("the examples of docs/cli.md do what the page says", { timeout: 300_000 }, async () => {
  let cwd = root;
  for (const step of steps(page)) {
    if (step.kind === "file") {
      await mkdir(path.dirname(path.join(cwd, step.name)), { recursive: true });
      await writeFile(path.join(cwd, step.name), step.text);
      continue;
    }
    const [program, ...args] = words(step.line);
    if (program === "cd") {
      cwd = path.join(cwd, args[0]!);
      continue;
    }
    expect(program).toBe("aurora-mcp");
    if (args.at(-1) === "&") {
      host = await startCli(args.slice(0, -1), { cwd });
      host.child.stdin.end();
      for (const line of step.expected) await host.until(pattern(line), 60_000);
      continue;
    }
    const { code, stdout, stderr } = await runCli(args, { cwd });
    expect(code, `${step.line}\n${stdout}\n${stderr}`).toBe(step.exit);
    for (const line of step.expected) expect(`${stdout}\n${stderr}`, step.line).toMatch(pattern(line));
  }
});
