import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { AmpEnvelope } from "../../../src/amp/types.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { openFileInbox, type FileInbox, type FileInboxOptions } from "../../../src/files/inbox.ts";
import { sealer } from "../../amp/support.ts";

/** A folder of the test's own, removed after it. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "aurora-files-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** An inbox that is closed after the test. Problems are collected. */
export async function testInbox(dir: string, options: Partial<FileInboxOptions> = {}): Promise<FileInbox & { readonly problems: string[] }> {
  const problems: string[] = [];
  const inbox = await openFileInbox({
    dir,
    format: "amp",
    fsync: false,
    maxPending: 50_000,
    clock: systemClock,
    onProblem: (m) => problems.push(m),
    ...options,
  });
  onTestFinished(() => inbox.close());
  return Object.assign(inbox, { problems });
}

const seal = sealer({ clock: systemClock });

/** An envelope; equal keys give equal ids. */
export function envelope(partial: { type?: string; app?: string; key?: string; data?: object; expiresInMs?: number } = {}): AmpEnvelope {
  return seal.seal(
    {
      type: partial.type ?? "test.event",
      method: "aurora/event",
      priority: "normal",
      rule: "r",
      ...(partial.key === undefined ? {} : { idempotency_key: partial.key }),
      ...(partial.data === undefined ? {} : { data: partial.data as never }),
      ...(partial.expiresInMs === undefined ? {} : { expiresInMs: partial.expiresInMs }),
    },
    { app: partial.app ?? "org.example.app", instance: null },
  );
}

/** Event files of a folder, by name. */
export async function eventFiles(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((n) => n.endsWith(".json") && !n.startsWith(".")).sort();
}

/** Everything else that lies in a folder but the ledger. */
export async function leftovers(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((n) => !n.endsWith(".json") && n !== ".ledger.jsonl" && !["processing", "done", "dead"].includes(n));
}

export async function readJson(file: string): Promise<AmpEnvelope> {
  return JSON.parse(await readFile(file, "utf8")) as AmpEnvelope;
}

/** Waits until a condition holds, up to some seconds. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 10): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error("the condition did not come true");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
