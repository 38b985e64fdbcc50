// Puts events into an inbox as fast as it can and tells on stdout, one id a line, which puts have resolved. Meant to be killed.
// Arguments: the built dist folder, the inbox folder, a prefix for keys, how many events (0: until killed), bytes of data.
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [dist, dir, prefix, count, bytes] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.join(dist, file)).href);
const { openFileInbox } = await load("files/inbox.js");
const { createSealer } = await load("amp/envelope.js");

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const inbox = await openFileInbox({ dir, format: "amp", fsync: prefix !== "fast", maxPending: 1_000_000, clock });
const sealer = createSealer({ clock, random: randomBytes, offset: () => 0, mask: (v) => v, maxDataBytes: () => 64 * 1024 * 1024, last: inbox.lastTimestamp });
const total = Number(count) || Infinity;
const data = { text: "x".repeat(Number(bytes)) };
let sent = 0;

async function sendAll() {
  while (sent < total) {
    sent += 1;
    // Every fourth event is a fact that is sent again by the next run.
    const key = sent % 4 === 0 ? { idempotency_key: `fact-${sent}` } : {};
    const envelope = sealer.seal(
      { type: `type.${sent % 3}`, method: "aurora/event", priority: "normal", rule: "r", data, ...key },
      { app: `app.${sent % 5}`, instance: prefix },
    );
    const result = await inbox.put(envelope, sent % 2 ? "normal" : "high");
    if (result === "written") writeSync(1, `${envelope.header.message_id}\n`);
  }
}

await Promise.all(Array.from({ length: 64 }, sendAll));
await inbox.close();
