import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KitError } from "../../src/base/errors.ts";
import { ControlError } from "../../src/control/client-http.ts";
import { connectToHost, createControlClient, type ControlClient, type ServerSentEvent } from "../../src/control/client.ts";
import { claimRunFile, findRunningHost } from "../../src/control/run-file.ts";
import { makeCertificate } from "../support/certificate.ts";
import { createFakeKit, type FakeKit } from "../support/fake-kit.ts";
import { openDoor, type Door } from "../support/door.ts";

const envelope = (type: string, app: string, session = "s") =>
  ({
    header: { protocol: "amp/1.0", method: "aurora/event", message_id: type, timestamp: "2026-01-01T00:00:00.000000+00:00", source: { app } },
    payload: { type, session_id: session },
  }) as never;

let kit: FakeKit;
let door: Door;
let client: ControlClient;
beforeEach(async () => {
  kit = createFakeKit([
    { package: "org.demo", tools: [{ name: "echo" }, { name: "wipe", risk: "high" }], resources: { "demo://a": "A" }, prompts: [{ name: "hello" }] },
  ]);
  door = await openDoor(kit);
  client = createControlClient(
    { pid: process.pid, pid_start: "", started_at: "", topology: "", url: door.url, tls_cert: null, data_dir: "" },
    { caller: door.caller, operator: door.operator },
  );
});
afterEach(async () => {
  client.close();
  await door.stop();
});

describe("the client of the command line", () => {
  it("finds the running host of a data folder by host.json and its token files", async () => {
    const claim = await claimRunFile(door.dataDir, "/t/topology.yaml", "2026-01-01T00:00:00Z");
    await claim.publish({ url: door.url, tlsCert: null });
    const found = await connectToHost((await findRunningHost(door.dataDir))!);
    expect((await found!.status()).state).toBe("running");
    found!.close();
    await claim.release();
    expect(await findRunningHost(door.dataDir)).toBeNull();
  });

  it("has every route as a method", async () => {
    expect(await client.apps()).toHaveLength(1);
    expect((await client.restartApp("org.demo")).restarts).toBe(1);
    kit.log("org.demo", "line");
    expect(await client.appLog("org.demo")).toEqual(["line"]);
    expect(await client.toolRows()).toHaveLength(2);
    expect(JSON.parse((await client.tools("openai")).text)).toHaveLength(2);
    expect(await client.call("echo", { a: 1 }, { session: "cli", turn: "t", waitMs: 5 })).toMatchObject({ outcome: "succeeded", ok: true });
    expect(kit.calls.at(-1)!.options).toMatchObject({ client: "caller", session: "cli", turn: "t", waitMs: 5 });
    expect(await client.executeToolCalls([{ id: "1", function: { name: "demo_echo", arguments: "{}" } }])).toHaveLength(1);
    await client.endTurn("s", "t");
    expect(await client.explain("echo", { args: { a: 1 } })).toMatchObject({ decision: "allow" });
    expect((await client.resources()).resources).toHaveLength(1);
    expect(await client.readResource("demo://a")).toEqual({ contents: [{ uri: "demo://a", text: "A" }] });
    expect(await client.prompts()).toHaveLength(1);
    expect(await client.getPrompt("demo_hello", { a: "b" })).toHaveProperty("messages");
    const asked = await client.call("wipe", {});
    const id = (asked.error!.details as { approval_id: string }).approval_id;
    expect(await client.approvals()).toMatchObject([{ id }]);
    expect(await client.decideApproval(id, "deny", "ann", "no")).toMatchObject({ state: "denied", decided_by: ["ann"] });
    expect(await client.approvals(true)).toHaveLength(1);
    expect(await client.sessions()).toHaveLength(1);
    expect(await client.clearSession("caller", "s1")).toBe(true);
    expect((await client.reload()).result).toBe("unchanged");
    expect((await client.apply()).result).toBe("applied");
    expect(await client.plan()).toHaveProperty("report");
    expect(await client.lockDiff()).toHaveLength(1);
    expect(await client.lockAccept(["x"])).toMatchObject([{ app: "x" }]);
    expect(await client.metrics()).toContain("aurora_app_up");
  });

  it("throws the kit's errors as KitError, the door's as ControlError, and says when nobody answers", async () => {
    await expect(client.readResource("no://such")).rejects.toSatisfy((e) => e instanceof KitError && e.code === "RESOURCE_NOT_FOUND");
    await expect(client.decideApproval("ap_x", "approve", "me")).rejects.toSatisfy((e) => e instanceof ControlError && e.status === 404);
    const stranger = createControlClient(client.host, { caller: "x".repeat(40), operator: "x".repeat(40) });
    await expect(stranger.status()).rejects.toSatisfy((e) => e instanceof ControlError && e.status === 401);
    stranger.close();
    const nowhere = createControlClient({ ...client.host, url: "http://127.0.0.1:1" }, { caller: "c", operator: "o" });
    await expect(nowhere.status()).rejects.toSatisfy((e) => e instanceof KitError && e.code === "APP_UNAVAILABLE" && e.message.includes("127.0.0.1:1"));
    nowhere.close();
  });

  it("gives a call up with its signal", async () => {
    const abort = new AbortController();
    const running = client.call("wipe", {}, { signal: abort.signal, waitMs: 60_000 });
    await vi.waitFor(() => expect(kit.listApprovals()).toHaveLength(1));
    abort.abort();
    await expect(running).rejects.toSatisfy((e) => e instanceof KitError && e.code === "CANCELLED");
  });

  it("follows a log: old lines, then new ones", async () => {
    kit.log("org.demo", "old");
    const lines: string[] = [];
    const stop = new AbortController();
    const following = client.followLog("org.demo", (line) => lines.push(line), { signal: stop.signal });
    await vi.waitFor(() => expect(lines).toEqual(["old"]));
    kit.log("org.demo", "new\nline");
    await vi.waitFor(() => expect(lines).toEqual(["old", "new\nline"]));
    stop.abort();
    await following;
  });

  it("hears events through the filters, and changes of the host when asked", async () => {
    const heard: Record<string, ServerSentEvent[]> = {};
    const stop = new AbortController();
    const listen = (name: string, filter: Parameters<ControlClient["events"]>[1] extends infer F ? Partial<F & object> : never) => {
      heard[name] = [];
      return client.events((event) => heard[name]!.push(event), { ...filter, signal: stop.signal });
    };
    const all = [
      listen("all", {}),
      listen("typed", { type: ["chat.*", "x"] }),
      listen("app", { app: ["org.b"] }),
      listen("session", { session: "s2" }),
      listen("state", { state: true }),
    ];
    await vi.waitFor(() => {
      kit.emit("envelope", envelope("chat.probe", "org.b", "s2"));
      for (const list of Object.values(heard)) expect(list.length).toBeGreaterThan(0);
    });
    kit.emit("envelope", envelope("chat.message", "org.a"));
    kit.emit("envelope", envelope("tool.completed", "org.b", "s2"));
    kit.setApps([]);
    const types = (name: string) =>
      heard[name]!.map((e) => (e.event === "envelope" ? (e.data as { payload: { type: string } }).payload.type : e.event)).filter(
        (type) => type !== "chat.probe",
      );
    await vi.waitFor(() => expect(types("state")).toEqual(["chat.message", "tool.completed", "catalog"]));
    await vi.waitFor(() =>
      expect([types("all"), types("typed"), types("app"), types("session")]).toEqual([
        ["chat.message", "tool.completed"],
        ["chat.message"],
        ["tool.completed"],
        ["tool.completed"],
      ]),
    );
    stop.abort();
    await Promise.all(all);
  });

  it("connects again when the stream breaks, and says that something may be missing", async () => {
    const gaps: string[] = [];
    const heard: ServerSentEvent[] = [];
    const stop = new AbortController();
    const listening = client.events((event) => heard.push(event), { signal: stop.signal, onGap: (why) => gaps.push(why) });
    await vi.waitFor(() => {
      kit.emit("envelope", envelope("one", "a"));
      expect(heard.length).toBeGreaterThan(0);
    });
    await door.close(0);
    await vi.waitFor(() => expect(gaps.length).toBeGreaterThan(1), { timeout: 5000 });
    stop.abort();
    await listening;
  });
});

