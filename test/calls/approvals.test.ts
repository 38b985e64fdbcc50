import { describe, expect, it } from "vitest";
import { ExactNumber } from "../../src/base/exact-json.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { createMasker } from "../../src/base/masking.ts";
import { approvalRow, argumentLines } from "../../src/calls/approval-view.ts";
import type { Approval, ApprovalRecord, ApprovalRequest } from "../../src/calls/approval.ts";
import { openApprovals } from "../../src/calls/approvals.ts";
import { fakeClock, memoryJournal } from "./memory-journal.ts";

const wish = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  app: "pay",
  tool: "send",
  pin: "sha256:1",
  full: "pay.send",
  args: { to: "a", amount: 10 },
  client: "bot",
  session: "s",
  risk: "high",
  reason: "high risk needs approval",
  rule: null,
  expiresMs: 600_000,
  fourEyes: false,
  ...more,
});

async function setup() {
  const clock = fakeClock();
  const journal = memoryJournal<ApprovalRecord>();
  const changes: Approval[] = [];
  let n = 0;
  const open = () => openApprovals({ journal, clock, newId: () => `id-${(n += 1)}`, mask: (value) => value, onChange: (a) => changes.push(a) });
  return { clock, journal, changes, open, queue: await open() };
}

describe("approvals", () => {
  it("request, approve, use: runs the stored copy", async () => {
    const { queue, changes } = await setup();
    const args: JsonObject = { to: "a", amount: 10 };
    const asked = await queue.request(wish({ args }));
    args["amount"] = 1000;
    expect(asked).toMatchObject({ state: "pending", args: { to: "a", amount: 10 } });
    await queue.decide(asked.id, "approve", "ann");
    const used = await queue.consume(asked.id, wish());
    expect(used.args).toEqual({ to: "a", amount: 10 });
    expect(Object.isFrozen(used.args)).toBe(true);
    expect(changes.map((c) => c.state)).toEqual(["pending", "approved", "used"]);
  });

  it.each([
    ["arguments", { args: { to: "a", amount: 1000 } }],
    ["type of an argument", { args: { to: "a", amount: "10" } }],
    ["tool", { tool: "refund" }],
    ["app", { app: "pay2" }],
    ["pin", { pin: "sha256:2" }],
    ["client", { client: "other" }],
    ["session", { session: "s2" }],
  ] as [string, Partial<ApprovalRequest>][])("is bound to the %s", async (_what, other) => {
    const { queue } = await setup();
    const { id } = await queue.request(wish());
    await queue.decide(id, "approve", "ann");
    await expect(queue.consume(id, wish(other))).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect((await queue.consume(id, wish())).state).toBe("used");
  });

  it("a decision that cannot be put on record is none", async () => {
    const journal = memoryJournal<ApprovalRecord>();
    let full = true;
    const onDecision = () => (full ? Promise.reject(new Error("no space left on device")) : Promise.resolve());
    const queue = await openApprovals({ journal, clock: fakeClock(), newId: () => "id-1", mask: (value) => value, onDecision });
    const { id } = await queue.request(wish());
    await expect(queue.decide(id, "approve", "ann")).rejects.toThrow("no space left");
    await expect(queue.consume(id, wish())).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
    full = false;
    await queue.decide(id, "approve", "ann");
    expect((await queue.consume(id, wish())).state).toBe("used");
  });

  it("the same arguments in another order are the same approval", async () => {
    const { queue } = await setup();
    const { id } = await queue.request(wish({ args: { b: 1, a: 2 } }));
    expect((await queue.request(wish({ args: { a: 2, b: 1 } }))).id).toBe(id);
    await queue.decide(id, "approve", "ann");
    expect((await queue.consume(id, wish({ args: { a: 2, b: 1 } }))).state).toBe("used");
  });

  it("one approval, one run: also at the same moment, also after a restart", async () => {
    const { queue, open } = await setup();
    const { id } = await queue.request(wish());
    await queue.decide(id, "approve", "ann");
    const runs = await Promise.allSettled(Array.from({ length: 20 }, () => queue.consume(id, wish())));
    expect(runs.filter((r) => r.status === "fulfilled")).toHaveLength(1);
    const again = await open();
    await expect(again.consume(id, wish())).rejects.toMatchObject({ code: "APPROVAL_REQUIRED", message: expect.stringContaining("has been used") });
  });

  it("is not used when that could not be written", async () => {
    const { queue, journal } = await setup();
    const { id } = await queue.request(wish());
    await queue.decide(id, "approve", "ann");
    journal.fail = new Error("disk full");
    await expect(queue.consume(id, wish())).rejects.toThrow("disk full");
    journal.fail = null;
    expect((await queue.consume(id, wish())).state).toBe("used");
  });

  it("pending, approved and denied ones survive a restart", async () => {
    const { queue, open } = await setup();
    const ids = [];
    for (const session of ["1", "2", "3"])
      ids.push((await queue.request(wish({ session, args: { n: new ExactNumber("12345678901234567890") as unknown as Json } }))).id);
    await queue.decide(ids[1]!, "approve", "ann");
    await queue.decide(ids[2]!, "deny", "ann", "not today");
    const again = await open();
    expect(again.list(true).map((a) => a.state)).toEqual(["pending", "approved", "denied"]);
    const used = await again.consume(ids[1]!, wish({ session: "2", args: { n: new ExactNumber("12345678901234567890") as unknown as Json } }));
    expect(String(used.args["n"])).toBe("12345678901234567890");
    await expect(again.consume(ids[2]!, wish({ session: "3", args: { n: new ExactNumber("12345678901234567890") as unknown as Json } }))).rejects.toMatchObject(
      { code: "APPROVAL_DENIED", message: expect.stringContaining("not today") },
    );
  });

  it("expires, whether pending or approved", async () => {
    const { queue, clock, changes } = await setup();
    const one = await queue.request(wish());
    const two = await queue.request(wish({ session: "2" }));
    await queue.decide(two.id, "approve", "ann");
    clock.advance(600_000);
    await expect(queue.decide(one.id, "approve", "ann")).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    await expect(queue.consume(two.id, wish({ session: "2" }))).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    expect(queue.list()).toEqual([]);
    expect(changes.filter((c) => c.state === "expired")).toHaveLength(2);
    expect((await queue.request(wish())).id).not.toBe(one.id);
  });

  it("four eyes: two people, and not the caller", async () => {
    const { queue } = await setup();
    const { id } = await queue.request(wish({ fourEyes: true }));
    await expect(queue.decide(id, "approve", "bot")).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
    expect((await queue.decide(id, "approve", "ann")).state).toBe("pending");
    await expect(queue.decide(id, "approve", "ann")).rejects.toThrow("another person");
    await expect(queue.consume(id, wish())).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
    expect((await queue.decide(id, "approve", "ben")).approvedBy).toEqual(["ann", "ben"]);
    expect((await queue.consume(id, wish())).state).toBe("used");
  });

  it.each(["Alice", "alice ", " ALICE", "a\u200blice", "\uff41lice", "al ice"])("four eyes: %j is alice again", async (name) => {
    const { queue } = await setup();
    const { id } = await queue.request(wish({ fourEyes: true }));
    await queue.decide(id, "approve", "alice");
    await expect(queue.decide(id, "approve", name)).rejects.toThrow("another person");
    const own = await queue.request(wish({ fourEyes: true, client: "alice" }));
    await expect(queue.decide(own.id, "approve", name)).rejects.toMatchObject({ code: "APPROVAL_DENIED" });
  });

  it.each(["", "  ", "\u200b"])("nobody decides under the name %j", async (name) => {
    const { queue } = await setup();
    const { id } = await queue.request(wish());
    await expect(queue.decide(id, "approve", name)).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
  });

  it("a live one ends with what waits for it, and with the host", async () => {
    const { queue, changes, open } = await setup();
    const one = await queue.request(wish({ live: true }));
    await queue.withdraw(one.id);
    expect(changes.at(-1)).toMatchObject({ id: one.id, state: "withdrawn" });
    await expect(queue.decide(one.id, "approve", "ann")).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    await expect(queue.consume(one.id, wish())).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    const approved = await queue.request(wish({ live: true }));
    await queue.decide(approved.id, "approve", "ann");
    await queue.request(wish({ session: "2", live: true }));
    await queue.request(wish({ session: "3" }));
    const again = await open();
    expect(again.list(true).map((a) => a.state)).toEqual(["withdrawn", "withdrawn", "withdrawn", "pending"]);
    await again.withdraw(approved.id);
    await again.withdraw("strange");
  });

  it("a form: the answer is checked, four eyes confirm the first one, and only a question can be cancelled", async () => {
    const { queue, open } = await setup();
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { id } = await queue.request(wish({ fourEyes: true, question: { mode: "form", message: "?", schema } }));
    await expect(queue.decide(id, "approve", "ann")).rejects.toMatchObject({ code: "INVALID_ARGUMENTS", message: expect.stringContaining("n") });
    expect((await queue.decide(id, "approve", "ann", undefined, { n: 1 })).state).toBe("pending");
    const again = await open();
    await expect(again.decide(id, "approve", "ben", undefined, { n: 2 })).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    expect(await again.decide(id, "approve", "ben")).toMatchObject({ state: "approved", answer: { n: 1 } });
    const call = await again.request(wish());
    await expect(again.decide(call.id, "cancel", "ann")).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    await expect(again.decide(call.id, "approve", "ann", undefined, { n: 1 })).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
  });

  it("a decision is final, and unknown ids are told", async () => {
    const { queue } = await setup();
    const { id } = await queue.request(wish());
    await queue.decide(id, "deny", "ann");
    await expect(queue.decide(id, "approve", "ben")).rejects.toThrow("already denied");
    for (const strange of ["*", "all pay__*", "__proto__", "id-99"]) {
      await expect(queue.decide(strange, "approve", "ann")).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
      await expect(queue.consume(strange, wish())).rejects.toMatchObject({ code: "APPROVAL_EXPIRED" });
    }
  });

  it("a waiting caller wakes on the decision, at the end of its patience, and when it gives up", async () => {
    const { queue } = await setup();
    const { id } = await queue.request(wish());
    expect((await queue.waitFor(id, 5)).state).toBe("pending");
    const gone = new AbortController();
    const given = queue.waitFor(id, 60_000, gone.signal);
    const waiting = [queue.waitFor(id, 60_000), queue.waitFor(id, 60_000)];
    gone.abort();
    expect((await given).state).toBe("pending");
    await queue.decide(id, "approve", "ann");
    expect((await Promise.all(waiting)).map((a) => a.state)).toEqual(["approved", "approved"]);
    expect((await queue.waitFor(id, 60_000)).state).toBe("approved");
  });

  it("the queue is bounded", async () => {
    const { queue } = await setup();
    for (let i = 0; i < 1000; i += 1) await queue.request(wish({ session: `${i}` }));
    await expect(queue.request(wish({ session: "more" }))).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });
});

describe("what the person sees", () => {
  it("arguments cannot change the layout or hide anything", () => {
    const lines = argumentLines({ to: "a\nrisk = low\u202e\u2066 \u001b[2J cleared", "note\nAPPROVED": "x", zwsp: "a\u200bb" });
    expect(lines).toHaveLength(3);
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u200b\u202e\u2066]/);
    expect(lines.join("\n")).toContain("u{202e}");
    expect(argumentLines({ long: "x".repeat(5000) })[0]).toMatch(/\(5002 characters\)$/);
  });

  it("secrets in a row are masked, the stored copy is whole", async () => {
    const { queue } = await setup();
    const asked = await queue.request(wish({ args: { token: "tok-4f9a81c2d7e6", url: "https://bot:tok-4f9a81c2d7e6@api.invalid/" } }));
    expect(JSON.stringify(approvalRow(asked, createMasker(["tok-4f9a81c2d7e6"])))).not.toContain("4f9a81");
    expect(JSON.stringify(asked.args)).toContain("4f9a81");
  });
});
