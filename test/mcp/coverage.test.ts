import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Faults that hosts are known for in public, and the tests that show what ours does; the part of a title names a test of that file. */
const FAULTS: Readonly<Record<string, readonly [file: string, title: string][]>> = {
  "a wrapper dies, the server behind it lives on": [
    ["mcp/process-end", "ends the server behind a wrapper too"],
    ["mcp/process-end", "are not confused with another process that has the pid now"],
    ["cli/shutdown", "leaves servers that the next one ends before it starts its own"],
    ["cli/shutdown", "kills all groups and exits 1 after an uncaught error"],
  ],
  "exit before initialize": [["mcp/process-start", "is reported with exit code, time, masked command line and stderr"]],
  "program not found": [["mcp/process-start", "names the command, the PATH that was searched and the way out, and is not retried"]],
  "the parent's environment leaks": [["mcp/process-start", "holds safe basics, inherit_env and env, and nothing else"]],
  "~ in arguments": [["config/messages", "is refused with a hint, never taken as it stands"]],
  "relative command": [["mcp/process-start", "takes a relative command from cwd, whatever the host's own folder is"]],
  "quoting on Windows": [["mcp/readers", "becomes one verbatim line with an outer pair of quotes"]],
  "crash loop": [
    ["runtime/supervisor", "is tried a few times fast, then parked and probed slowly, for ever, and comes back by itself"],
    ["runtime/supervisor", "spends its attempts although each start succeeds, and is parked"],
    ["runtime/supervisor", "counts from nothing again after it was healthy for a while, and not before"],
    ["kit/servers", "is woken by a call although nothing was ever seen of it, and serves that call"],
  ],
  "back-off without a cap": [["runtime/supervisor", "with many attempts allowed never waits longer than the cap, and says when it tries again"]],
  "several ways to a restart": [
    ["runtime/supervisor", "do not run before an app is ready: a slow start is left alone"],
    ["runtime/supervisor", "that nothing answers restart the app through the same back-off"],
  ],
  "text on stdout": [["mcp/process-wire", "skips lines of a pretty-printed object one by one"]],
  "Content-Length framing": [["mcp/process-wire", "detects Content-Length framing within the start"]],
  "split multibyte characters": [["mcp/process-wire", "keeps multibyte text that is flushed byte by byte"]],
  "invalid UTF-8": [["mcp/process-wire", "replaces invalid UTF-8, says so, and goes on"]],
  "stderr that nobody reads": [
    ["mcp/process-wire", "is drained during a call"],
    ["mcp/process-wire", "takes carriage returns for line breaks and stays bounded"],
  ],
  "slow initialize": [
    ["runtime/supervisor", "a mute server delays nobody"],
    ["kit/servers", "does not hold up the others: the quick one is usable at once"],
    ["mcp/process-start", "waits for a slow server"],
    ["mcp/process-start", "is honoured as written, names the setting, and leaves no process"],
  ],
  "restart storm": [["runtime/supervisor", "12 servers that need 3 s of a processor each"]],
  "protocol revisions": [
    ["mcp/process-start", "fails with both revisions for an unknown one and is not retried"],
    ["mcp/process-start", "does not ask a third time"],
    ["mcp/process-start", "remembers the answer for the next start"],
    ["mcp/listing", "may be refused without harm to the rest"],
    ["mcp/http", "with a list of versions in a 400 is tried once more with one of them"],
  ],
  "lists that are not declared": [
    ["mcp/listing", "is only what the server declares"],
    ["mcp/listing", "is tools once, when it declares nothing"],
    ["mcp/process-start", "may have malformed capabilities"],
  ],
  "no answer to ping": [
    ["runtime/supervisor", "that are answered, whatever the answer, never restart: 10 ticks, 0 restarts"],
    ["mcp/calls", "says no when nothing comes at all, in time"],
  ],
  "a session that the server forgot": [["mcp/http", "that the server forgets every time is not opened in a loop"]],
  "a wrong URL asked for ever": [
    ["mcp/http", "with HTTP %i on initialize is a fault of the configuration, asked once"],
    ["runtime/supervisor", "because of its configuration is asked once and never again by itself"],
    ["kit/servers", "for a wrong address is asked once, and 50 calls get the same clear answer"],
  ],
  "GET answered with 400": [["mcp/http", "that is refused with %i is asked for once and harms nothing"]],
  "token renewals at the same time": [
    ["mcp/oauth", "runs once for five calls that were refused together"],
    ["kit/oauth", "renews its token once for five calls at the same time"],
    ["kit/oauth", "is signed in for every process that shares the data folder"],
  ],
  "a server that takes no initialized": [["mcp/http", "although notifications/initialized is %s"]],
  "streams opened in a hot loop": [
    ["mcp/http", "that the server closes at once, again and again, is not opened in a hot loop"],
    ["mcp/http", "is not asked for the rest in a hot loop"],
  ],
  "an answer that is no JSON": [
    ["mcp/process-wire", "ends the call at once where its answer cannot be read: %s"],
    ["mcp/http", "ends at once where the event that answers it cannot be read"],
  ],
  "a connection of one session that hangs or dies": [
    ["kit/session-connections", "that hangs is noticed when a call times out"],
    ["kit/session-connections", "that dies fails its calls at once with an unknown outcome"],
  ],
  "lists that never end": [["kit/servers", "has one start_timeout for all their pages"]],
  "a stream that breaks off twice": [["mcp/http", "is resumed with Last-Event-ID, carried over a stream that brought nothing"]],
  "5xx of one call": [["mcp/http", "that gets HTTP 500 fails alone"]],
  "a server away for minutes": [
    ["runtime/supervisor", "keeps its tools in prompts while it is down for a moment, has them marked once it is parked, and back with one change"],
  ],
  redirects: [
    ["mcp/http", "within the origin keeps method, body and headers, and is remembered and suggested"],
    ["mcp/http", "to another origin is refused, and nothing reaches it"],
  ],
  "a gateway's HTML page": [["mcp/http", "that gets a gateway's HTML page tells status, host, time and a few words"]],
  "a certificate authority of one's own": [["mcp/http", "fails clearly for an unknown authority, works with tls.ca"]],
  "cursors without end": [
    ["mcp/listing", "ends with ever new cursors that bring nothing new"],
    ["mcp/listing", "over a real wire ends for a cursor that is ignored"],
    ["mcp/listing", "stops at the page cap and at the item cap, and names the limit"],
  ],
  "lists in another order each time": [["kit/servers", "is the same whatever order servers list in"]],
  "list_changed storms": [
    ["kit/servers", "reads the lists at most once more after 200 list_changed from inside one call"],
    ["runtime/supervisor", "always honours the last change of a burst"],
    ["runtime/supervisor", "after every reading although nothing changed is heard ever more rarely"],
  ],
  "one tool twice": [["mcp/listing", "is a conflict when different, with both positions"]],
  "names that run together": [
    ["kit/servers", "tells apart apps and tools whose names run together, by look-up alone"],
    ["tools/short-names", "legal, one to one, whatever the order"],
    ["tools/short-names", "names without a readable character carry a hash of their own"],
  ],
  "tools that providers refuse": [
    ["mcp/listing", "names outside A-Z a-z 0-9 _ . - are dropped with the reason"],
    ["kit/servers", "shows what was left out, with reasons, in status and explain"],
  ],
  "too many tools": [["kit/servers", "of 5,000 tools is exported up to the limit, says what was left out, and keeps a small server whole"]],
  "a tool that changes after it was accepted": [
    ["kit/trust", "quarantines a tool that changed since it was first seen"],
    ["tools/pins", "differs by code points that look the same, and not by the order of keys"],
  ],
  "hidden text": [["tools/text-lint", "messages show what was hidden"]],
  "progress and hard limits": [
    ["mcp/calls", "are moved by progress, for which a token always goes along"],
    ["mcp/calls", "hold a hard limit however much progress arrives, and cancel once"],
  ],
  "cancellation that is not sent": [
    ["mcp/calls", "cancel with the id and a reason; the call is not sent again"],
    ["mcp/process-start", "never sends a cancellation for initialize"],
  ],
  "calls sent again after a timeout": [["kit/calls", "tells an unknown outcome after a time-out and never sends again"]],
  "late answers": [["mcp/calls", "cancel with the id and a reason; the call is not sent again"]],
  "ids as text, and wrong ids": [
    ["mcp/calls", "may have the id as text, in any order"],
    ["mcp/calls", "with a wrong id are named as the likely cause of the timeout"],
  ],
  "odd results": [
    ["kit/servers", "odd results cost no more than themselves"],
    ["kit/calls", "checks results against outputSchema: strict refuses, lenient drops the structured part and says so"],
  ],
  "huge results": [
    ["kit/tool-calls", "cuts a long result with a marker, keeps the whole, and says where in message and receipt"],
    ["mcp/process-wire", "reads 25 MiB on one line in linear time"],
  ],
  images: [["kit/tool-calls", "gives OpenAI Chat images in one user message after the tool messages, never as text"]],
  "slow stops one after another": [
    ["cli/shutdown", "stops six servers that ignore EOF and TERM side by side on one SIGINT"],
    ["kit/servers", "ends 20 apps that ignore everything side by side, within the time of one"],
  ],
  "hang-up": [
    ["cli/shutdown", "by a closed terminal stops everything"],
    ["cli/shutdown", "without a terminal reloads"],
  ],
  "a stop that waits for stdin": [["cli/shutdown", "begins with closing stdin: a server that ends only at EOF ends by itself"]],
  "idle clients at a stop": [["cli/shutdown", "does not wait for an idle event stream"]],
  "one bad app": [["cli/shutdown", "keeps the healthy apps when one cannot start, and ends with 0 on TERM"]],
  "whole numbers that lose digits": [["kit/exact-digits", "go from a model's call through %s into its tool message, digit for digit"]],
  "everything at once": [["slow/chaos", "apps are killed, hang, flood and talk garbage under load"]],
};

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

test.each(Object.entries(FAULTS))("%s has its tests", async (_fault, tests) => {
  for (const [file, title] of tests) expect(await readFile(path.join(ROOT, `${file}.test.ts`), "utf8"), `${file}: ${title}`).toContain(title);
});
