import { mkdir, readFile, rename, rm, symlink, unlink, utimes, writeFile } from "node:fs/promises";
import { watch as fsWatch } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { writeFileAtomic } from "../../src/files/atomic-write.ts";
import { watchWorkspace, type WatchOptions, type WorkspaceWatch } from "../../src/files/watch.ts";
import { testFolder, until } from "./support/inbox.ts";

interface Setup {
  readonly root: string;
  readonly topology: string;
  readonly watch: WorkspaceWatch;
  readonly problems: string[];
  /** How many changes were told so far. */
  readonly changes: () => number;
  /** Waits for the next change after `from`, then for quiet; gives how many were told. */
  readonly settled: (from: number) => Promise<number>;
  /** Waits long enough for a change to be told and gives how many were. */
  readonly quiet: (from: number) => Promise<number>;
}

const DEBOUNCE = 50;

async function setup(options: Partial<WatchOptions> = {}): Promise<Setup> {
  const root = await testFolder();
  const topology = path.join(root, "topology", "topology.yaml");
  await mkdir(path.dirname(topology), { recursive: true });
  await writeFile(topology, "a: 1\n");
  let count = 0;
  const problems: string[] = [];
  const watch = watchWorkspace({
    set: { files: [topology], patterns: [path.join(root, "apps", "*", "manifest.yaml"), path.join(root, "topology", "policies", "*.yaml")] },
    mode: "auto",
    debounceMs: DEBOUNCE,
    maxWaitMs: 500,
    onChange: () => (count += 1),
    onProblem: (m) => problems.push(m),
    ...options,
  });
  onTestFinished(() => watch.close());
  await watch.ready;
  return {
    root,
    topology,
    watch,
    problems,
    changes: () => count,
    settled: async (from) => {
      await until(() => count > from);
      await sleep(DEBOUNCE * 5);
      return count - from;
    },
    quiet: async (from) => {
      await sleep(DEBOUNCE * 8);
      return count - from;
    },
  };
}

test("a plain save, an atomic rename and the way of vim are one change each", async () => {
  const { topology, settled, changes, root } = await setup();
  await writeFile(topology, "a: 2\n");
  expect(await settled(0)).toBe(1);
  await writeFileAtomic(topology, "a: 3\n");
  expect(await settled(1)).toBe(1);
  // vim: proves that it can make files (4913), moves the old file away, writes the new one, deletes the old.
  await writeFile(path.join(root, "topology", "4913"), "");
  await unlink(path.join(root, "topology", "4913"));
  await writeFile(path.join(root, "topology", ".topology.yaml.swp"), "swap");
  await rename(topology, `${topology}~`);
  await writeFile(topology, "a: 4\n");
  await unlink(`${topology}~`);
  expect(await settled(2)).toBe(1);
  // VS Code: truncates, then writes.
  await writeFile(topology, "");
  await writeFile(topology, "a: 5\n");
  expect(await settled(3)).toBe(1);
  expect(changes()).toBe(4);
});

test("backups, swap files, touches and saves without change tell nothing", async () => {
  const { topology, root, quiet } = await setup();
  for (const name of [
    "topology.yaml~",
    ".topology.yaml.swp",
    "4913",
    "#topology.yaml#",
    ".#topology.yaml",
    "topology.yaml.bak",
    "topology.yaml.orig",
    "x.tmp",
    "notes.md",
  ])
    await writeFile(path.join(root, "topology", name), name);
  await mkdir(path.join(root, "topology", "policies"));
  await writeFile(path.join(root, "topology", "policies", "rules.yaml-bak.20170724"), "x");
  await writeFile(topology, "a: 1\n");
  await utimes(topology, new Date(), new Date());
  await writeFileAtomic(topology, "a: 1\n");
  expect(await quiet(0)).toBe(0);
});

test("folders that come later are seen, with files written in them at once, and so are renames and removals", async () => {
  const { root, settled, changes } = await setup();
  await mkdir(path.join(root, "apps", "new"), { recursive: true });
  await writeFile(path.join(root, "apps", "new", "manifest.yaml"), "x");
  await settled(0);
  let from = changes();
  await writeFile(path.join(root, "apps", "new", "manifest.yaml"), "y");
  expect(await settled(from)).toBe(1);
  from = changes();
  await rename(path.join(root, "apps", "new"), path.join(root, "apps", "newer"));
  await settled(from);
  from = changes();
  await writeFile(path.join(root, "apps", "newer", "manifest.yaml"), "z");
  expect(await settled(from)).toBe(1);
  from = changes();
  await rm(path.join(root, "apps"), { recursive: true });
  await settled(from);
  from = changes();
  await mkdir(path.join(root, "apps", "again"), { recursive: true });
  await writeFile(path.join(root, "apps", "again", "manifest.yaml"), "x");
  await settled(from);
});

