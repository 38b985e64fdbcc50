import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HEALTHY_UPTIME_MS, MAX_BACKOFF_MS, PARKED_PROBE_MS } from "../../src/runtime/backoff.ts";
import { StartError } from "../../src/runtime/ports.ts";
import { world, type PlayedServer } from "./world.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const APP = "org.example.app";
const patience = (ms: number) => (): AbortSignal => AbortSignal.timeout(ms);
const refusedUntil = (ms: number): NonNullable<PlayedServer["connect"]> => {
  const from = Date.now() + ms;
  return () => {
    if (Date.now() < from) throw new StartError("connection refused", { retry: true });
  };
};
const lease = (w: ReturnType<typeof world>, app = APP, ms = 5_000) =>
  w.runtime.lease(app, { scope: "shared", hooks: {}, capabilities: undefined, signal: patience(ms) });

describe("an app that does not come up", () => {
  it("is tried a few times fast, then parked and probed slowly, for ever, and comes back by itself (hermes-agent#60228)", async () => {
    const w = world({ [APP]: { connect: refusedUntil(3_600_000) } });
    await w.start();
    await w.pass(20_000);
    expect(w.attempts(APP)).toEqual([0, 200, 2_200, 6_200]);
    expect(w.view(APP)).toMatchObject({ state: "parked", nextAttempt: 1_000_000 + 6_200 + PARKED_PROBE_MS });
    expect(w.view(APP).reason).toBe("connection refused; next attempt in 2m 46s");
    await w.pass(3_600_000 - 20_000 + PARKED_PROBE_MS);
    expect(w.view(APP).state).toBe("ready");
    // An hour of probes at the slow pace, not one more.
    expect(w.attempts(APP).length).toBeLessThanOrEqual(4 + 3_600_000 / PARKED_PROBE_MS + 1);
  });

  it("with many attempts allowed never waits longer than the cap, and says when it tries again", async () => {
    const w = world(
      {
        [APP]: {
          connect: (attempt) => {
            if (attempt <= 12) throw new StartError("no luck", { retry: true });
          },
        },
      },
      { plan: { restart: { enabled: true, maxAttempts: 50, backoffMs: 2_000 } } },
    );
    await w.start();
    await w.pass(700_000);
    const times = w.attempts(APP);
    expect(times).toHaveLength(13);
    expect(Math.max(...times.slice(1).map((at, i) => at - times[i]!))).toBe(MAX_BACKOFF_MS);
    expect(w.view(APP)).toMatchObject({ state: "ready", nextAttempt: null, reason: null });
  });

  it("is woken by a call, once for all who wait, and serves them", async () => {
    const w = world({ [APP]: { connect: refusedUntil(30_000) } });
    await w.start();
    await w.pass(40_000);
    expect(w.view(APP).state).toBe("parked");
    const calls = Array.from({ length: 20 }, () => lease(w));
    await w.pass(0);
    await Promise.all(calls);
    expect(w.attempts(APP)).toHaveLength(5);
    expect(w.view(APP).state).toBe("ready");
  });

  it("is not woken in a loop: 50 calls after one failed wake make one attempt, and all hear the same with the next attempt", async () => {
    const w = world({ [APP]: { connect: refusedUntil(Infinity) } });
    await w.start();
    await w.pass(40_000);
    const calls = Promise.allSettled(Array.from({ length: 50 }, () => lease(w)));
    await w.pass(1_000);
    const reasons = (await calls).map((c) => (c.status === "rejected" ? (c.reason as Error).message : "served"));
    expect(new Set(reasons)).toEqual(new Set([`app ${APP} does not come up and is parked: connection refused; next attempt in 3m`]));
    expect(w.attempts(APP)).toHaveLength(5);
  });

  it("because of its configuration is asked once and never again by itself; 50 calls hear why at once (hermes-agent#18165)", async () => {
    const w = world({
      [APP]: {
        connect: () => {
          throw new StartError("HTTP 404 from host", { retry: false });
        },
      },
    });
    await w.start();
    await w.pass(24 * 3_600_000);
    const calls = await Promise.allSettled(Array.from({ length: 50 }, () => lease(w)));
    expect(new Set(calls.map((c) => (c.status === "rejected" ? (c.reason as Error).message : "served")))).toEqual(
      new Set([`app ${APP} could not be started: HTTP 404 from host`]),
    );
    expect(w.attempts(APP)).toHaveLength(1);
  });

  it("is always tried when a person asks, parked or failed, and its attempts count anew", async () => {
    let broken = true;
    const w = world({
      [APP]: {
        connect: () => {
          if (broken) throw new StartError("no such program", { retry: false });
        },
      },
    });
    await w.start();
    broken = false;
    const done = w.runtime.runner(APP)!.restart();
    await w.pass(0);
    await done;
    expect(w.view(APP).state).toBe("ready");
  });

  it("with restart switched off stays down with its reason", async () => {
    const w = world({ [APP]: {} }, { plan: { restart: { enabled: false, maxAttempts: 3, backoffMs: 100 } } });
    await w.start();
    w.connections.get(APP)!.die("exited with code 1");
    await w.pass(600_000);
    expect(w.view(APP)).toMatchObject({ state: "failed", reason: "exited with code 1; restart is switched off" });
    expect(w.attempts(APP)).toHaveLength(1);
  });
});

