import { messageOf } from "../base/errors.ts";
import { watchWorkspace, type WatchedSet } from "../files/watch.ts";
import type { Plan } from "../plan/types.ts";
import type { Logger } from "../runtime/ports.ts";
import { missesFiles, type PlanReading } from "./plan-source.ts";

/** Watches what the configuration is made of and asks for a reload when its content changes. */
export interface WorkspaceFollower {
  /** After each reload: what to watch from now on. */
  update(reading: PlanReading): void;
  /** Says that the kit itself is about to write a file. */
  ignoreOwnWrite(file: string, text: string): void;
  close(): Promise<void>;
}

/** What a change of the files leads to. */
export interface FollowHooks {
  readonly reload: () => Promise<unknown>;
  /** A file came, changed or went that is none of the configuration, but may be meant to be. */
  readonly beside: () => Promise<unknown>;
  /** Nothing is taken over, because `reload` is off. */
  readonly held: () => void;
}

/** Starts to follow. With `reload: off` the files are watched all the same, so that the setting can be changed back by command. */
export function followWorkspace(plan: Plan, reading: PlanReading, on: FollowHooks, log: Logger): WorkspaceFollower {
  let mode = plan.reload;
  const set = (from: PlanReading): WatchedSet => ({ files: [...from.made.files, plan.lockFile], patterns: from.made.patterns });
  const watch = watchWorkspace({
    set: set(reading),
    loaded: reading.contents,
    again: missesFiles(reading) && mode !== "off",
    mode: plan.watch,
    onChange: () => {
      if (mode === "off") {
        log.info({}, "the configuration changed; reload is off, so run `aurora-mcp reload` to take it over");
        return on.held();
      }
      on.reload().catch((error: unknown) => log.error({ error: messageOf(error) }, "reload failed"));
    },
    onBeside: () => void on.beside().catch((error: unknown) => log.error({ error: messageOf(error) }, "the configuration could not be looked through")),
    onProblem: (message) => log.warn({}, message),
  });
  return {
    update(next) {
      if (next.unitOk && next.plan) mode = next.plan.reload;
      void watch.update(set(next), next.contents, missesFiles(next) && mode !== "off");
    },
    ignoreOwnWrite: (file, text) => watch.ignoreOwnWrite(file, text),
    async close() {
      watch.close();
    },
  };
}
