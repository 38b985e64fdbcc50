import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createMasker } from "../../src/base/masking.ts";
import { openAudit, type AuditFile } from "../../src/calls/audit.ts";
import { createCallJournal } from "../../src/calls/call-journal.ts";
import type { Granted } from "../../src/calls/operation.ts";
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
  });
  const sending = journal.sending("call-1", granted(risk), { client: "library", session: "default" });
  if (sent) {
    await sending;
    expect(told).toMatchObject([{ message: "no space left on device" }]);
  } else await expect(sending).rejects.toMatchObject({ code: "INTERNAL", message: expect.stringContaining("org.test.a.send was not sent") });
});
