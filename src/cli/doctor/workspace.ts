import { constants } from "node:fs";
import { access, mkdtemp, rm, stat } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../base/errors.ts";
import { isUnder } from "../../config/hosts.ts";
import { probePort } from "../../control/port-probe.ts";
import { realPath, rootFolder } from "../../files/real-path.ts";
import type { AppPlan, Plan } from "../../plan/types.ts";
import type { Check, Patient } from "./check.ts";
import { count } from "../../base/text.ts";

/** Whether the files are without errors and warnings. */
export function checkFiles({ workspace }: Patient): Check {
  if (workspace === null)
    return {
      name: "workspace",
      state: "problem",
      message: "no topology/topology.yaml in this folder or a parent",
      help: "make one with aurora-mcp init, or name it with --topology",
    };
  const errors = workspace.diagnostics.filter((d) => d.severity === "error").length;
  if (errors > 0)
    return {
      name: "workspace",
      state: "problem",
      message: `${workspace.topologyFile}: ${count(errors, "error")}`,
      help: "aurora-mcp validate shows them",
    };
  const [first, ...more] = workspace.diagnostics.filter((d) => d.severity === "warning");
  if (first !== undefined)
    return {
      name: "workspace",
      state: "warning",
      message: `${workspace.topologyFile}: ${first.message}${more.length === 0 ? "" : ` (and ${count(more.length, "more warning")})`}`,
      help: `aurora-mcp validate shows ${more.length === 0 ? "it" : "them"}`,
    };
  return { name: "workspace", state: "ok", message: workspace.topologyFile };
}

