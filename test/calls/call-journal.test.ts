import { expect, it } from "vitest";
import { createCallJournal } from "../../src/calls/call-journal.ts";
import type { Granted } from "../../src/calls/operation.ts";
import type { Risk } from "../../src/tools/types.ts";
import { memoryLog } from "../support/fake-kit.ts";

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
  const log = memoryLog();
  const full = { append: () => Promise.reject(new Error("no space left on device")), configure() {}, close: () => Promise.resolve() };
  const journal = createCallJournal({ audit: full, emit: () => Promise.resolve(), host: () => ({ app: "host", instance: "h" }), onEnd() {}, log });
  const sending = journal.sending("call-1", granted(risk), { client: "library", session: "default" });
  if (sent) {
    await sending;
    journal.flush();
    await Promise.resolve();
    expect(log.lines.join()).toContain("audit log cannot be written");
  } else await expect(sending).rejects.toMatchObject({ code: "INTERNAL", message: expect.stringContaining("org.test.a.send was not sent") });
});
