import { access, appendFile, readFile } from "node:fs/promises";
import path from "node:path";
import { isLoopback } from "../../control/host-guard.ts";
import { askLine, askYesNo } from "../ask.ts";
import { CliError } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import type { Context, GlobalOptions } from "../context.ts";
import { exampleFiles, writeNewFiles } from "../package-files.ts";
import { scaffoldApp } from "../scaffold-app.ts";

interface InitFlags {
  readonly name?: string;
  readonly listen?: string;
  readonly app?: string | false;
  readonly yes?: boolean;
}

const DEFAULT_LISTEN = "127.0.0.1:7800";

/** `init`: a commented, working start in a folder. */
export const initCommand = defineCommand<InitFlags>({
  usage: "init [folder]",
  summary: "Write a commented, working workspace: topology, a policy, a signal mapping, a first app.",
  details: "Asks at a terminal for what no flag says. Never replaces a file.",
  examples: ["aurora-mcp init", "aurora-mcp init my-host --yes --app hello", "aurora-mcp init --yes --no-app --listen 127.0.0.1:0"],
  options: (command) =>
    command
      .option("--name <name>", "name of the host")
      .option("--listen <address:port>", "loopback address of the HTTP door; port 0 is any free one")
      .option("--app <name>", "also scaffold a first app of this name")
      .option("--no-app", "no first app")
      .option("--yes", "ask nothing"),
  run: async (context, options, [folder]) => {
    const root = path.resolve(context.cwd, folder ?? ".");
    const file = path.join(root, "topology", "topology.yaml");
    if (await exists(file)) throw new CliError(`${file} is there already; edit it, or run init in another folder`);
    const answers = await complete(context, options, path.basename(root));
    const [, host = "", port = ""] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$/.exec(answers.listen) ?? [];
    if (port === "" || Number(port) > 65_535) throw new CliError(`"${answers.listen}" is not an address with a port, such as ${DEFAULT_LISTEN}`);
    if (!isLoopback(host))
      throw new CliError(
        `${answers.listen} is open to other machines, and a host starts there only with TLS: run init with a loopback address, such as ${DEFAULT_LISTEN}, ` +
          `and then write gateway.listen and gateway.tls (cert and key) into topology.yaml; behind a proxy that does TLS, gateway.allow_insecure_listen: true`,
      );
    if (answers.name.length > 100) throw new CliError("the name of the host is too long: 100 characters at most");
    const files = await exampleFiles("workspace", root, (text) =>
      text.replace("name: my-host", () => `name: ${JSON.stringify(answers.name)}`).replace(`"${DEFAULT_LISTEN}"`, () => JSON.stringify(answers.listen)),
    );
    if (answers.app !== null) files.push(...(await scaffoldApp(root, answers.app, undefined)).files);
    const written = await writeNewFiles(files);
    await ignoreData(root, written);
    if (options.json) return context.json({ root, files: written });
    for (const name of written) context.out(`wrote ${path.relative(context.cwd, name)}`);
    const folderFirst = root === context.cwd ? "" : `  cd ${path.relative(context.cwd, root)} &&`;
    const appFirst = answers.app === null ? "  aurora-mcp apps new hello  (or: aurora-mcp import FILE), then" : "";
    context.note(`\nnext:${folderFirst}${appFirst}  aurora-mcp validate && aurora-mcp up`);
  },
});

async function complete(context: Context, options: InitFlags & GlobalOptions, folder: string): Promise<{ name: string; listen: string; app: string | null }> {
  const ask = context.interactive && options.yes !== true && options.json !== true;
  const line = async (given: string | undefined, question: string, fallback: string): Promise<string> =>
    given ?? ((ask ? (await askLine(context, `${question} [${fallback}] `))?.trim() : "") || fallback);
  const name = await line(options.name, "Name of the host?", folder);
  const listen = await line(options.listen, "Address of the HTTP door?", DEFAULT_LISTEN);
  // Commander gives true when neither --app nor --no-app was written.
  if (typeof options.app === "string") return { name, listen, app: options.app };
  const wanted = options.app !== false && ask && (await askYesNo(context, "Scaffold a first app, hello?"));
  if (context.signal.aborted) throw new CliError("nothing was written", 130);
  return { name, listen, app: wanted ? "hello" : null };
}

/** Keeps run-time state out of git; an existing .gitignore only gets the line it lacks. */
async function ignoreData(root: string, written: string[]): Promise<void> {
  const file = path.join(root, ".gitignore");
  const before = await readFile(file, "utf8").catch(() => "");
  if (/^\/?data\/?$/m.test(before)) return;
  await appendFile(file, `${before === "" || before.endsWith("\n") ? "" : "\n"}/data/\n`);
  written.push(file);
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
