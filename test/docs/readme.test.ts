import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeOpenAI } from "../../examples/fakes/openai.mjs";
import { builtApp } from "../support/built-apps.ts";
import { builtCli, projectRoot, runCli, startCli, type RunningCli } from "../support/built-cli.ts";
import { until } from "../support/kit.ts";
import { blocksOf, readPage, type Block } from "./markdown.ts";

/** The workspace of a fresh clone, as far as the tour needs it, at any free port. */
let root: string;
let host: RunningCli;
let blocks: Block[];

const topologyFile = (): string => path.join(root, "topology/topology.yaml");
const edit = async (file: string, from: string, to: string): Promise<void> => {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
};

beforeAll(async () => {
  await builtCli();
  await builtApp("clock");
  blocks = blocksOf(await readPage("README.md"));
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "aurora-readme-")));
  for (const folder of ["topology", "apps", "schemas"]) await cp(path.join(projectRoot, folder), path.join(root, folder), { recursive: true });
  await symlink(path.join(projectRoot, "dist"), path.join(root, "dist"), "junction");
  await mkdir(path.join(root, "node_modules"));
  for (const name of [".bin", "openai", "@modelcontextprotocol"])
    await symlink(path.join(projectRoot, "node_modules", name), path.join(root, "node_modules", name), "junction");
  await symlink(projectRoot, path.join(root, "node_modules/aurora-mcp-kit"), "junction");
  await edit(topologyFile(), "127.0.0.1:7800", "127.0.0.1:0");
  // The tour's one call that waits for a person waits 25 s.
  await writeFile(
    path.join(root, "topology/policies/default.yaml"),
    `${await readFile(path.join(root, "topology/policies/default.yaml"), "utf8")}\napprovals: { wait: 1s }\n`,
  );
}, 180_000);

afterAll(async () => {
  host?.child.kill("SIGTERM");
  await host?.done;
  await rm(root, { recursive: true, force: true });
}, 60_000);

/** A line of the page as a pattern: `…` is anything, long numbers are any (process ids, ports), runs of spaces are one. */
function pattern(line: string): RegExp {
  const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const body = line
    .trimEnd()
    .split("…")
    .map((part) =>
      escape(part)
        .replaceAll(/\d{4,}/g, "\\d+")
        .replaceAll(/ +/g, " +"),
    );
  return new RegExp(`^${body.join(".*")} *$`, "m");
}

function expectLines(output: string, block: Block): void {
  for (const line of block.text.trimEnd().split("\n")) if (line !== "…") expect(output).toMatch(pattern(line));
}

/** The words of a command line, with single and double quotes. */
const words = (line: string): string[] => [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!);

/** Commands that the tour shows failing. */
const FAILS = ["validate", 'call get_weather --args {"town"', "call im.polaris.qq.send_message"];

async function run(line: string): Promise<string> {
  const [npx, program, ...args] = words(line);
  expect([npx, program]).toEqual(["npx", "aurora-mcp"]);
  const { code, stdout, stderr } = await runCli(args, { cwd: root });
  expect(code, `${line}\n${stdout}\n${stderr}`).toBe(FAILS.some((start) => args.join(" ").startsWith(start)) ? 1 : 0);
  return `${stdout}\n${stderr}`;
}

async function status(): Promise<{ apps: { package: string; state: string; pid: number }[]; policy: { rules: number }; config: { state: string } }> {
  const { stdout, stderr } = await runCli(["status", "--json"], { cwd: root });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as never;
}
const ready = async (app: string): Promise<boolean> => (await status()).apps.some((row) => row.package === app && row.state === "ready");
const settledWhen = (holds: () => Promise<boolean>, what: string): Promise<void> => until(holds, 60_000, what);