describe("an app that dies again and again", () => {
  it("spends its attempts although each start succeeds, and is parked", async () => {
    const w = world({ [APP]: {} });
    await w.start();
    for (let i = 0; i < 8; i += 1) {
      w.connections.get(APP)!.die("exited with code 1");
      await w.pass(10_000);
    }
    expect(w.attempts(APP)).toHaveLength(4);
    expect(w.view(APP).state).toBe("parked");
  });

  it("counts from nothing again after it was healthy for a while, and not before", async () => {
    const w = world({ [APP]: {} });
    await w.start();
    for (let i = 0; i < 10; i += 1) {
      await w.pass(HEALTHY_UPTIME_MS + 1_000);
      w.connections.get(APP)!.die("blip");
      await w.pass(1_000);
      expect(w.view(APP).state).toBe("ready");
    }
    expect(w.view(APP).restarts).toBe(10);
  });

  it("keeps its tools in prompts while it is down for a moment, has them marked once it is parked, and back with one change", async () => {
    let down = false;
    const w = world({
      [APP]: {
        connect: () => {
          if (down) throw new StartError("connection refused", { retry: true });
        },
      },
    });
    await w.start();
    const digest = (): string => w.runtime.snapshot.catalog.digest;
    const tool = () => w.runtime.snapshot.catalog.byFull(`${APP}.echo`)!;
    const before = digest();
    down = true;
    w.connections.get(APP)!.die("lost");
    await w.pass(1_000);
    expect(tool()).toMatchObject({ state: "unavailable", listed: true });
    expect(digest()).toBe(before);
    await w.pass(60_000);
    expect(tool()).toMatchObject({ state: "unavailable", listed: false, reason: `app ${APP} does not come up and is parked` });
    const parked = digest();
    expect(parked).not.toBe(before);
    // Its probes do not make the prompts flicker.
    for (let i = 0; i < 20; i += 1) {
      await w.pass(PARKED_PROBE_MS / 7);
      expect(digest()).toBe(parked);
    }
    down = false;
    await w.pass(PARKED_PROBE_MS);
    expect(tool()).toMatchObject({ state: "exposed", listed: true });
    expect(digest()).toBe(before);
    expect(w.log.filter((line) => line.startsWith("listed"))).toEqual([]);
  });
});

describe("probes", () => {
  it("do not run before an app is ready: a slow start is left alone (goose#8931)", async () => {
    const probes: number[] = [];
    const w = world({ [APP]: { connect: () => new Promise((resolve) => setTimeout(resolve, 300_000)), alive: () => probes.push(Date.now()) > 0 } });
    await w.start();
    await w.pass(299_000);
    expect(probes).toEqual([]);
    await w.pass(2_000);
    expect(w.attempts(APP)).toHaveLength(1);
    expect(w.view(APP).state).toBe("ready");
  });

  it("that are answered, whatever the answer, never restart: 10 ticks, 0 restarts (openclaw#85060)", async () => {
    let ticks = 0;
    const w = world({ [APP]: { alive: () => (ticks += 1) > 0 } });
    await w.start();
    await w.pass(305_000);
    expect(ticks).toBe(10);
    expect(w.view(APP).restarts).toBe(0);
  });

  it("that nothing answers restart the app through the same back-off", async () => {
    let alive = false;
    const w = world({ [APP]: { alive: () => alive } });
    await w.start();
    await w.pass(31_000);
    alive = true;
    await w.pass(1_000);
    expect(w.log).toContain(`crashed ${APP}: gave no sign of life for 1s`);
    expect(w.view(APP)).toMatchObject({ state: "ready", restarts: 1 });
  });
});

describe("a server with calls", () => {
  it("is not probed while they run, however long: it may be too busy to answer", async () => {
    let probes = 0;
    const w = world({ [APP]: { alive: () => (probes += 1) < 0 } });
    await w.start();
    const { release } = await lease(w);
    await w.pass(300_000);
    expect(probes).toBe(0);
    release();
    await w.pass(31_000);
    expect(w.log).toContain(`crashed ${APP}: gave no sign of life for 1s`);
  });
});

