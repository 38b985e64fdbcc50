import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSummary, REQUIREMENTS, runSuite, type SuiteVersion } from "../conformance/suite.ts";
import { startHost, type Host } from "./support/host.ts";

const FIXTURE = fileURLToPath(new URL("../conformance/fixture-server.mjs", import.meta.url));
const EXPECTED = fileURLToPath(new URL("../conformance/expected-failures/", import.meta.url));
const RESULTS = path.join(tmpdir(), `aurora-conformance-results-${process.pid}`);
afterAll(() => rm(RESULTS, { recursive: true, force: true }));

/** What may be asked of the calling client, and a connection for each session, as that needs. */
const GRANTED = `
    isolation: session
    grants: { sampling: { forward: true }, elicitation: { forward: true } }`;

const STDIO = `{ command: [${JSON.stringify(process.execPath)}], args: [${JSON.stringify(FIXTURE)}] }`;

/** A workspace with the fixture as its only app, under its own names. The suite sends no tokens. */
const workspace = (mcp: string, app: string, trust = "high"): Record<string, string> => ({
  "topology/topology.yaml": `
topology: 1
data_dir: ../data
apps:
  org.example.fixture:
    mcp: ${mcp}
    trust: ${trust}${app}
gateway: { listen: "127.0.0.1:0", naming: none, auth: { mode: none } }
`,
});

/** A workspace in which every tool is allowed, whatever its risk. */
const opened = (files: Record<string, string>): Record<string, string> => ({
  "topology/topology.yaml": `${files["topology/topology.yaml"]}policies: [policies/*.yaml]\n`,
  "topology/policies/open.yaml": "risk_actions: { high: { action: allow, audit: summary } }\n",
});

/** The default rules, but a call waits for a person only a moment: nobody is there. */
const asking = (files: Record<string, string>): Record<string, string> => ({
  "topology/topology.yaml": `${files["topology/topology.yaml"]}policies: [policies/*.yaml]\n`,
  "topology/policies/wait.yaml": "approvals: { wait: 100ms }\n",
});

interface Setup {
  readonly title: string;
  readonly expected: string;
  readonly files: () => Promise<Record<string, string>>;
}

let fixture: ChildProcess | undefined;
afterAll(() => fixture?.kill("SIGKILL"));

/** Starts the fixture as an HTTP server and gives its URL. */
async function httpFixture(): Promise<string> {
  fixture = spawn(process.execPath, [FIXTURE, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(fixture.stdout!)) return line;
  throw new Error("the fixture ended before it listened");
}

const SETUPS: readonly Setup[] = [
  { title: "open policy, fixture over stdio", expected: "open.yaml", files: async () => opened(workspace(STDIO, GRANTED)) },
  { title: "open policy, fixture over HTTP", expected: "open.yaml", files: async () => opened(workspace(`{ url: "${await httpFixture()}" }`, GRANTED)) },
  { title: "default policy, trusted server, nothing granted", expected: "default.yaml", files: async () => workspace(STDIO, "") },
  {
    title: "default policy, server of medium trust: a person is asked before each call",
    expected: "asked.yaml",
    files: async () => asking(workspace(STDIO, "", "medium")),
  },
];

const SETS: readonly [SuiteVersion, string, readonly string[], number][] = [
  ["released", "active scenarios of the released suite", ["--suite", "active"], 30],
  ["next", `scenarios required for ${REQUIREMENTS}`, ["--requirements", REQUIREMENTS], 33],
];

describe.each(SETUPS)("the gateway as a server: $title", ({ expected, files }) => {
  let host: Host;
  beforeAll(async () => {
    host = await startHost(await files());
  });
  afterAll(() => host?.stop());

  test.each(SETS)("%s suite, %s", { timeout: 240_000 }, async (version, _title, args, count) => {
    const file = path.join(EXPECTED, expected);
    const { code, output } = await runSuite(version, ["server", "--url", host.url, ...args, "--expected-failures", file, "-o", RESULTS], 230_000);
    const { scenarios, failed, total } = readSummary(output);
    process.stdout.write(`  ${version}: ${scenarios} scenarios, ${failed.length} of them failing as policy has it; ${total}\n`);
    expect([...failed].sort(), output).toEqual([...(parse(readFileSync(file, "utf8")) as { server: string[] }).server].sort());
    expect(scenarios).toBe(count);
    // The suite's own judgement: also 1 when a failure is expected that does not come.
    expect(code, output).toBe(0);
  });
});
