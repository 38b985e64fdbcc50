import { isObject, setOwn } from "../base/json.ts";
import type { KeyPath } from "./types.ts";

/** One entry of a list in a file that may have errors. */
export interface SoundItem<T> {
  readonly index: number;
  readonly item: T;
  /** Whether nothing in it is wrong. */
  readonly whole: boolean;
}

/** The entries of a list at a key path that are there; what is wrong in the others is told already. */
export function soundItems<T>(items: readonly (T | undefined)[] | undefined, wrong: readonly KeyPath[] | undefined, at: KeyPath): SoundItem<T>[] {
  return (items ?? []).flatMap((item, index) =>
    item === undefined ? [] : [{ index, item, whole: !wrong?.some((path) => isUnderPath(path, [...at, index])) }],
  );
}

/** Whether a key path is another one, or leads on from it. */
export function isUnderPath(path: KeyPath, parent: KeyPath): boolean {
  return parent.every((step, index) => path[index] === step);
}

/** A value without the lists in which something is wrong: one without some of its items would be another list. */
export function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutHoles);
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const kept = withoutHoles(child);
    if (kept !== undefined) setOwn(out, key, kept);
  }
  return out;
}
