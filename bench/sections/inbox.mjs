import { mkdirSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../dist/base/clock.js";
import { openFileInbox } from "../../dist/files/inbox.js";
import { inTurns, paired, throughput, timed } from "../support/measure.mjs";
import { row } from "../support/table.mjs";
import { tempFolder } from "../support/temp.mjs";

export const title = "events a second in the file inbox, 64 at a time, against a plain loop of write, fsync and rename";

const AT_ONCE = 64;

/** The loop is one writer that waits for each event, as a script would; it is the floor of both settings. */
export async function run({ short }) {
  const count = short ? 1000 : 4000;
  const rates = await inTurns(
    short ? 3 : 7,
    new Map([
      ["loop", () => plainLoop(count / 4)],
      ["safe", () => inboxRate(true, count)],
      ["quick", () => inboxRate(false, count * 2)],
    ]),
  );
  return [
    row({ what: "fsync on", ...paired(rates.get("loop"), rates.get("safe")), target: { min: 1.5 } }),
    row({ what: "fsync off", ...paired(rates.get("loop"), rates.get("quick")), target: { min: 5 } }),
    row({ what: "longest wait of one app's event while another floods", unit: "ms", ours: await flood(short ? 2000 : 6000), target: { max: 1000 } }),
  ];
}

function newInbox(fsync) {
  const dir = path.join(tempFolder(), "pending");
  return openFileInbox({ dir, format: "amp", fsync, maxPending: 1_000_000, clock: systemClock });
}

async function inboxRate(fsync, count) {
  const inbox = await newInbox(fsync);
  const rate = await throughput(count, AT_ONCE, (i) => inbox.put(event(i, "org.example.chat"), "normal"));
  await inbox.close();
  return rate;
}

async function plainLoop(count) {
  const dir = path.join(tempFolder(), "pending");
  mkdirSync(dir);
  const { ms } = await timed(async () => {
    for (let i = 0; i < count; i += 1) {
      const file = path.join(dir, `event_${i}`);
      const handle = await open(`${file}.tmp`, "wx");
      await handle.writeFile(`${JSON.stringify(event(i, "org.example.chat"))}\n`);
      await handle.sync();
      await handle.close();
      await rename(`${file}.tmp`, `${file}.json`);
    }
  });
  return (count / ms) * 1000;
}

/** One app keeps hundreds of events waiting; how long the other's, one now and then, take at most. */
async function flood(ms) {
  const inbox = await newInbox(true);
  const end = performance.now() + ms;
  let sent = 0;
  const flooding = Promise.all(
    Array.from({ length: 1000 }, async () => {
      while (performance.now() < end) await inbox.put(event((sent += 1), "org.example.flood"), "normal");
    }),
  );
  let longest = 0;
  while (performance.now() < end) {
    const one = await timed(() => inbox.put(event((sent += 1), "org.example.quiet"), "normal"));
    longest = Math.max(longest, one.ms);
    await sleep(20);
  }
  await flooding;
  await inbox.close();
  return longest;
}

let number = 0;

function event(i, app) {
  number += 1;
  const id = `0190aaaa-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
  return {
    header: {
      protocol: "amp/1.0",
      method: "aurora/event",
      message_id: id,
      timestamp: `2026-01-01T00:00:00.${String(number % 1_000_000).padStart(6, "0")}+00:00`,
      source: { app, instance: app },
    },
    payload: {
      type: "message.received",
      session_id: `group:${i % 10}`,
      summary: `message ${i} of somebody`,
      data: { text: `hello number ${i}`, sender: { id: 123456, name: "somebody" } },
    },
  };
}
