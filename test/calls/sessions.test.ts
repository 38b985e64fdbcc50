import { describe, expect, it } from "vitest";
import { openSessions, type MarkRecord } from "../../src/calls/sessions.ts";
import { fakeClock, memoryJournal } from "./memory-journal.ts";

const DAY = 86_400_000;

describe("data-flow marks", () => {
  it("count at once, and are on the disk when mark resolves", async () => {
    const journal = memoryJournal<MarkRecord>();
    const sessions = await openSessions(journal, fakeClock());
    const marking = sessions.mark("bot", "s", "web/get", DAY);
    expect(sessions.isMarked("bot", "s")).toBe(true);
    expect(journal.lines).toHaveLength(0);
    await marking;
    expect(journal.lines).toHaveLength(1);
    expect(journal.durable).toEqual([true]);
  });

  it("belong to client and session, however these are spelt", async () => {
    const sessions = await openSessions(memoryJournal<MarkRecord>(), fakeClock());
    await sessions.mark("bot", "s", "web/get", DAY);
    for (const [client, session] of [
      ["bot", "s2"],
      ["bot2", "s"],
      ['bot","s', ""],
      ["__proto__", "constructor"],
    ])
      expect(sessions.isMarked(client!, session!)).toBe(false);
    await sessions.mark("__proto__", "constructor", "web/get", DAY);
    expect(sessions.marks("__proto__", "constructor")).toHaveLength(1);
  });

  it("survive a restart, keep their first time, and run out after the last hearing", async () => {
    const clock = fakeClock();
    const journal = memoryJournal<MarkRecord>();
    const first = await openSessions(journal, clock);
    const since = clock.now();
    await first.mark("bot", "s", "web/get", DAY);
    clock.advance(DAY - 1000);
    await first.mark("bot", "s", "web/get", DAY);
    const again = await openSessions(journal, clock);
    expect(again.marks("bot", "s")).toMatchObject([{ source: "web/get", since }]);
    clock.advance(DAY - 1000);
    expect(again.isMarked("bot", "s")).toBe(true);
    clock.advance(DAY);
    expect(again.isMarked("bot", "s")).toBe(false);
    expect(again.list()).toEqual([]);
  });

  it("a talkative source does not write for every result", async () => {
    const journal = memoryJournal<MarkRecord>();
    const clock = fakeClock();
    const sessions = await openSessions(journal, clock);
    for (let i = 0; i < 100; i += 1) {
      await sessions.mark("bot", "s", "web/get", DAY);
      clock.advance(1000);
    }
    expect(journal.lines).toHaveLength(1);
  });

  it("a mark that could not be written is written next time", async () => {
    const journal = memoryJournal<MarkRecord>();
    const sessions = await openSessions(journal, fakeClock());
    journal.fail = new Error("disk full");
    await expect(sessions.mark("bot", "s", "web/get", DAY)).rejects.toThrow("disk full");
    expect(sessions.isMarked("bot", "s")).toBe(true);
    journal.fail = null;
    await sessions.mark("bot", "s", "web/get", DAY);
    expect(journal.lines).toHaveLength(1);
  });

  it("an operator clears a session, for good", async () => {
    const journal = memoryJournal<MarkRecord>();
    const clock = fakeClock();
    const sessions = await openSessions(journal, clock);
    await sessions.mark("bot", "s", "web/get", DAY);
    await sessions.mark("bot", "s", "mail/read", DAY);
    expect(await sessions.clear("bot", "s")).toBe(true);
    expect(await sessions.clear("bot", "s")).toBe(false);
    expect(sessions.isMarked("bot", "s")).toBe(false);
    expect((await openSessions(journal, clock)).isMarked("bot", "s")).toBe(false);
  });

  it("with too many session names a client is marked as a whole", async () => {
    const sessions = await openSessions(memoryJournal<MarkRecord>(), fakeClock());
    for (let i = 0; i < 20_005; i += 1) void sessions.mark("bot", `s${i}`, "web/get", DAY);
    await sessions.mark("bot", "last", "web/get", DAY);
    expect(sessions.isMarked("bot", "never seen")).toBe(true);
    expect(sessions.isMarked("other", "never seen")).toBe(false);
    expect(sessions.list().length).toBeLessThanOrEqual(20_001);
  });
});
