import path from "node:path";
import type { AmpEnvelope } from "../amp/types.ts";
import { isObject, own } from "../base/json.ts";
import { contentDigest, type IdLedger, type LedgerEntry } from "./id-ledger.ts";
import { listEvents } from "./inbox-folder.ts";
import { inboxFolders, parseEventFileName } from "./inbox-names.ts";
import { MAX_EVENT_BYTES, readEvent } from "./read-event.ts";

/** Records events that a crash kept out of the ledger although their files are there, waiting or claimed. */
export async function adoptUnrecorded(ledger: IdLedger, dir: string): Promise<void> {
  const { pending, processing } = inboxFolders(dir);
  const entries: LedgerEntry[] = [];
  for (const folder of [pending, processing]) {
    for (const name of await listEvents(folder)) {
      const id = parseEventFileName(name)?.id;
      if (id === undefined || ledger.check(id, "") !== "new") continue;
      const reading = await readEvent(path.join(folder, name), MAX_EVENT_BYTES, 1).catch(() => null);
      if (!reading?.ok) continue;
      const isEnvelope = isObject(own(reading.event, "header"));
      const at = isEnvelope ? own(own(reading.event, "header"), "timestamp") : own(reading.event, "created_at");
      if (typeof at === "string") entries.push({ id, digest: isEnvelope ? digestOf(reading.event as unknown as AmpEnvelope) : "", at });
    }
  }
  await ledger.add(entries, false);
}

/** What makes two envelopes the same fact; time, expiry and the words of the summary do not. */
export function digestOf({ header, payload }: AmpEnvelope): string {
  return contentDigest([header.method, header.source, payload.type, payload.session_id ?? null, payload.data ?? null]);
}