describe("the connection of a calling session", () => {
  const session = (w: ReturnType<typeof world>, scope = "s") => w.runtime.lease(APP, { scope, hooks: {}, capabilities: undefined, signal: patience(5_000) });

  it("is closed when no call has used it for half an hour, and not while one runs", async () => {
    const w = world({ [APP]: {} }, { plan: { isolation: "session" } });
    await w.start();
    (await session(w, "idle")).release();
    const held = await session(w, "busy");
    await w.pass(29 * 60_000);
    expect(w.view(APP).sessions!.open).toHaveLength(2);
    await w.pass(2 * 60_000);
    expect(w.view(APP).sessions!.open).toMatchObject([{ calls: 1 }]);
    held.release();
    expect((await session(w, "idle")).connection.closed).toBe(false);
    expect(w.view(APP)).toMatchObject({ restarts: 0, sessions: { lost: 0 } });
  });

  it("is probed while it is idle, and replaced at its next use when it gives no sign of life", async () => {
    let hung = false;
    const w = world({ [APP]: { alive: (scope) => scope === "shared" || !hung } }, { plan: { isolation: "session" } });
    await w.start();
    const { connection, release } = await session(w);
    release();
    hung = true;
    await w.pass(29_000);
    expect(connection.closed).toBe(false);
    await w.pass(2_000);
    expect(connection.closed).toBe(true);
    hung = false;
    await w.pass(10_000);
    expect((await session(w)).connection).not.toBe(connection);
    expect(w.view(APP).sessions).toMatchObject({ lost: 1, reason: "gave no sign of life for 1s" });
  });
});

describe("a call that nothing answers", () => {
  /** Holds a connection for `ms` as a call does that then times out; `meanwhile` happens half-way. */
  const timedOutCall = async (w: ReturnType<typeof world>, ms: number, meanwhile = (): void => {}): Promise<void> => {
    const held = lease(w);
    await w.pass(0);
    const { timedOut, release } = await held;
    await w.pass(ms / 2);
    meanwhile();
    await w.pass(ms / 2);
    timedOut();
    release();
  };

  it("has the server probed at once: a hung one is replaced long before the next tick", async () => {
    let hung = true;
    const w = world({ [APP]: { alive: () => new Promise((resolve) => setTimeout(() => resolve(!hung), 1_000)) } });
    await w.start();
    await timedOutCall(w, 5_000);
    await w.pass(1_000);
    expect(w.log).toContain(`crashed ${APP}: gave no sign of life for 1s`);
    hung = false;
    await w.pass(1_000);
    expect(w.view(APP)).toMatchObject({ state: "ready", restarts: 1 });
    expect(w.attempts(APP)).toEqual([0, 6_200]);
  });

  it("changes nothing for a server that answers the probe, and many such calls are one probe", async () => {
    const probes: number[] = [];
    const w = world({ [APP]: { alive: () => probes.push(Date.now() - 1_000_000) > 0 } });
    await w.start();
    const held = Array.from({ length: 20 }, () => lease(w));
    await w.pass(3_000);
    for (const { timedOut, release } of await Promise.all(held)) {
      timedOut();
      release();
    }
    await w.pass(20_000);
    expect(probes).toEqual([3_000]);
    expect(w.view(APP).restarts).toBe(0);
  });

  it("says nothing about a server that said anything meanwhile: it lives, however slow the one call is", async () => {
    let probes = 0;
    const w = world({ [APP]: { alive: () => (probes += 1) > 0 } });
    await w.start();
    await timedOutCall(w, 5_000, () => w.connections.get(APP)!.notify("notifications/message", { level: "info", data: "working" }));
    await w.pass(1_000);
    expect(probes).toBe(0);
  });

  it("says nothing about a server that has taken over meanwhile", async () => {
    let probes = 0;
    const w = world({ [APP]: { alive: () => (probes += 1) > 0 } });
    await w.start();
    const held = lease(w);
    await w.pass(0);
    const { timedOut, release } = await held;
    void w.runtime.runner(APP)!.restart();
    await w.pass(100);
    expect(w.view(APP).restarts).toBe(1);
    timedOut();
    release();
    await w.pass(5_000);
    expect(probes).toBe(0);
  });
});