/** Whether every program that an app starts is found. */
export async function checkCommands(plan: Plan, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const checks: Check[] = [];
  for (const app of plan.apps.values()) {
    if (app.connect.transport !== "stdio") continue;
    const { command, cwd } = app.connect;
    const searched = app.connect.env["PATH"] ?? env["PATH"] ?? "";
    const found = await findProgram(command, cwd, searched, env["PATHEXT"]);
    const name = `command ${app.package}`;
    if (!(await isFolder(cwd)))
      checks.push({ name, state: "problem", message: `there is no folder ${cwd} to run it in`, help: "make the folder, or mend mcp.cwd" });
    else if (found !== null) checks.push({ name, state: "ok", message: found });
    else if (/\s/.test(command))
      checks.push({
        name,
        state: "problem",
        message: `there is no program called ${JSON.stringify(path.basename(command))}`,
        help: "write mcp.command as a list of the program and its arguments",
      });
    else if (/[\\/]/.test(command))
      checks.push({
        name,
        state: "problem",
        message: `${path.resolve(cwd, command)} is not a program that can be run`,
        help: "mend mcp.command, or make the file executable: chmod +x",
      });
    else
      checks.push({
        name,
        state: "problem",
        message: `"${command}" is not on PATH: ${searched}`,
        help: `write an absolute path in mcp.command, or set env.PATH for ${app.package}`,
      });
  }
  return checks;
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Where a program lies, or null. A name with a slash is taken from `cwd`; any other is searched on `searched`. */
export async function findProgram(command: string, cwd: string, searched: string, pathExt: string | undefined): Promise<string | null> {
  const suffixes = process.platform === "win32" ? ["", ...(pathExt ?? ".EXE;.CMD;.BAT").split(";")] : [""];
  const folders = /[\\/]/.test(command) ? [""] : searched.split(path.delimiter);
  for (const folder of folders) {
    for (const suffix of suffixes) {
      const file = path.resolve(cwd, folder, command + suffix);
      const info = await stat(file).catch(() => null);
      if (info?.isFile() && (await may(file, constants.X_OK))) return file;
    }
  }
  return null;
}

/** Whether the folders that the host writes to can be written. Makes and removes nothing but a temporary folder. */
export async function checkFolders(plan: Plan): Promise<{ readonly checks: Check[]; readonly writtenAt: number | null }> {
  const folders = new Map<string, string>([["data_dir", plan.dataDir]]);
  if (plan.inbox.sink === "file") folders.set("inbox.dir", plan.inbox.dir);
  for (const entry of plan.exports) folders.set(`exports ${entry.format}`, path.dirname(entry.file));
  folders.set("audit.file", path.dirname(plan.audit.file));
  const checks: Check[] = [];
  let writtenAt: number | null = null;
  for (const [setting, folder] of folders) {
    const existing = await nearestFolder(folder);
    const probe = existing === null ? null : await mkdtemp(path.join(existing, ".aurora-doctor-")).catch(() => null);
    if (probe === null)
      checks.push({
        name: setting,
        state: "problem",
        message: `${existing ?? folder} cannot be written`,
        help: `give this user the right to write there, or change ${setting} in topology.yaml`,
      });
    else {
      writtenAt = (await stat(probe)).mtimeMs;
      await rm(probe, { recursive: true });
      checks.push({ name: setting, state: "ok", message: `${folder} can be written` });
    }
  }
  return { checks, writtenAt };
}

/** Whether the port of the HTTP door is free, or taken by the host of this workspace. */
export async function checkPort(plan: Plan, runningUrl: string | null): Promise<Check> {
  const name = "gateway.listen";
  if (plan.gateway === null) return { name, state: "ok", message: "no gateway" };
  const { host, port } = plan.gateway;
  if (runningUrl !== null) return { name, state: "ok", message: `the host of this workspace runs at ${runningUrl}` };
  try {
    await probePort({ host, port });
  } catch (error) {
    return { name, state: "problem", message: messageOf(error), help: `stop what has it, or change gateway.listen in ${plan.topologyFile}` };
  }
  return { name, state: "ok", message: port === 0 ? `${host}, any free port` : `${host}:${port} is free` };
}

/** Warns of apps that are handed the workspace itself: whoever can edit its YAML can run programs as this user. */
export function checkWorkspaceWriters(plan: Plan): Check[] {
  const checks = [...plan.apps.values()].flatMap((app) => {
    const ways = waysIn(app, plan);
    if (ways.length === 0) return [];
    return [
      {
        name: `writes ${app.package}`,
        state: "warning" as const,
        message: `${ways.join(" and ")} let${ways.length === 1 ? "s" : ""} ${app.package} reach ${plan.root}`,
        help: `whoever edits the YAML there can run programs as you: give the app a folder of its own${ways.includes("cwd") ? "; its cwd is the workspace where mcp.cwd names no other" : ""}`,
      },
    ];
  });
  return checks.length > 0 ? checks : [{ name: "writes", state: "ok", message: "no app is handed the workspace" }];
}

function waysIn(app: AppPlan, { root, topologyFile, apps }: Plan): string[] {
  const workspace = [root, path.dirname(topologyFile)];
  const manifests = [...apps.values()].map((other) => path.dirname(path.resolve(root, other.source)));
  // Links are followed on both sides: a folder is what it leads to.
  const covers = (folder: string, targets = [...workspace, ...manifests]): boolean =>
    targets.some((target) => isUnder(realPath(target) ?? target, realPath(folder) ?? folder));
  const ways: string[] = [];
  for (const folder of app.grants.roots ?? []) if (covers(rootFolder(folder))) ways.push(`root ${folder}`);
  if (app.connect.transport === "http") return ways;
  const { args, cwd } = app.connect;
  for (const arg of args) {
    const value = /^--?[^=]+=(.+)$/.exec(arg)?.[1];
    const named = value ?? arg;
    const looksLikePath = value !== undefined || /^[./~]|[\\/]/.test(named);
    if (looksLikePath && !named.includes("://") && covers(path.resolve(cwd, named))) ways.push(`argument ${arg}`);
  }
  // The workspace is every app's default working directory, so it only counts against apps that are not wholly trusted.
  if (app.trust !== "high" && covers(cwd, workspace)) ways.push("cwd");
  return ways;
}

async function nearestFolder(folder: string): Promise<string | null> {
  for (let at = folder; ; at = path.dirname(at)) {
    const info = await stat(at).catch(() => null);
    if (info !== null) return info.isDirectory() ? at : null;
    if (at === path.dirname(at)) return null;
  }
}

async function may(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
