import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallOptions } from "../../src/kit-api.ts";
import { createFakeKit, type FakeKit } from "../support/fake-kit.ts";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";

let kit: FakeKit;
let door: GatewayDoor;
let session: RawSession;
let running: { options: CallOptions; end: () => void }[];
let marked: string[];
beforeEach(async () => {
  running = [];
  marked = [];
  const run = (_args: unknown, options: CallOptions) =>
    new Promise<{ content: never[] }>((resolve) => running.push({ options, end: () => resolve({ content: [] }) }));
  kit = createFakeKit([
    {
      package: "org.demo",
      tools: [
        { name: "work", run },
        { name: "risky", risk: "high", run },
      ],
    },
  ]);
  kit.heard = async ({ tool }, options) => void marked.push(`${options!.session} heard ${tool}`);
  door = await openGatewayDoor(kit);
  session = await RawSession.open(door);
});
afterEach(() => door.stop());

const call = (id: number, name: string, conversation: string) =>
  session.stream("POST", {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: `demo_${name}`, arguments: {}, _meta: { "aurora/session": conversation } },
  });
const log = (data: string, conversation?: string): void =>
  kit.emit(
    "notification",
    "org.demo",
    "notifications/message",
    { level: "error", data },
    ...(conversation === undefined ? [] : [{ client: kit.calls.at(-1)?.options.client ?? "local", session: conversation }]),
  );
const began = async (count: number): Promise<void> => expect.poll(() => running.length).toBe(count);
const logsOf = ({ events }: ReturnType<typeof call>): unknown[] =>
  events.flatMap(({ message }) => (message?.["method"] === "notifications/message" ? [(message["params"] as { data: string }).data] : []));

describe("words of an app beside its answers", () => {
  it("are not given to a call that waits for a person, and come marked once it was sent", async () => {
    const risky = call(1, "risky", "a");
    await expect.poll(() => kit.listApprovals().length).toBe(1);
    log("early");
    log("early, its own connection", "a");
    await risky.ended;
    expect([logsOf(risky), marked]).toEqual([[], []]);
    const work = call(2, "work", "a");
    await began(1);
    log("late");
    running[0]!.end();
    await work.ended;
    expect([logsOf(work), marked]).toEqual([["late"], ["a heard work"]]);
    log("after the call", "a");
    expect(marked).toHaveLength(1);
  });

  it("of a conversation's own connection go to its own call; of a shared one that works for two, to nobody", async () => {
    const [a, b] = [call(1, "work", "a"), call(2, "work", "b")];
    await began(2);
    log("for a", "a");
    log("for nobody knows whom");
    for (const { end } of running) end();
    await Promise.all([a.ended, b.ended]);
    expect([logsOf(a), logsOf(b)]).toEqual([["for a"], []]);
  });

  it("that cannot be marked are not given", async () => {
    kit.heard = () => Promise.reject(new Error("the disk is full"));
    const work = call(1, "work", "a");
    await began(1);
    log("unmarked");
    running[0]!.end();
    await work.ended;
    expect(logsOf(work)).toEqual([]);
  });

  it("belong to one conversation: a name that is too long is refused and not cut", async () => {
    const answer = await session.rpc("tools/call", { name: "demo_work", arguments: {}, _meta: { "aurora/session": "x".repeat(257) } });
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining("257 characters") });
    expect(running).toEqual([]);
  });
});