describe("starts side by side", () => {
  it("a mute server delays nobody: the healthy one is usable at once, and the mute one joins when it can", async () => {
    const w = world({
      "a.mute": { connect: () => new Promise((resolve) => setTimeout(resolve, 45_000)) },
      "b.quick": { connect: () => new Promise((resolve) => setTimeout(resolve, 50)) },
    });
    await w.start();
    await w.pass(100);
    expect([w.view("a.mute").state, w.view("b.quick").state]).toEqual(["starting", "ready"]);
    expect(w.runtime.snapshot.catalog.tools.map((t) => t.full)).toEqual(["b.quick.echo"]);
    await w.pass(45_000);
    expect(w.runtime.snapshot.catalog.tools.map((t) => t.full)).toEqual(["a.mute.echo", "b.quick.echo"]);
  });

  it("even many mute servers hold up the others for seconds only", async () => {
    const mute = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`a.mute${i}`, { connect: () => new Promise<void>(() => {}) }]));
    const w = world({ ...mute, "z.quick": {} });
    await w.start();
    await w.pass(10_100);
    expect(w.view("z.quick").state).toBe("ready");
  });

  it("12 servers that need 3 s of a processor each, on 2 processors, all start within 10 s of their spawn (goose#9412)", async () => {
    const machine = processors(2);
    const took = new Map<string, number>();
    const servers = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => {
        const name = `org.example.s${i}`;
        return [
          name,
          {
            connect: async () => {
              const from = Date.now();
              await machine.work(3_000);
              took.set(name, Date.now() - from);
            },
          },
        ];
      }),
    );
    const w = world(servers, { concurrentStarts: 4 });
    await w.start();
    await w.pass(40_000);
    machine.stop();
    expect(took.size).toBe(12);
    expect(Math.max(...took.values())).toBeLessThan(10_000);
  });
});

describe("list_changed", () => {
  const changed = "notifications/tools/list_changed";

  it("200 times in a burst reads the lists once more (claude-code#4118)", async () => {
    const w = world({ [APP]: {} });
    await w.start();
    for (let i = 0; i < 200; i += 1) w.connections.get(APP)!.notify(changed);
    await w.pass(5_000);
    expect(w.log.filter((line) => line === `list ${APP}`)).toHaveLength(2);
  });

  it("always honours the last change of a burst, also one that comes while the lists are being read", async () => {
    const tools = ["one"];
    const w = world({
      [APP]: {
        list: async (count) => {
          const now = [...tools];
          if (count > 1) await new Promise((resolve) => setTimeout(resolve, 1_100));
          return now;
        },
      },
    });
    await w.start();
    for (const name of ["two", "three", "four"]) {
      tools.push(name);
      w.connections.get(APP)!.notify(changed);
      await w.pass(400);
    }
    await w.pass(4_000);
    expect(w.runtime.snapshot.catalog.tools.map((t) => t.tool)).toEqual(["four", "one", "three", "two"]);
    expect(w.log.filter((line) => line === `list ${APP}`).length).toBeLessThanOrEqual(4);
  });

  it("after every reading although nothing changed is heard ever more rarely, and a real change is found again", async () => {
    let name = "one";
    let told = true;
    const w = world({
      [APP]: {
        list: () => {
          if (told) queueMicrotask(() => w.connections.get(APP)?.notify(changed));
          return [name];
        },
      },
    });
    await w.start();
    w.connections.get(APP)!.notify(changed);
    await w.pass(600_000);
    expect(w.log.filter((line) => line === `list ${APP}`).length).toBeLessThan(40);
    expect(w.log).not.toContain(`listed ${APP}`);
    told = false;
    name = "two";
    w.connections.get(APP)!.notify(changed);
    await w.pass(31_000);
    expect(w.log).toContain(`listed ${APP}`);
  });
});

/** Processors that are shared evenly by whatever works on them. */
function processors(count: number): { work(ms: number): Promise<void>; stop(): void } {
  const STEP_MS = 10;
  const jobs: { left: number; done: () => void }[] = [];
  const timer = setInterval(() => {
    const share = Math.min(1, count / jobs.length) * STEP_MS;
    for (const job of [...jobs]) {
      job.left -= share;
      if (job.left > 0) continue;
      jobs.splice(jobs.indexOf(job), 1);
      job.done();
    }
  }, STEP_MS);
  return { work: (ms) => new Promise((done) => jobs.push({ left: ms, done })), stop: () => clearInterval(timer) };
}

it("a host that stops publishes nothing of what its apps go through, so its exports stay as they were", async () => {
  const w = world({ [APP]: {} });
  await w.start();
  await w.pass(1_000);
  const before = w.published();
  const stopped = w.runtime.stop(0);
  await w.pass(1_000);
  await stopped;
  expect(w.view(APP).state).toBe("stopped");
  expect(w.published()).toBe(before);
});