describe("the tour of README.md", () => {
  it("does what the page says, step by step", { timeout: 400_000 }, async () => {
    host = await startCli(["up", "--log-format", "text"], { cwd: root });
    host.child.stdin.end();
    await host.until(/^policy /m, 60_000);
    for (const app of ["clock", "diary", "weather", "qq"]) await settledWhen(() => ready(`im.polaris.${app}`), `im.polaris.${app} did not come up`);
    const pids = async (): Promise<unknown[]> => (await status()).apps.filter((row) => row.package.startsWith("im.polaris.")).map((row) => row.pid);
    const before = await pids();
    // Printed once at the start, when slow apps may be on their way: status shows the same table.
    let output = (await runCli(["status"], { cwd: root })).stdout;
    let ran = 0;

    for (const block of blocks) {
      if (block.kind === "text") expectLines(output, block);
      if (block.kind === "yaml" && block.text.includes("rules:")) {
        await writeFile(path.join(root, "topology/policies/friends.yaml"), block.text);
        await settledWhen(async () => (await status()).policy.rules === 2, "the policy was not taken");
      }
      if (block.kind !== "sh") continue;
      const lines = block.text
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith("npm "));
      if (lines.length > 0) output = "";
      for (const line of lines) {
        const misspelt = line.endsWith("validate");
        if (misspelt) {
          await edit(topologyFile(), "      command:", "      commandd:");
          await settledWhen(async () => (await status()).config.state === "rejected", "the edit was not seen");
        }
        // An event must not come before somebody waits for it, however slow the machine is.
        const waiting = line.includes("create_timer") ? run(lines.pop()!) : null;
        output += await run(line);
        output += (await waiting) ?? "";
        if (line.includes("apps add")) await settledWhen(() => ready("org.example.everything"), "the added app did not come up");
        if (misspelt) {
          expect(host.stderr()).toContain('unknown key "commandd" in apps.org.example.everything.mcp');
          await edit(topologyFile(), "      commandd:", "      command:");
          await settledWhen(async () => (await status()).config.state === "applied", "the mended file was not taken");
        }
        ran += 1;
      }
    }
    expect(ran).toBeGreaterThan(10);
    expect(await pids()).toEqual(before);
    expect(JSON.parse(await readFile(path.join(root, "tools.json"), "utf8"))).toEqual(
      JSON.parse(await readFile(path.join(root, "generated/tools/openai.json"), "utf8")),
    );
    host.child.kill("SIGTERM");
    expect((await host.done).code).toBe(0);
  });

  it("the program in it runs as it stands", { timeout: 120_000 }, async () => {
    const [program] = blocks.filter(({ kind }) => kind === "js");
    await writeFile(path.join(root, "program.mjs"), program!.text);
    const openai = await startFakeOpenAI();
    try {
      const { stdout } = await promisify(execFile)(process.execPath, ["program.mjs"], {
        cwd: root,
        env: { ...process.env, OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "test" },
      });
      expect(stdout).toContain("Asia/Shanghai");
      expect(openai.requests).toHaveLength(2);
    } finally {
      await openai.close();
    }
  });

  it("so does the program of docs/library.md", { timeout: 120_000 }, async () => {
    const [program] = blocksOf(await readPage("docs/library.md")).filter(({ kind }) => kind === "js");
    await writeFile(path.join(root, "library.mjs"), program!.text);
    const { stdout } = await promisify(execFile)(process.execPath, ["library.mjs"], { cwd: root });
    expect(stdout).toMatch(/^im\.polaris\.clock is ready$/m);
    expect(stdout).toMatch(/^\d\d tools$/m);
    expect(stdout).toMatch(/^Asia\/Shanghai /m);
  });

  it("every YAML in it and in docs/security.md is valid where the page says it stands", { timeout: 120_000 }, async () => {
    const all = [...blocks, ...blocksOf(await readPage("docs/security.md"))];
    for (const [index, { text }] of all.filter(({ kind }) => kind === "yaml").entries()) {
      const folder = path.join(root, `yaml-${index}`);
      const isPolicy = text.includes("rules:");
      await mkdir(path.join(folder, "topology/policies"), { recursive: true });
      await writeFile(
        path.join(folder, "topology/topology.yaml"),
        isPolicy ? "topology: 1\npolicies: [policies/*.yaml]\n" : text.includes("topology: 1") ? text : `topology: 1\n${text}`,
      );
      if (isPolicy) await writeFile(path.join(folder, "topology/policies/it.yaml"), text);
      const { code, stdout, stderr } = await runCli(["validate"], { cwd: folder });
      expect(code, `${stdout}${stderr}`).toBe(0);
      expect(`${stdout}${stderr}`).not.toContain("error[");
    }
  });
});