test("a mounted ConfigMap that swaps its ..data link is one change with the new content", async () => {
  const { root, watch, settled } = await setup();
  const mount = path.join(root, "mount");
  await mkdir(path.join(mount, "..ts1"), { recursive: true });
  await writeFile(path.join(mount, "..ts1", "topology.yaml"), "a: 1\n");
  await symlink("..ts1", path.join(mount, "..data"));
  await symlink("..data/topology.yaml", path.join(mount, "topology.yaml"));
  await watch.update({ files: [path.join(mount, "topology.yaml")], patterns: [] });
  await mkdir(path.join(mount, "..ts2"));
  await writeFile(path.join(mount, "..ts2", "topology.yaml"), "a: 2\n");
  await symlink("..ts2", path.join(mount, "..data_tmp"));
  await rename(path.join(mount, "..data_tmp"), path.join(mount, "..data"));
  await rm(path.join(mount, "..ts1"), { recursive: true });
  expect(await settled(0)).toBe(1);
  expect(await readFile(path.join(mount, "topology.yaml"), "utf8")).toBe("a: 2\n");
  await mkdir(path.join(mount, "..ts3"));
  await writeFile(path.join(mount, "..ts3", "topology.yaml"), "a: 3\n");
  await symlink("..ts3", path.join(mount, "..data_tmp"));
  await rename(path.join(mount, "..data_tmp"), path.join(mount, "..data"));
  await rm(path.join(mount, "..ts2"), { recursive: true });
  expect(await settled(1)).toBe(1);
});

test("a link that is swapped for another is a change, whatever stays behind: in front of the file, in the way to it, further along", async () => {
  const { root, watch, settled, changes } = await setup({ intervalMs: 600_000 });
  const swap = async (link: string, target: string): Promise<void> => {
    await symlink(target, path.join(path.dirname(link), "..tmp"));
    await rename(path.join(path.dirname(link), "..tmp"), link);
  };
  for (const version of ["v1", "v2"]) {
    for (const folder of ["cm", "releases", "far"]) {
      await mkdir(path.join(root, folder, `..${version}`, "policies"), { recursive: true });
      for (const file of ["p.yaml", "policies/p.yaml"]) await writeFile(path.join(root, folder, `..${version}`, file), version);
    }
  }
  await symlink("..v1", path.join(root, "cm", "..data"));
  await symlink("..data/p.yaml", path.join(root, "cm", "p.yaml"));
  await symlink("..v1", path.join(root, "releases", "current"));
  await symlink("..v1", path.join(root, "far", "current"));
  await symlink(path.join(root, "far", "current", "p.yaml"), path.join(root, "topology", "far.yaml"));
  await watch.update({
    files: [path.join(root, "topology", "far.yaml")],
    patterns: [path.join(root, "cm", "*.yaml"), path.join(root, "releases", "current", "policies", "*.yaml")],
  });
  await settled(-1);
  for (const link of [path.join(root, "cm", "..data"), path.join(root, "releases", "current"), path.join(root, "far", "current")]) {
    for (const target of ["..v2", "..v1", "..gone", "..v2"]) {
      const from = changes();
      await swap(link, target);
      await settled(from);
    }
  }
  // What stands behind the links is watched as well, and only there.
  for (const file of ["cm/..v2/p.yaml", "releases/..v2/policies/p.yaml", "far/..v2/p.yaml"]) {
    const from = changes();
    await writeFile(path.join(root, file), "edited");
    expect(await settled(from)).toBe(1);
  }
});

test("a burst of saves is a handful of changes, and the last content is told", async () => {
  let told = "";
  const root = await testFolder();
  let count = 0;
  const policies = path.join(root, "topology", "policies");
  await mkdir(policies, { recursive: true });
  const watch = watchWorkspace({
    set: { files: [], patterns: [path.join(policies, "*.yaml")] },
    mode: "auto",
    onChange: () => {
      count += 1;
      void readFile(path.join(policies, "p0.yaml"), "utf8").then((text) => (told = text));
    },
    onProblem: () => {},
  });
  onTestFinished(() => watch.close());
  await watch.ready;
  const start = performance.now();
  for (let round = 0; round < 25; round += 1) {
    for (let i = 0; i < 20; i += 1) await writeFile(path.join(policies, `p${i}.yaml`), `round: ${round}`);
    await sleep(150);
  }
  await until(() => told === "round: 24");
  // At most one each two seconds while it goes on; a busy machine takes longer than the five seconds that this is.
  expect(count).toBeLessThanOrEqual(Math.ceil((performance.now() - start) / 2000) + 2);
});

