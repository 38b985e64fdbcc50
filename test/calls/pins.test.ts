import { fork } from "node:child_process";
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPinStore, type PinDocument } from "../../src/calls/pin-store.ts";
import { openDocument } from "../../src/files/document-store.ts";
import { openLockFile } from "../../src/files/lock-file.ts";
import { acceptInto } from "../../src/tools/lock.ts";
import { pinOf, type PinItem } from "../../src/tools/pins.ts";

const item = (name: string, description = "d"): PinItem => ({ kind: "tool", name, definition: { name, description }, pin: pinOf({ name, description }) });

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "pins-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("automatic pins", () => {
  it("are kept over a restart, and an item keeps its first pin", async () => {
    const file = path.join(folder, "pins.json");
    const store = await openPinStore(openDocument<PinDocument>(file));
    expect(store.automatic("dict")).toBeUndefined();
    await store.adopt("dict", [item("lookup"), item("__proto__")]);
    await store.adopt("dict", [item("lookup", "changed"), item("other")]);
    const again = await openPinStore(openDocument<PinDocument>(file));
    expect(again.automatic("dict")?.tools?.["lookup"]).toBe(item("lookup").pin);
    expect(Object.keys(again.automatic("dict")!.tools!)).toEqual(["lookup", "__proto__", "other"]);
    expect(again.definition(item("lookup").pin)).toEqual({ name: "lookup", description: "d" });
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  it("follow what a person accepts", async () => {
    const store = await openPinStore(openDocument<PinDocument>(path.join(folder, "pins.json")));
    await store.adopt("dict", [item("lookup")]);
    await store.accept("dict", [item("lookup", "changed")]);
    expect(store.automatic("dict")?.tools?.["lookup"]).toBe(item("lookup", "changed").pin);
    expect(store.definition(item("lookup").pin)).toBeDefined();
  });

  it("in a file that is no store are an error and not a fresh start", async () => {
    await writeFile(path.join(folder, "pins.json"), "{");
    await expect(openPinStore(openDocument<PinDocument>(path.join(folder, "pins.json")))).rejects.toThrow("pins.json");
    await writeFile(path.join(folder, "pins.json"), '{"format":7,"apps":{},"definitions":{}}');
    await expect(openPinStore(openDocument<PinDocument>(path.join(folder, "pins.json")))).rejects.toThrow("unknown format");
  });
});

describe("the lock file", () => {
  const accept = (name: string) => (lock: Parameters<typeof acceptInto>[0]) =>
    acceptInto(lock, [{ app: "dict", kind: "tool", name, pin: pinOf(name), seen: null }]);

  it("writers at the same moment lose nothing", async () => {
    const file = path.join(folder, "tools.lock.json");
    await Promise.all(Array.from({ length: 20 }, (_, i) => openLockFile(file).update(accept(`t${i}`))));
    expect(Object.keys((await openLockFile(file).read()).apps["dict"]!.tools!)).toHaveLength(20);
    const text = await readFile(file, "utf8");
    await openLockFile(file).update(accept("t1"));
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it("a conflict changes nothing and gives the guard back", async () => {
    const file = path.join(folder, "tools.lock.json");
    const lock = openLockFile(file);
    await lock.update(accept("t"));
    await expect(lock.update((l) => acceptInto(l, [{ app: "dict", kind: "tool", name: "t", pin: pinOf("other"), seen: null }]))).rejects.toThrow(
      "changed meanwhile",
    );
    expect((await lock.read()).apps["dict"]!.tools!["t"]).toBe(pinOf("t"));
    await expect(stat(`${file}.guard`)).rejects.toThrow("ENOENT");
  });

  it("a guard that a dead process or an old crash left is taken over", async () => {
    const file = path.join(folder, "tools.lock.json");
    const child = fork("-e", [], { execArgv: ["-e", ""], stdio: "ignore" });
    await new Promise((resolve) => child.on("exit", resolve));
    await writeFile(`${file}.guard`, `${child.pid}\n`);
    await openLockFile(file).update(accept("a"));
    await writeFile(`${file}.guard`, `${process.pid}\n`);
    const old = new Date(Date.now() - 60_000);
    await utimes(`${file}.guard`, old, old);
    await openLockFile(file).update(accept("b"));
    expect(Object.keys((await openLockFile(file).read()).apps["dict"]!.tools!)).toEqual(["a", "b"]);
  });

  it("that cannot be used is an error that names it, never an empty lock", async () => {
    const file = path.join(folder, "tools.lock.json");
    expect((await openLockFile(file).read()).apps).toEqual({});
    await writeFile(file, '{"lock":1,"apps":{"a":{"tools":{"t":"x"}}}}');
    await expect(openLockFile(file).read()).rejects.toThrow(/tools\.lock\.json cannot be used: a, tools t/);
    await expect(openLockFile(file).update(accept("a"))).rejects.toThrow("cannot be used");
  });
});
