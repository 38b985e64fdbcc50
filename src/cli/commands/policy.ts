import { writeFile } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { escapeInvisible } from "../../base/text.ts";
import { isCode } from "../../files/atomic-write.ts";
import { patternTakes } from "../../files/path-glob.ts";
import type { policySubjects } from "../what-if.ts";
import type { RunnableWorkspace } from "../../workspace.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Host } from "../host.ts";
import { openRunnable } from "../open-workspace.ts";
import { tryFixtures } from "../try-fixtures.ts";

const policyTest = defineCommand({
  usage: "policy test <file>",
  summary: "Run policy fixtures offline: a list of { tool, args, session, expect }.",
  details:
    "expect is allow, ask or deny, or a map of action, rule and risk. session is clean or marked. Tools are named as in the manifests' commands, or PACKAGE/TOOL.",
  examples: ["aurora-mcp policy test policy-tests.yaml"],
  run: (context, options, [file]) =>
    tryFixtures(context, options, file!, async ({ plan }, text) => (await import("../what-if.ts")).tryPolicy(plan, file!, text)),
});

const suggest = defineCommand<{ out?: string }>({
  usage: "policy suggest",
  summary: "Draft rules that classify the tools by their names and hints, for you to review.",
  details:
    "Prints a policy file. It never drafts an allow. --out writes a new file instead, outside of what `policies` names: rules hold as soon as they stand there, and a draft should be read first.",
  examples: ["aurora-mcp policy suggest", "aurora-mcp policy suggest --out policy-draft.yaml"],
  options: (command) => command.option("--out <file>", "write to a new file that is no policy file yet"),
  run: async (context, options) => {
    const { plan, config } = await openRunnable(context, options);
    const file = options.out === undefined ? null : path.resolve(context.cwd, options.out);
    const patterns = (config?.topology.value.policies ?? []).map((pattern) => path.resolve(path.dirname(plan.topologyFile), pattern));
    if (file !== null) refuseInForce(file, patterns);
    return withHost(context, options, "start", async (host) => {
      const { draftPolicy } = await import("../what-if.ts");
      const text = draftPolicy(await subjectsOf(host, plan));
      if (file !== null) await writeNew(file, text);
      if (options.json) context.json({ text, ...(file === null ? {} : { file }) });
      else if (file === null) process.stdout.write(text);
      else context.out(`wrote ${file}`);
      if (file !== null)
        context.note(`nothing has changed yet: read each line, then move it to where policies of ${plan.topologyFile} finds it${howTo(patterns)}`);
    });
  },
});

/** Throws a {@link CliError} when a file stands where policies are read from: a draft would hold before anybody has read it. */
function refuseInForce(file: string, patterns: readonly string[]): void {
  const taken = patterns.find((pattern) => patternTakes(pattern, file));
  if (taken !== undefined)
    throw new CliError(`${file} would be in force at once, for policies names ${taken}; write the draft elsewhere, read it, then move it there`);
}

async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    throw new CliError(isCode(error, "EEXIST") ? `${file} is there already; choose another name` : `cannot write the draft: ${messageOf(error)}`);
  });
}

function howTo(patterns: readonly string[]): string {
  return patterns.length === 0 ? " (it names no files yet)" : ` (${patterns.join(", ")})`;
}

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

/** `policy test|suggest|flows`. */
export const policyCommands = [policyTest, suggest, flows];
