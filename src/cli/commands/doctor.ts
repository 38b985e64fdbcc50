import { escapeInvisible } from "../../base/text.ts";
import { NoWorkspaceError } from "../../locate-workspace.ts";
import type { Workspace } from "../../workspace.ts";
import { EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { runningHost } from "../connect.ts";
import type { Check, Patient } from "../doctor/check.ts";
import { openWorkspace } from "../open-workspace.ts";
import { checkClock, checkInotify, checkNode } from "../doctor/machine.ts";
import { checkCommands, checkFiles, checkFolders, checkPort, checkWorkspaceWriters } from "../doctor/workspace.ts";

const LOOKS = { ok: "green", warning: "yellow", problem: "red" } as const;

/** `doctor`: looks for what commonly keeps a host from working. */
export const doctorCommand = defineCommand({
  usage: "doctor",
  summary: "Look for what keeps a host from working: programs, folders, port, clock, limits.",
  details: "Exit code 1 when there is a problem; warnings leave it 0.",
  examples: ["aurora-mcp doctor", "aurora-mcp doctor --json"],
  run: async (context, options) => {
    const workspace = await openWorkspace(context, options).catch((error: unknown): null => {
      if (error instanceof NoWorkspaceError && options.topology === undefined) return null;
      throw error;
    });
    const found = await examine({ workspace, env: context.env, runningUrl: workspace === null ? null : ((await runningHost(workspace))?.url ?? null) });
    const mask = workspace?.masker.text ?? ((text: string) => text);
    const checks = found.map((check) => ({ ...check, message: mask(check.message), ...(check.help === undefined ? {} : { help: mask(check.help) }) }));
    if (options.json) context.json(checks);
    else {
      const width = Math.max(...checks.map((check) => check.name.length));
      for (const check of checks) {
        context.out(`${context.style(LOOKS[check.state], check.state.padEnd(7))}  ${check.name.padEnd(width)}  ${escapeInvisible(check.message)}`);
        if (check.help !== undefined) context.out(`${" ".repeat(9)}${" ".repeat(width)}  = ${escapeInvisible(check.help)}`);
      }
    }
    return checks.some((check) => check.state === "problem") ? EXIT.problems : EXIT.ok;
  },
});

async function examine(patient: Patient): Promise<Check[]> {
  const workspace: Workspace | null = patient.workspace;
  const checks = [checkNode(process.version), checkFiles(patient)];
  let writtenAt: number | null = null;
  if (workspace !== null && workspace.plan !== null) {
    const { plan } = workspace;
    const folders = await checkFolders(plan);
    writtenAt = folders.writtenAt;
    checks.push(...(await checkCommands(plan, patient.env)), ...folders.checks, await checkPort(plan, patient.runningUrl), ...checkWorkspaceWriters(plan));
  }
  checks.push(checkClock(Date.now(), writtenAt), await checkInotify());
  return checks;
}
