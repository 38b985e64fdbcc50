import { readFileSync } from "node:fs";
import { isObject } from "../../../src/base/json.ts";

type Node = Record<string, unknown>;

/** Gives whole numbers from 0 to below `n`; the source of every choice that is made here. */
export type Dice = (n: number) => number;

/** Writes a value as YAML in a manner that the dice choose: order of keys, comments, spacing, quotes, flow or block style, anchors. It means the same. */
export function dress(value: unknown, dice: Dice): string {
  const anchors = new Map<string, string>();
  let names = 0;
  const text = (v: string): string => {
    if (dice(2) === 0 && /^[a-z][a-z0-9_./-]*$/i.test(v) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(v)) return v;
    return dice(2) === 0 && !v.includes("'") && !v.includes("\n") ? `'${v}'` : JSON.stringify(v);
  };
  const flow = (v: unknown): string => {
    if (Array.isArray(v)) return `[${v.map(flow).join(dice(2) === 0 ? "," : ", ")}]`;
    if (isObject(v))
      return `{ ${shuffled(Object.entries(v), dice)
        .map(([key, item]) => `${JSON.stringify(key)}: ${flow(item)}`)
        .join(", ")} }`;
    return typeof v === "string" ? JSON.stringify(v) : String(v);
  };
  const comment = (indent: string): string => (dice(4) === 0 ? `${dice(2) === 0 ? "\n" : ""}${indent}# note ${dice(100)}: {not: [yaml\n` : "");
  const block = (v: unknown, indent: string): string => {
    if (!isObject(v) && !Array.isArray(v)) return ` ${typeof v === "string" ? text(v) : String(v)}${dice(5) === 0 ? "   # here" : ""}\n`;
    const empty = Object.keys(v).length === 0;
    const key = JSON.stringify(v);
    if (!empty && anchors.has(key) && dice(2) === 0) return ` *${anchors.get(key)!}\n`;
    if (empty || dice(3) === 0) return ` ${flow(v)}\n`;
    const anchor = dice(3) === 0 ? ` &a${(names += 1)}` : "";
    const lines = Array.isArray(v)
      ? v.map((item) => `${comment(indent)}${indent}-${isObject(item) || Array.isArray(item) ? ` ${flow(item)}\n` : block(item, indent)}`)
      : shuffled(Object.entries(v), dice).map(
          ([name, item]) =>
            `${comment(indent)}${indent}${dice(3) === 0 ? JSON.stringify(name) : name}:${block(item, `${indent}${dice(2) === 0 ? "  " : "    "}`)}`,
        );
    // Only now: an alias inside its own anchor would be a circle.
    if (anchor !== "") anchors.set(key, anchor.slice(2));
    return `${anchor}\n${lines.join("")}`;
  };
  const body = shuffled(Object.entries(value as Node), dice)
    .map(([name, item]) => `${comment("")}${name}:${block(item, "  ")}`)
    .join("");
  const whole = `${dice(3) === 0 ? "\uFEFF" : ""}${dice(3) === 0 ? "---\n" : ""}${body}${dice(3) === 0 ? "# the end" : ""}`;
  return dice(3) === 0 ? whole.replaceAll("\n", "\r\n") : whole;
}

/** A value with some of the schema's defaults written out, in maps that are there anyway and in `more`, whose absence means the same as emptiness. */
export function withDefaults(value: Node, schemaFile: string, pointer: string, dice: Dice, more: readonly string[] = []): Node {
  const { properties = {} } = at(schemaFile, pointer) as { properties?: Record<string, Node> };
  const out: Node = { ...value };
  for (const [key, raw] of Object.entries(properties)) {
    const { file, node, where } = follow(schemaFile, `${pointer}/properties/${key}`, raw);
    if (!Object.hasOwn(out, key) && more.includes(key) && dice(2) === 0) out[key] = {};
    const inner = out[key];
    if (isObject(inner) && isObject(node["properties"])) out[key] = withDefaults(inner, file, where, dice);
    else if (Object.hasOwn(node, "default") && !Object.hasOwn(out, key) && dice(2) === 0) out[key] = node["default"];
  }
  return out;
}

function shuffled<T>(items: readonly T[], dice: Dice): T[] {
  const rest = [...items];
  const out: T[] = [];
  while (rest.length > 0) out.push(...rest.splice(dice(rest.length), 1));
  return out;
}

function follow(file: string, where: string, node: Node): { file: string; where: string; node: Node } {
  const { $ref: ref, ...beside } = node;
  if (typeof ref !== "string") return { file, where, node };
  const [other, pointer] = ref.split("#") as [string, string];
  const target = other === "" ? file : other;
  const found = follow(target, pointer, at(target, pointer));
  return { ...found, node: { ...found.node, ...beside } };
}

const schemas = new Map<string, Node>();

function at(file: string, pointer: string): Node {
  const schema = schemas.get(file) ?? (JSON.parse(readFileSync(`schemas/${file}`, "utf8")) as Node);
  schemas.set(file, schema);
  return pointer
    .split("/")
    .slice(1)
    .reduce((node, token) => node[token] as Node, schema);
}
