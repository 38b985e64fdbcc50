import { escapeInvisible } from "../../base/text.ts";
import { compileGlob } from "../../base/glob.ts";
import type { KitEvents } from "../../kit-api.ts";
import { defineCommand } from "../command.ts";
import { withHost } from "../connect.ts";

type Envelope = Parameters<KitEvents["envelope"]>[0];

/** `events tail`: events as they go to the inbox. */
export const eventsTailCommand = defineCommand<{ type?: string; app?: string; count?: string }>({
  usage: "events tail",
  summary: "Watch events on their way to the inbox, from now on; Ctrl-C ends it.",
  examples: ["aurora-mcp events tail", "aurora-mcp events tail --type 'timer.*' --json", "aurora-mcp events tail --count 1"],
  options: (command) =>
    command.option("--type <glob>", "only events of these types").option("--app <glob>", "only events of these apps").option("--count <number>", "end after so many events"),
  run: (context, options) =>
    withHost(context, options, "attach", async (host) => {
      const type = compileGlob(options.type ?? "*");
      const app = compileGlob(options.app ?? "*");
      const enough = new AbortController();
      let left = options.count === undefined ? Infinity : Number(options.count);
      const onEnvelope = (envelope: Envelope): void => {
        if (left <= 0 || !type.matches(envelope.payload.type) || !app.matches(envelope.header.source.app)) return;
        // One envelope a line, on a terminal too: that is what scripts read.
        if (options.json) context.out(JSON.stringify(envelope));
        else context.out(escapeInvisible(`${envelope.header.timestamp}  ${envelope.header.source.app}  ${envelope.payload.type}  ${envelope.payload.summary ?? ""}`.trimEnd()));
        left -= 1;
        if (left <= 0) enough.abort();
      };
      await host.events(({ event, data }) => event === "envelope" && onEnvelope(data as unknown as Envelope), {
        signal: AbortSignal.any([context.signal, enough.signal]),
        onGap: (why) => context.note(`${context.noteStyle("yellow", "gap")}: ${why}; events may be missing here`),
      });
    }),
});
