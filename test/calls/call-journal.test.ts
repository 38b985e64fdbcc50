import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createMasker } from "../../src/base/masking.ts";
import { openAudit, type AuditFile } from "../../src/calls/audit.ts";
import { createCallJournal } from "../../src/calls/call-journal.ts";
import type { Granted, Performed } from "../../src/calls/operation.ts";
import type { Risk } from "../../src/tools/types.ts";

const granted = (risk: Risk): Granted =>
  ({
    operation: { target: { kind: "tool", app: "org.test.a", name: "send", full: "org.test.a.send", pin: "sha256:1" } },
    decision: { risk, action: "allow", rule: null, audit: "full" },
    args: {},
    snapshot: { revision: 1, plan: { digests: { policy: "p" } } },
  }) as unknown as Granted;

it.each([
  ["low", true],
  ["medium", true],
  ["high", false],
  ["critical", false],
] as const)("without a place for its audit record, a call of %s risk is sent: %j", async (risk, sent) => {
  const full: AuditFile = {
    open: () => Promise.resolve({ lines: "", head: null }),
    append() {
      throw new Error("no space left on device");
    },
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const told: unknown[] = [];
  const audit = await openAudit({ file: full, clock: systemClock, masker: createMasker([]), arguments: "masked", onFault: (error) => told.push(error) });
  const journal = createCallJournal({
    audit,
    takesReceipts: () => false,
    emit: () => Promise.resolve(),
    host: () => ({ app: "host", instance: "h" }),
    sourceOf: (app) => ({ app, instance: app }),
    now: Date.now,
    onEnd() {},
    onFault: (error) => told.push(error),
  });
  const sending = journal.sending("call-1", granted(risk), { client: "library", session: "default" });
  if (sent) {
    await sending;
    expect(told).toMatchObject([{ message: "no space left on device" }]);
  } else await expect(sending).rejects.toMatchObject({ code: "INTERNAL", message: expect.stringContaining("org.test.a.send was not sent") });
});

it("what throws while an ended call is written down keeps nothing else from being told", async () => {
  const lines: string[] = [];
  const file: AuditFile = {
    open: () => Promise.resolve({ lines: "", head: null }),
    append: (text) => void lines.push(text),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const told: unknown[] = [];
  const ended: string[] = [];
  const receipts: unknown[] = [];
  const audit = await openAudit({ file, clock: systemClock, masker: createMasker([]), arguments: "masked", onFault: (error) => told.push(error) });
  const journal = createCallJournal({
    audit,
    takesReceipts: () => true,
    emit: async (signal) => void receipts.push(signal),
    host: () => ({ app: "host", instance: "h" }),
    sourceOf: (app) => ({ app, instance: app }),
    now: Date.now,
    onEnd({ callId }) {
      ended.push(callId);
      if (callId === "call-1") throw new Error("a listener's fault");
    },
    onFault: (error) => told.push(error),
  });
  const refused = (callId: string) =>
    ({
      ...{ wanted: { kind: "tool", name: "send" }, target: null, decision: null, sent: false, outcome: "failed", callId },
      ...{ error: null, durationMs: 1, resultTokens: null, approvalId: null, resultRef: null },
    }) as unknown as Performed;
  for (const id of ["call-1", "call-2"]) journal.ended(refused(id), { client: "library", session: "default" });
  journal.flush();
  await audit.close();
  expect(ended).toEqual(["call-1", "call-2"]);
  expect(receipts).toHaveLength(2);
  expect(lines.join("")).toContain("call-2");
  expect(told).toMatchObject([{ message: "a listener's fault" }]);
});
