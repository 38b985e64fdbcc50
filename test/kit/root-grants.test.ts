import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRootGrants } from "../../src/kit/root-grants.ts";
import type { AppPlan, Plan } from "../../src/plan/types.ts";
import { appPlan, stdioSpec } from "../support/app-plan.ts";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(path.join(tmpdir(), "aurora-roots-")));
  await mkdir(path.join(dir, "granted"));
  await mkdir(path.join(dir, "secret"));
  await symlink("granted", path.join(dir, "link"));
});
afterEach(() => rm(dir, { recursive: true }));

const at = (name: string): string => path.join(dir, name);
const app = (...names: string[]): AppPlan => appPlan(stdioSpec("x", []), { package: "demo", grants: { roots: names.map(at) } });
const plan = (one: AppPlan): Plan => ({ apps: new Map([[one.package, one]]) }) as unknown as Plan;
const shown = (name: string, uri = name) => ({ uri: pathToFileURL(at(uri)).href, name });

test("a root is given as the folder that it leads to, and not once its link leads elsewhere, whatever is reloaded", async () => {
  const told: string[] = [];
  const grants = createRootGrants((_app, message) => told.push(message));
  const demo = app("link", "secret/../granted", "later");
  grants.follow(plan(demo));
  expect(grants.answer(demo)).toEqual({ roots: [shown("link", "granted"), shown("granted"), shown("later")] });

  await rm(at("link"));
  await symlink("secret", at("link"));
  await symlink("secret", at("later"));
  grants.follow(plan(demo));
  expect(grants.answer(demo)).toEqual({ roots: [shown("granted")] });
  expect(told).toEqual([
    `root ${at("link")} is not shown: it leads to ${at("secret")}, and led to ${at("granted")} when it was granted; take it out of grants.roots and put it in again to grant what is there now`,
    expect.stringContaining(`root ${at("later")} is not shown`),
  ]);

  grants.follow(plan(app("granted")));
  grants.follow(plan(demo));
  expect(grants.answer(demo)).toEqual({ roots: [shown("link", "secret"), shown("granted"), shown("later", "secret")] });
});

test("a folder above a root that becomes a link widens nothing, and a link that leads nowhere is not shown", async () => {
  const grants = createRootGrants(() => undefined);
  await mkdir(at("granted/in"));
  await mkdir(at("secret/in"));
  await symlink("nowhere", at("dangling"));
  const demo = app("link/in", "dangling");
  grants.follow(plan(demo));
  expect(grants.answer(demo)).toEqual({ roots: [{ uri: pathToFileURL(at("granted/in")).href, name: "in" }] });
  await rm(at("link"));
  await symlink("secret", at("link"));
  await mkdir(at("nowhere"));
  expect(grants.answer(demo)).toEqual({ roots: [] });
});

test("a file: URL is a root too", () => {
  const grants = createRootGrants(() => undefined);
  const demo = appPlan(stdioSpec("x", []), { package: "demo", grants: { roots: [pathToFileURL(at("link")).href] } });
  grants.follow(plan(demo));
  expect(grants.answer(demo)).toEqual({ roots: [shown("link", "granted")] });
});
