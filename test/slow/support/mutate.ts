import { isObject } from "../../../src/base/json.ts";

/** Gives whole numbers from 0 to below `n`. */
export type Dice = (n: number) => number;

export const MUTATIONS = ["byte", "line", "key", "value"] as const;
export type MutationKind = (typeof MUTATIONS)[number];

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  3.5,
  10_000_000_000,
  "",
  "x",
  "low",
  "*",
  "10ms",
  "1h",
  "${NOT_SET_ANYWHERE}",
  "${PATH}",
  "${",
  "../nowhere",
  [],
  {},
  ["x"],
  { x: 1 },
  "a".repeat(5_000),
  "\u0000",
  "ÿ中\u202e",
];
const KEYS: readonly string[] = ["mcp", "command", "env", "enabled", "rules", "id", "tools", "apps", "commandd", "", "__proto__", "x-note", "null", "1"];

/** A generator of numbers (mulberry32), so that one seed gives one run. */
export function diceOf(seed: number): Dice {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** A damaged copy of a configuration file that holds `value`. */
export function mutate(value: object, kind: MutationKind, dice: Dice): Buffer {
  switch (kind) {
    case "byte":
      return mutateBytes(Buffer.from(toYaml(value)), dice);
    case "line":
      return Buffer.from(mutateLines(toYaml(value).split("\n"), dice).join("\n"));
    case "key":
      return Buffer.from(toYaml(mutateAt(value, dice, renameKey)));
    case "value":
      return Buffer.from(toYaml(mutateAt(value, dice, replaceValue)));
  }
}

/** Block YAML, strings in double quotes. */
export function toYaml(value: unknown, indent = ""): string {
  if (Array.isArray(value) && value.length > 0) return value.map((item) => `\n${indent}- ${inline(item, `${indent}  `)}`).join("");
  if (isObject(value) && Object.keys(value).length > 0) {
    const text = Object.entries(value)
      .map(
        ([key, item]) =>
          `${indent}${/^[a-z_]\w*$/i.test(key) ? key : JSON.stringify(key)}:${isBranch(item) ? `${Array.isArray(item) ? "" : "\n"}${toYaml(item, `${indent}  `)}` : ` ${JSON.stringify(item)}`}`,
      )
      .join("\n");
    return indent === "" ? `${text}\n` : text;
  }
  return JSON.stringify(value);
}

function inline(item: unknown, indent: string): string {
  return isBranch(item) ? JSON.stringify(item).replaceAll("\n", `\n${indent}`) : JSON.stringify(item);
}

function isBranch(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function mutateBytes(bytes: Buffer, dice: Dice): Buffer {
  const at = dice(bytes.length);
  const byte = Buffer.from([dice(256)]);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at + 1)];
  const parts = [[head, byte, tail], [head, tail], [head, byte, bytes.subarray(at)], [head]];
  return Buffer.concat(parts[dice(parts.length)]!);
}

function mutateLines(lines: string[], dice: Dice): string[] {
  const at = dice(lines.length);
  const line = lines[at]!;
  const by: readonly string[][] = [
    [],
    [line, line],
    [` ${line}`],
    [`\t${line}`],
    [line.trimStart()],
    [`# ${line}`],
    [lines[dice(lines.length)]!],
    [line, "---"],
    [line.slice(0, dice(line.length + 1))],
  ];
  return lines.toSpliced(at, 1, ...by[dice(by.length)]!);
}

/** Changes one map or list somewhere inside. */
function mutateAt(value: object, dice: Dice, change: (branch: Record<string, unknown>, dice: Dice) => void): object {
  const copy = JSON.parse(JSON.stringify(value)) as object;
  const branches: Record<string, unknown>[] = [];
  const visit = (part: unknown): void => {
    if (!isBranch(part)) return;
    branches.push(part as Record<string, unknown>);
    for (const child of Object.values(part as object)) visit(child);
  };
  visit(copy);
  change(branches[dice(branches.length)]!, dice);
  return copy;
}

function renameKey(branch: Record<string, unknown>, dice: Dice): void {
  const keys = Object.keys(branch);
  const key = keys[dice(keys.length)]!;
  const value = branch[key];
  if (dice(4) > 0) delete branch[key];
  const name = dice(2) === 0 ? KEYS[dice(KEYS.length)]! : `${key.slice(0, -1)}${"xyz"[dice(3)]!}`;
  if (dice(3) > 0)
    Object.defineProperty(branch, Array.isArray(branch) ? String(branch.length) : name, { value, enumerable: true, configurable: true, writable: true });
}

function replaceValue(branch: Record<string, unknown>, dice: Dice): void {
  const keys = Object.keys(branch);
  branch[keys[dice(keys.length)]!] = VALUES[dice(VALUES.length)];
}
