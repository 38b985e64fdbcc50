import { InvalidArgumentError } from "commander";
import type { AmpEnvelope } from "../../amp/types.ts";
import { parseDuration } from "../../base/durations.ts";
import { escapeInvisible } from "../../base/text.ts";
import { eventFilter, tailInbox, type EventFilter } from "../../files/tail-inbox.ts";
import { readCount } from "../arguments.ts";
import { CliError } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Context } from "../context.ts";
import { openRunnable } from "../open-workspace.ts";

interface EventFlags {
  readonly type?: string;
  readonly app?: string;
  readonly session?: string;
  readonly count?: number;
  readonly files?: boolean;
  readonly follow?: boolean;
  readonly since?: number;
}

/** `events tail`: events as they go to the inbox, or as they lie there. */
export const eventsTailCommand = defineCommand<EventFlags>({
  usage: "events tail",
  summary: "Watch events on their way to the inbox, from now on; Ctrl-C ends it.",
  details: "With --files it shows what lies in the inbox folders instead, oldest first, and needs no running host; --follow goes on with new files.",
  examples: ["aurora-mcp events tail", "aurora-mcp events tail --type 'timer.*' --json", "aurora-mcp events tail --files --since 1h"],
  options: (command) =>
    command
      .option("--type <glob>", "only events of these types")
      .option("--app <glob>", "only events of these apps")
      .option("--session <id>", "only events of this session")
      .option("--count <number>", "end after so many events", (value) => readCount(value, "--count"))
      .option("--files", "what lies in the inbox, done and dead folders")
      .option("--follow", "with --files: go on with new ones")
      .option("--since <duration>", "with --files: only events of the last 10m, 2h …", (value) => {
        const ms = parseDuration(value);
        if (ms === undefined) throw new InvalidArgumentError("Write a duration such as 10m or 2h.");
        return ms;
      }),
  run: async (context, options) => {
    const filter: EventFilter = { app: options.app, type: options.type, session: options.session, sinceMs: options.since === undefined ? undefined : Date.now() - options.since };
    const enough = new AbortController();
    const show = printer(context, options.json === true, options.count, () => enough.abort());
    const signal = AbortSignal.any([context.signal, enough.signal]);
    if (options.files) {
      const { plan } = await openRunnable(context, options);
      if (plan.inbox.sink === "off") throw new CliError("inbox.sink is off in topology.yaml, so there are no event files");
      return tailInbox(plan.inbox.dir, { filter, follow: options.follow === true, signal, onEnvelope: show });
    }
    const wanted = eventFilter(filter);
    return withHost(context, options, "attach", (host) =>
      host.events(
        ({ event, data }) => {
          const envelope = data as unknown as AmpEnvelope;
          if (event === "envelope" && wanted(envelope)) show(envelope);
        },
        { signal, onGap: (why) => context.note(`${context.noteStyle("yellow", "gap")}: ${why}; events may be missing here (--files has them all)`) },
      ),
    );
  },
});

function printer(context: Context, json: boolean, count: number | undefined, onEnough: () => void): (envelope: AmpEnvelope) => void {
  let left = count ?? Infinity;
  return (envelope) => {
    if (left <= 0) return;
    const { header, payload } = envelope;
    // One envelope a line, on a terminal too: that is what scripts read.
    context.out(json ? JSON.stringify(envelope) : escapeInvisible([header.timestamp, header.source.app, payload.type, payload.summary ?? ""].join("  ").trimEnd()));
    left -= 1;
    if (left <= 0) onEnough();
  };
}