test.each(["ENOSPC", "EMFILE"])("%s: one message that names the sysctl, and polling takes over", async (code) => {
  let calls = 0;
  const { topology, watch, problems, settled } = await setup({
    intervalMs: 100,
    watchFolder: (folder, onEvent) => {
      calls += 1;
      if (calls > 1) throw Object.assign(new Error("watch"), { code });
      return fsWatch(folder, { persistent: false }, (_e, name) => onEvent(name));
    },
  });
  expect(calls).toBe(2);
  expect(watch.state).toBe("polling");
  expect(problems).toEqual([expect.stringMatching(/sysctl fs\.inotify\.max_user_(watches|instances)=.*every 0\.1 s/)]);
  await writeFile(topology, "a: 2\n");
  expect(await settled(0)).toBe(1);
  await writeFile(topology, "a: 3\n");
  expect(await settled(1)).toBe(1);
  expect(problems).toHaveLength(1);
});

test("a fault that comes later is caught too", async () => {
  let fail: (error: Error) => void = () => {};
  const { topology, watch, problems, settled } = await setup({
    intervalMs: 100,
    watchFolder: (folder, onEvent) => {
      const watcher = fsWatch(folder, { persistent: false }, (_e, name) => onEvent(name));
      fail = (error) => watcher.emit("error", error);
      return watcher;
    },
  });
  fail(Object.assign(new Error("watch"), { code: "ENOSPC" }));
  expect([watch.state, problems.length]).toEqual(["polling", 1]);
  await writeFile(topology, "a: 2\n");
  expect(await settled(0)).toBe(1);
});

test("a file system without events: the check now and then sees a change", async () => {
  const deaf = { close: () => {}, on: () => deaf } as unknown as ReturnType<typeof fsWatch>;
  const { topology, watch, settled } = await setup({ intervalMs: 100, watchFolder: () => deaf });
  expect(watch.state).toBe("events");
  await writeFile(topology, "a: 2\n");
  expect(await settled(0)).toBe(1);
});

test("mode poll needs no events; mode events says so and does not poll", async () => {
  const poll = await setup({ mode: "poll", intervalMs: 100, watchFolder: () => expect.unreachable("polls only") });
  await writeFile(poll.topology, "a: 2\n");
  expect(await poll.settled(0)).toBe(1);
  const events = await setup({
    mode: "events",
    watchFolder: () => {
      throw Object.assign(new Error("watch"), { code: "ENOSPC" });
    },
  });
  expect(events.watch.state).toBe("events");
  expect(events.problems[0]).toContain("only checked every 30 s");
});

test("the kit's own writes tell nothing, a person's edit after them does", async () => {
  const { topology, watch, quiet, settled } = await setup();
  watch.ignoreOwnWrite(topology, "a: own\n");
  await writeFileAtomic(topology, "a: own\n");
  expect(await quiet(0)).toBe(0);
  await writeFile(topology, "a: person\n");
  expect(await settled(0)).toBe(1);
});

test("a change between loading and watching is told", async () => {
  const { topology, watch, changes } = await setup();
  await watch.update({ files: [topology], patterns: [] }, new Map([[topology, "a: 1\n"]]));
  expect(changes()).toBe(0);
  await watch.update({ files: [topology], patterns: [] }, new Map([[topology, "a: what was loaded\n"]]));
  expect(changes()).toBe(1);
});

test("what could not be read is looked at again at the next check, once", async () => {
  const { topology, watch, changes, settled, quiet } = await setup({ intervalMs: 100 });
  await watch.update({ files: [topology], patterns: [] }, new Map(), true);
  expect(changes()).toBe(0);
  expect(await settled(0)).toBe(1);
  expect(await quiet(1)).toBe(0);
});

test("after close nothing is told", async () => {
  const { topology, watch, quiet } = await setup();
  watch.close();
  await writeFile(topology, "a: 2\n");
  expect(await quiet(0)).toBe(0);
});
