import { readFile } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { escapeInvisible } from "../../base/text.ts";
import type { policySubjects, Trial } from "../what-if.ts";
import type { RunnableWorkspace } from "../../workspace.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Context, GlobalOptions } from "../context.ts";
import type { Host } from "../host.ts";
import { openRunnable } from "../open-workspace.ts";

const policyTest = defineCommand({
  usage: "policy test <file>",
  summary: "Run policy fixtures offline: a list of { tool, args, session, expect }.",
  details:
    "expect is allow, ask or deny, or a map of action, rule and risk. session is clean or marked. Tools are named as in the manifests' commands, or PACKAGE/TOOL.",
  examples: ["aurora-mcp policy test policy-tests.yaml"],
  run: (context, options, [file]) =>
    tryFixtures(context, options, file!, async ({ plan }, text) => (await import("../what-if.ts")).tryPolicy(plan, file!, text)),
});

const signalsTest = defineCommand({
  usage: "signals test <file>",
  summary: "Run signal fixtures offline: { tests: [{ signal: { app, method, params }, expect: [envelope, …] }] }.",
  details: "expect lists the envelopes in order, each with the members to compare; an empty list is a drop. No event is written.",
  examples: ["aurora-mcp signals test signal-tests.yaml --json"],
  run: (context, options, [file]) =>
    tryFixtures(context, options, file!, async ({ plan }, text) => (await import("../what-if.ts")).trySignals(plan, file!, text)),
});

const suggest = defineCommand({
  usage: "policy suggest",
  summary: "Draft rules that classify the tools by their names and hints, for you to review.",
  details: "Prints a policy file. It never drafts an allow.",
  examples: ["aurora-mcp policy suggest > topology/policies/draft.yaml"],
  run: async (context, options) => {
    const { plan } = await openRunnable(context, options);
    return withHost(context, options, "start", async (host) => {
      const { draftPolicy } = await import("../what-if.ts");
      const text = draftPolicy(await subjectsOf(host, plan));
      if (options.json) context.json({ text });
      else process.stdout.write(text);
    });
  },
});

const flows = defineCommand({
  usage: "policy flows",
  summary: "Report which low-trust sources can reach which high-risk tools, and what stands between.",
  details: "Exit code 1 when a path is open: its tool may be called freely after a source has spoken.",
  examples: ["aurora-mcp policy flows", "aurora-mcp policy flows --json"],
  run: async (context, options) => {
    const { plan } = await openRunnable(context, options);
    return withHost(context, options, "start", async (host) => {
      const { policyFlows } = await import("../what-if.ts");
      const { report, lines } = policyFlows(plan, await subjectsOf(host, plan));
      if (options.json) context.json(report);
      else context.out(escapeInvisible(lines.join("\n"), true));
      return report.paths.open > 0 ? EXIT.problems : EXIT.ok;
    });
  },
});

async function subjectsOf(host: Host, plan: RunnableWorkspace["plan"]): Promise<ReturnType<typeof policySubjects>> {
  const [rows, exported] = await Promise.all([host.toolRows(), host.tools("mcp")]);
  return (await import("../what-if.ts")).policySubjects(plan, rows, JSON.parse(exported.text) as JsonObject[]);
}

async function tryFixtures(
  context: Context,
  options: GlobalOptions,
  file: string,
  run: (workspace: RunnableWorkspace, text: string) => Promise<Trial[]>,
): Promise<number> {
  const workspace = await openRunnable(context, options);
  const text = await readFile(path.resolve(context.cwd, file), "utf8").catch((error: unknown) => {
    throw new CliError(`cannot read the fixtures: ${messageOf(error)}`);
  });
  const trials = await run(workspace, text);
  const failed = trials.filter((trial) => !trial.ok).length;
  if (options.json) context.json(trials);
  else {
    for (const trial of trials) {
      context.out(`${trial.ok ? context.style("green", "ok  ") : context.style("red", "FAIL")}  ${escapeInvisible(trial.name)}`);
      for (const problem of trial.problems) context.out(`      ${escapeInvisible(problem)}`);
    }
    context.out(`${trials.length - failed} passed, ${failed} failed`);
  }
  return failed > 0 ? EXIT.problems : EXIT.ok;
}

/** `policy test|suggest|flows` and `signals test`. */
export const policyCommands = [policyTest, suggest, flows, signalsTest];
