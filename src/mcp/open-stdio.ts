import { dirname } from "node:path";
import type { AppPlan, StdioSpec } from "../plan/types.ts";
import type { ConnectionHooks } from "../runtime/ports.ts";
import { childEnvironment } from "./child-environment.ts";
import type { HostEnv } from "./child-environment.ts";
import type { Children } from "./children.ts";
import type { OpenedWire } from "./wire.ts";
import { misplacedFileHints } from "./start-faults.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** Prepares a child process for a stdio app; nothing is spawned yet. Hooks get masked lines. */
export function openStdio(
  plan: AppPlan,
  spec: StdioSpec,
  hooks: ConnectionHooks,
  host: { readonly hostEnv: HostEnv; readonly mask: (text: string) => string },
  children: Children,
): OpenedWire {
  const env = childEnvironment(host.hostEnv, spec.inheritEnv, spec.env);
  let lastNote = "";
  const wire = new StdioTransport({
    command: spec.command,
    args: spec.args,
    cwd: spec.cwd,
    env,
    lineBytes: spec.lineBytes,
    children,
    onStderr: (line) => hooks.onLog?.(line, "stderr"),
    onNote: (note) => {
      lastNote = note;
      hooks.onLog?.(`the server ${note}`, "kit");
    },
  });
  const explain = (): string => {
    const hints = misplacedFileHints({ command: spec.command, args: spec.args, cwd: spec.cwd, path: env["PATH"] }, [process.cwd(), dirname(plan.source)]);
    // Programs that were called the wrong way say so on stdout as often as on stderr.
    const said = lastNote === "" || wire.stderrTail.length > 0 ? [] : [`it ${lastNote}`];
    return [`command: ${[spec.command, ...spec.args].map(shown).join(" ")}`, ...hints, ...said].map(host.mask).join("; ");
  };
  return { wire, transport: "stdio", pid: () => wire.pid, stderrTail: () => wire.stderrTail.map(host.mask), explain, sessions: null };
}

/** A word of a command line as a person would type it. */
function shown(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word);
}
