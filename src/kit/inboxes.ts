import { randomBytes } from "node:crypto";
import path from "node:path";
import { createSealer, type Sealer } from "../amp/envelope.ts";
import type { MappedEvent } from "../amp/map-signal.ts";
import type { Clock } from "../base/clock.ts";
import type { Masker } from "../base/masking.ts";
import { openFileInbox } from "../files/inbox.ts";
import { openWebhook, teeInbox } from "../files/webhook.ts";
import type { InboxPlan, Plan } from "../plan/types.ts";
import type { Inbox, Logger } from "../runtime/ports.ts";

/** The inbox of events, the folder of receipts where it is another one, and the sealer that both share. */
export interface Inboxes {
  readonly sealer: Sealer;
  /** Where an event goes; null when it goes nowhere. */
  inboxFor(event: MappedEvent): Inbox | null;
  /** Whether receipts of calls go anywhere. */
  takesReceipts(): boolean;
  stats(): ReturnType<Inbox["stats"]>;
  /** Takes over the settings that a reload may change. */
  configure(plan: Plan): Promise<void>;
  close(): Promise<void>;
}

/** What stands in the place of an inbox that is switched off. */
const NO_INBOX: ReturnType<Inbox["stats"]> = { dir: null, written: 0, duplicates: 0, dropped: 0, queued: 0, pending: 0, degraded: null };

/** Opens the inboxes of a plan. A folder that cannot be written makes the inbox degraded; it never stops the host. */
export async function openInboxes(plan: Plan, clock: Clock, masker: Masker, log: Logger, current: () => Plan): Promise<Inboxes> {
  const open = (inbox: InboxPlan, dir: string, ledger: string) =>
    openFileInbox({
      dir,
      format: inbox.format,
      fsync: inbox.fsync,
      maxPending: inbox.maxPending,
      clock,
      ledgerFile: path.join(plan.dataDir, "state", ledger),
      onProblem: (message) => log.warn({ inbox: dir }, message),
    });
  const file = plan.inbox.sink === "off" ? null : await open(plan.inbox, plan.inbox.dir, "inbox-ids.jsonl");
  const { webhook } = plan.inbox;
  const hook =
    webhook === null
      ? null
      : await openWebhook({
          target: webhook,
          spoolDir: path.join(plan.dataDir, "webhook", "pending"),
          format: plan.inbox.format,
          fsync: plan.inbox.fsync,
          maxPending: plan.inbox.maxPending,
          clock,
          onProblem: (message) => log.warn({ webhook: masker.text(webhook.url) }, message),
        });
  const main = file && hook ? teeInbox(file, [hook]) : (file ?? hook);
  let settings = plan.inbox;
  let receipts: { readonly dir: string; readonly inbox: Inbox } | null = null;
  const openReceipts = async (): Promise<void> => {
    const dir = settings.receipts === "inbox" || settings.receipts === "off" ? null : settings.receipts;
    if (dir === (receipts?.dir ?? null)) return;
    await receipts?.inbox.close();
    receipts = dir === null ? null : { dir, inbox: await open(settings, dir, "receipt-ids.jsonl") };
  };
  await openReceipts();
  return {
    sealer: createSealer({
      clock,
      random: randomBytes,
      offset: (nowMs) => -new Date(nowMs).getTimezoneOffset(),
      mask: (value) => masker.value(value),
      maxDataBytes: () => current().limits.messageBytes,
      chatText: () => current().log.chatText,
      last: file?.lastTimestamp ?? null,
    }),
    inboxFor(event) {
      if (event.method !== "mcp.tool_result" || settings.receipts === "inbox") return main;
      return settings.receipts === "off" ? null : (receipts?.inbox ?? null);
    },
    takesReceipts: () => settings.receipts !== "off",
    stats: () => main?.stats() ?? NO_INBOX,
    async configure(next) {
      settings = { ...next.inbox, dir: settings.dir, format: settings.format, fsync: settings.fsync, sink: settings.sink };
      main?.configure({ maxPending: settings.maxPending });
      await openReceipts();
    },
    async close() {
      await Promise.allSettled([main?.close(), receipts?.inbox.close()]);
    },
  };
}
