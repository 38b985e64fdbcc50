import { InvalidArgumentError, Option, type Command } from "commander";
import { formatTimestamp } from "../../amp/timestamp.ts";
import { parseDuration } from "../../base/durations.ts";
import type { JsonObject } from "../../base/json.ts";
import { escapeInvisible, count } from "../../base/text.ts";
import { uuidV7Source } from "../../base/uuid.ts";
import { eventFacts } from "../../files/event-facts.ts";
import { replayEvents } from "../../files/replay-events.ts";
import { eventFilter, tailInbox, type EventFilter } from "../../files/tail-inbox.ts";
import { wholeNumber } from "../arguments.ts";
import { CliError } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";
import type { Context, GlobalOptions } from "../context.ts";
import { openRunnable } from "../open-workspace.ts";

interface FilterFlags {
  readonly type?: string;
  readonly app?: string;
  readonly session?: string;
  readonly since?: number;
}

interface TailFlags extends FilterFlags {
  readonly count?: number;
  readonly files?: boolean;
  readonly follow?: boolean;
}

interface ReplayFlags extends FilterFlags {
  readonly from: "dead" | "done";
}

const tail = defineCommand<TailFlags>({
  usage: "events tail",
  summary: "Watch events on their way to the inbox, from now on; Ctrl-C ends it.",
  details: "With --files it shows what lies in the inbox folders instead, oldest first, and needs no running host; --follow goes on with new files.",
  examples: ["aurora-mcp events tail", "aurora-mcp events tail --type 'timer.*' --json", "aurora-mcp events tail --files --since 1h"],
  options: (command) =>
    withFilter(command)
      .option("--count <number>", "end after so many events", wholeNumber())
      .option("--files", "what lies in the inbox, done and dead folders")
      .option("--follow", "with --files: go on with new ones"),
  run: async (context, options) => {
    const filter = filterOf(options);
    const enough = new AbortController();
    const show = printer(context, options.json === true, options.count, () => enough.abort());
    const signal = AbortSignal.any([context.signal, enough.signal]);
    if (options.files) {
      return tailInbox(await inboxDir(context, options), { filter, follow: options.follow === true, signal, onEvent: show });
    }
    if (options.since !== undefined) throw new CliError("without --files events are shown from now on; --since looks back, so write --files too");
    const wanted = eventFilter(filter);
    return withHost(context, options, "attach", (host) =>
      host.events(
        ({ event, data }) => {
          const envelope = data as JsonObject;
          if (event === "envelope" && wanted(eventFacts(envelope))) show(envelope);
        },
        { signal, onGap: (why) => context.note(`${context.noteStyle("yellow", "gap")}: ${why}; events may be missing here (--files has them all)`) },
      ),
    );
  },
});

const replay = defineCommand<ReplayFlags>({
  usage: "events replay",
  summary: "Put events of the dead or done folder back into the inbox.",
  details:
    "From dead the file itself goes back. From done a copy with a new id and time goes, for readers drop an id that they have handled. Narrow it with the filters.",
  examples: ["aurora-mcp events replay --from dead", "aurora-mcp events replay --from done --type 'message.*' --since 1h"],
  options: (command) => withFilter(command).addOption(new Option("--from <folder>", "where from").choices(["dead", "done"]).makeOptionMandatory()),
  run: async (context, options) => {
    const dir = await inboxDir(context, options);
    const nextId = uuidV7Source(() => Date.now());
    const renew = (): { id: string; timestamp: string } => {
      const now = Date.now();
      return { id: nextId(), timestamp: formatTimestamp(now * 1000, -new Date(now).getTimezoneOffset()) };
    };
    const put: JsonObject[] = [];
    await replayEvents(dir, { from: options.from, filter: filterOf(options), renew, onEvent: (event) => void put.push(event) });
    if (options.json) context.json(put);
    else context.out(put.length === 0 ? `no event in ${options.from} fits` : `${count(put.length, "event")} back in ${dir}`);
  },
});

function withFilter(command: Command): Command {
  return command
    .option("--type <glob>", "only events of these types")
    .option("--app <glob>", "only events of these apps")
    .option("--session <id>", "only events of this session")
    .option("--since <duration>", "only events of the last 10m, 2h …", (value) => {
      const ms = parseDuration(value);
      if (ms === undefined) throw new InvalidArgumentError("Write a duration such as 10m or 2h.");
      return ms;
    });
}

function filterOf({ app, type, session, since }: FilterFlags): EventFilter {
  return { app, type, session, sinceMs: since === undefined ? undefined : Date.now() - since };
}

async function inboxDir(context: Context, options: GlobalOptions): Promise<string> {
  const { plan } = await openRunnable(context, options);
  if (plan.inbox.sink === "off") throw new CliError("inbox.sink is off in topology.yaml, so there are no event files");
  return plan.inbox.dir;
}

function printer(context: Context, json: boolean, most: number | undefined, onEnough: () => void): (event: JsonObject) => void {
  let left = most ?? Infinity;
  return (event) => {
    if (left <= 0) return;
    const { at, app, type, summary } = eventFacts(event);
    // One event a line, on a terminal too: that is what scripts read.
    context.out(json ? JSON.stringify(event) : escapeInvisible([at, app, type, summary].join("  ").trimEnd()));
    left -= 1;
    if (left <= 0) onEnough();
  };
}

/** `events tail` and `events replay`. */
export const eventsCommands = [tail, replay];
