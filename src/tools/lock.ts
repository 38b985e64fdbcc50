import { ConflictError } from "../base/errors.ts";
import { isObject, own, setOwn } from "../base/json.ts";
import type { AppPins, ToolsLock } from "../../generated/tools-lock.d.ts";
import { isSingle, type PinDifference, pinEntries, pinIn, SECTIONS, selector, SINGLE_KINDS, type PinKind, type SingleKind } from "./pins.ts";

/** A lock in which nothing is accepted. */
export const EMPTY_LOCK: ToolsLock = Object.freeze({ lock: 1, apps: {} });

/** One change to a lock: the item gets this pin, or none (null: it is taken out). `seen` is the accepted pin the person saw. */
export interface LockChange {
  readonly app: string;
  readonly kind: PinKind;
  readonly name: string;
  readonly pin: string | null;
  readonly seen: string | null;
}

/**
 * One difference as a person saw it: it is accepted only while the server shows exactly this (`pin`; null for an item that is gone) and the
 * lock still holds what it held then (`accepted`).
 */
export type SeenDifference = Pick<PinDifference, "app" | "kind" | "name" | "pin" | "accepted">;

/** What to accept: `APP`, `APP/TOOL`, `APP/prompt:NAME` … as it is now, or differences exactly as they were seen. */
export type LockSelection = readonly (string | SeenDifference)[];

const PIN = /^sha256:[0-9a-f]{64}$/;

/** Reads tools.lock.json; a reason in plain words when it is not one. Names are own keys, whatever they are. */
export function readLock(text: string): { readonly ok: true; readonly lock: ToolsLock } | { readonly ok: false; readonly reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const merge = /^(?:<{7}|={7}|>{7})/m.test(text) ? " (it has merge conflict marks in it: keep one side, then run `aurora-mcp lock`)" : "";
    return { ok: false, reason: `it is not JSON: ${(error as Error).message}${merge}` };
  }
  if (!isObject(value)) return { ok: false, reason: "it is not a JSON object" };
  if (own(value, "lock") !== 1) return { ok: false, reason: `its format version is ${JSON.stringify(own(value, "lock") ?? null)}; this kit knows version 1` };
  const apps = own(value, "apps");
  if (!isObject(apps)) return { ok: false, reason: "it has no apps" };
  for (const [app, pins] of Object.entries(apps)) {
    if (!isObject(pins)) return { ok: false, reason: `the entry of ${app} is not an object` };
    for (const [section, entries] of Object.entries(pins)) {
      const single = SINGLE_KINDS.includes(section as SingleKind);
      const list: [string, unknown][] = single ? [["", entries]] : isObject(entries) ? Object.entries(entries) : [["", null]];
      if (!single && !Object.values(SECTIONS).includes(section as (typeof SECTIONS)[keyof typeof SECTIONS]))
        return { ok: false, reason: `${app} has an unknown key ${section}` };
      for (const [name, pin] of list) {
        if (typeof pin !== "string" || !PIN.test(pin))
          return { ok: false, reason: `${app}, ${section}${name === "" ? "" : ` ${name}`}: a pin is sha256: and 64 hexadecimal digits` };
      }
    }
  }
  return { ok: true, lock: value as unknown as ToolsLock };
}

/** The text of a lock: keys sorted, two spaces, a newline at the end; equal locks give equal bytes, so diffs in git are small. */
export function writeLock(lock: ToolsLock): string {
  const apps = {};
  for (const app of Object.keys(lock.apps).sort()) {
    const pins = sortedPins(lock.apps[app]!);
    if (Object.keys(pins).length > 0) setOwn(apps, app, pins);
  }
  return `${JSON.stringify({ $schema: "../schemas/tools-lock.schema.json", lock: 1, apps }, null, 2)}\n`;
}

function sortedPins(pins: AppPins): AppPins {
  const out: AppPins = {};
  for (const kind of SINGLE_KINDS) if (pins[kind] !== undefined) out[kind] = pins[kind];
  for (const section of ["prompts", "resource_templates", "tools"] as const) {
    const names = Object.keys(pins[section] ?? {}).sort();
    if (names.length === 0) continue;
    const sorted = {};
    for (const name of names) setOwn(sorted, name, pins[section]![name]);
    out[section] = sorted;
  }
  return out;
}

/**
 * A new lock with these changes. Throws a {@link ConflictError} when an item's accepted pin is no longer the one the person saw: an
 * older view never overwrites a newer decision.
 */
export function acceptInto(lock: ToolsLock, changes: readonly LockChange[]): ToolsLock {
  const apps = structuredClone(lock.apps);
  for (const change of changes) {
    const pins = (own(apps, change.app) as AppPins | undefined) ?? {};
    const now = pinIn(pins, change.kind, change.name) ?? null;
    if (now !== change.seen && now !== change.pin) {
      throw new ConflictError(
        `tools.lock.json was changed meanwhile for ${selector(change.app, change)}: look at \`aurora-mcp lock\` again before you accept it`,
      );
    }
    setPin(pins, change.kind, change.name, change.pin);
    setOwn(apps, change.app, pins);
    if (pinEntries(pins).length === 0) delete apps[change.app];
  }
  return { ...lock, apps };
}

/**
 * The open differences that a selection means; all of them without one. What was accepted meanwhile as it was seen needs nothing more.
 * Throws a {@link ConflictError} when a difference is not what was seen any more.
 */
export function selectDifferences<D extends PinDifference>(all: readonly D[], selection: LockSelection | undefined): D[] {
  const open = all.filter((entry) => entry.state !== "accepted");
  if (selection === undefined) return open;
  const names = new Set(selection.filter((word) => typeof word === "string"));
  const chosen = new Set(open.filter((entry) => names.has(entry.app) || names.has(selector(entry.app, entry))));
  for (const seen of selection) {
    if (typeof seen === "string") continue;
    const now = all.find((entry) => entry.app === seen.app && entry.kind === seen.kind && entry.name === seen.name);
    if (now?.state === "accepted" && now.pin === seen.pin) continue;
    if (now === undefined || now.pin !== seen.pin || now.accepted !== seen.accepted)
      throw new ConflictError(`${selector(seen.app, seen)} is not what was shown any more, so nothing was accepted: look at it again`);
    chosen.add(now);
  }
  return [...chosen];
}

/** Sets or (with null) removes the pin of one item, in place. */
export function setPin(pins: AppPins, kind: PinKind, name: string, pin: string | null): void {
  if (isSingle(kind)) {
    if (pin === null) delete pins[kind];
    else pins[kind] = pin;
    return;
  }
  const section = (pins[SECTIONS[kind]] ??= {});
  if (pin === null) delete section[name];
  else setOwn(section, name, pin);
}