describe("an https door", () => {
  it("is trusted by its own certificate, and by no other", async () => {
    const own = await makeCertificate(door.dataDir, "127.0.0.1", "own");
    const other = await makeCertificate(door.dataDir, "127.0.0.1", "other");
    const secure = await openDoor(kit, { gateway: { tls: { key: own.keyFile, cert: own.certFile } } });
    expect(secure.url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    const connect = (tls_cert: string | null) =>
      createControlClient({ ...client.host, url: secure.url, tls_cert }, { caller: secure.caller, operator: secure.operator });
    const [good, wrong, none] = [connect(own.certFile), connect(other.certFile), connect(null)];
    expect((await good.status()).state).toBe("running");
    for (const stranger of [wrong, none]) await expect(stranger.status()).rejects.toThrow(/does not answer/);
    for (const each of [good, wrong, none]) each.close();
    await secure.stop();
  });
});

describe("closing the door", () => {
  it("ends idle streams at once, and lets running calls finish", async () => {
    const stop = new AbortController();
    const following = client.followLog("org.demo", () => undefined, { signal: stop.signal });
    const running = client.call("wipe", {}, { waitMs: 400 });
    await vi.waitFor(() => expect(kit.listApprovals()).toHaveLength(1));
    const started = performance.now();
    const closed = door.close(5000);
    await following;
    expect(performance.now() - started).toBeLessThan(2500);
    expect((await running).error!.error_code).toBe("APPROVAL_REQUIRED");
    await closed;
    expect(performance.now() - started).toBeLessThan(4500);
  });

  it("cuts calls off when the grace is over", async () => {
    const running = client.call("wipe", {}, { waitMs: 60_000 });
    running.catch(() => undefined);
    await vi.waitFor(() => expect(kit.listApprovals()).toHaveLength(1));
    const started = performance.now();
    await door.close(200);
    expect(performance.now() - started).toBeLessThan(2000);
    await expect(running).rejects.toThrow();
  });
});
