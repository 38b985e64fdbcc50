import type { Diagnostic } from "../base/diagnostics.ts";
import { errorAt, type DiagnosticCode, type DiagnosticParts } from "../base/diagnostic-codes.ts";
import { MAX_TIMER_MS, parseDuration, parseRate, parseSize } from "../base/durations.ts";
import { setOwn } from "../base/json.ts";
import { interpolate, type VariableSource } from "./interpolate.ts";
import { convertText, isPlainNumber, PLAIN_NUMBER, wantsNumber } from "./numbers.ts";
import { formatPath, plainValue, type ListNode, type Locator, type MapNode, type ScalarNode, type Span, type TextNode } from "./nodes.ts";
import { isSecretPath } from "./secrets.ts";
import type { Shape, ShapeType } from "./shape.ts";
import { allowedKeys, suggestKey, suggestValue, wordList } from "./suggest.ts";
import { formatWords, kindWords, repairWords, shorten, typeWords, unitWords } from "./value-words.ts";
import type { KeyPath, Origin } from "./types.ts";

/** What a check gives. Parts of the value that are wrong are left out, so that what is there always fits its schema. */
export interface CheckResult {
  /** Undefined when nothing of the value can be used. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly origins: readonly Origin[];
  /** Key paths at which something is wrong. */
  readonly wrong: readonly KeyPath[];
}

/**
 * Checks a parsed value against a schema and gives the value to use: variables filled in (unless `variables` is null), numbers
 * kept as written where text is wanted, one finding a mistake. In entries under `apps`, null is kept: it removes a key later.
 */
export function checkValue(root: TextNode, shape: Shape, locator: Locator, variables: VariableSource | null): CheckResult {
  const checker = new Checker(locator, variables);
  const value = checker.check(root, shape, root);
  return { value: value === INVALID ? undefined : value, diagnostics: checker.diagnostics, origins: checker.origins, wrong: checker.wrong };
}

const INVALID = Symbol("invalid");

class Checker {
  readonly diagnostics: Diagnostic[] = [];
  readonly origins: Origin[] = [];
  readonly wrong: KeyPath[] = [];
  readonly #locator: Locator;
  readonly #variables: VariableSource | null;
  readonly #path: (string | number)[] = [];
  readonly #maps: { readonly name: string; readonly shape: Shape }[] = [];
  #nullRemoves = false;

  constructor(locator: Locator, variables: VariableSource | null) {
    this.#locator = locator;
    this.#variables = variables;
  }

  /** `named` is where the value's name stands: its key, or itself in a list. */
  check(node: TextNode, shape: Shape, named: Span): unknown {
    if (shape.legacy) return plainValue(node);
    if (shape.anyOf.length > 0) return this.check(node, chooseBranch(node, shape), named);
    if (node.kind === "map") return this.#map(node, shape, named);
    if (node.kind === "list") return this.#list(node, shape);
    return this.#scalar(node, shape);
  }

  #report(code: DiagnosticCode, span: Span, message: string, parts: DiagnosticParts = {}): typeof INVALID {
    this.wrong.push([...this.#path]);
    this.diagnostics.push(errorAt(code, this.#locator.place(span), message, { path: formatPath(this.#path), ...parts }));
    return INVALID;
  }

  #name(): string {
    return this.#path.length === 0 ? "the file" : formatPath(this.#path.length > 2 ? this.#path.slice(lastNamed(this.#path)) : this.#path);
  }

  /** A value of the file in a message, unless it may be a secret. */
  #quoted(value: string): string {
    return isSecretPath(this.#path) ? "the value" : `"${shorten(value)}"`;
  }

  #map(node: MapNode, shape: Shape, named: Span): unknown {
    if (!allows(shape, "object")) return this.#wrongType(node, shape);
    const outer = this.#nullRemoves;
    // Only what topology.yaml says about an app is merged over something, so only there null has a meaning.
    if (shape.title === "AppEntry") this.#nullRemoves = true;
    this.#maps.push({ name: String(this.#path.at(-1) ?? ""), shape });
    const out: Record<string, unknown> = {};
    const meant = new Set<string>();
    let valid = true;
    for (const [key, entry] of node.entries) {
      this.#path.push(key);
      const value = this.#entry(key, entry.key, entry.value, shape, meant);
      this.#path.pop();
      if (value !== INVALID && value !== undefined) setOwn(out, key, value);
    }
    for (const key of shape.required) {
      if (node.entries.has(key)) {
        if (!Object.hasOwn(out, key)) valid = false;
      } else {
        valid = false;
        // A misspelt key has been told; that it is also missing would be the same mistake again.
        if (!meant.has(key))
          this.#report("missing-key", this.#path.length === 0 ? firstKey(node) : named, `${this.#name()} needs the key "${key}"`, {
            label: `add "${key}"`,
            ...helpOf(shape.properties.get(key)?.description),
          });
      }
    }
    if (shape.minProperties !== undefined && Object.keys(out).length < shape.minProperties) {
      valid = false;
      // With keys in it, each of them has been told already.
      if (node.entries.size < shape.minProperties)
        this.#report("out-of-range", node, `${this.#name()} is empty`, { help: [`possible keys: ${wordList(allowedKeys(shape))}`] });
    }
    this.#maps.pop();
    this.#nullRemoves = outer;
    return valid ? out : INVALID;
  }

  #entry(key: string, keySpan: Span, node: TextNode, shape: Shape, meant: Set<string>): unknown {
    const known = shape.properties.get(key);
    if (!known && shape.additional === null) {
      // As in Compose files: a place for anchors and for other tools' notes.
      if (key.startsWith("x-")) return undefined;
      return this.#unknownKey(key, keySpan, shape, meant);
    }
    if (!known && shape.keyPattern && !shape.keyPattern.regexp.test(key))
      return this.#report("bad-format", keySpan, `"${shorten(key)}" is not ${formatWords(shape.keyPattern.source)}`);
    const child = known ?? shape.additional!;
    if (this.#nullRemoves && node.kind === "scalar" && node.value === null) return child.title === "AppEntry" ? undefined : null;
    if (child.title === "AppEntry" && node.kind === "scalar" && node.value === null) return {};
    return this.check(node, child, keySpan);
  }

  #unknownKey(key: string, span: Span, shape: Shape, meant: Set<string>): typeof INVALID {
    const parent = this.#path.slice(0, -1);
    const where = parent.length === 0 ? "at the top level" : `in ${formatPath(parent)}`;
    const near = suggestKey(key, shape, this.#maps.slice(0, -1));
    if (near?.key !== undefined) meant.add(near.key);
    const allowed = allowedKeys(shape);
    return this.#report("unknown-key", span, `unknown key "${shorten(key)}" ${where}`, {
      ...(near ? { label: near.label } : {}),
      help: [`allowed here: ${wordList(allowed)}`],
    });
  }

  #list(node: ListNode, shape: Shape): unknown {
    if (!allows(shape, "array")) return this.#wrongType(node, shape);
    const out: unknown[] = [];
    let valid = true;
    for (const [index, item] of node.items.entries()) {
      this.#path.push(index);
      const value = shape.items ? this.check(item, shape.items, item.kind === "map" ? firstKey(item) : item) : plainValue(item);
      this.#path.pop();
      // A list without one of its items would be another list, with other positions.
      if (value === INVALID) valid = false;
      out.push(value);
    }
    if (valid && shape.minItems !== undefined && out.length < shape.minItems)
      return this.#report("out-of-range", node, `${this.#name()} needs at least ${shape.minItems === 1 ? "one entry" : `${shape.minItems} entries`}`);
    return valid ? out : INVALID;
  }

  #scalar(node: ScalarNode, shape: Shape): unknown {
    if (typeof node.value === "string") {
      if (!this.#variables || !node.value.includes("$")) return this.#text(node, node.value, shape, "");
      const result = interpolate(node.value, this.#variables);
      if (result.faults.length > 0) return this.#faults(node, result.faults);
      if (result.replacements.length === 0) return this.#text(node, result.text, shape, "");
      this.origins.push({ path: [...this.#path], replacements: result.replacements });
      const source = `the value of ${result.replacements.map((r) => `\${${r.name}}`).join(" and ")}`;
      const value = result.whole ? convertText(result.text, shape) : result.text;
      return typeof value === "string" ? this.#text(node, value, shape, source) : this.#plain(node, value, shape, source);
    }
    if (node.value === null) return this.#null(node, shape);
    if (shape.text && allows(shape, "string")) return this.#text(node, node.text, shape, "");
    if (typeof node.value === "number" && wantsNumber(shape) && !isPlainNumber(node)) return this.#ambiguous(node, shape);
    return this.#plain(node, node.value, shape, "");
  }

  #faults(node: ScalarNode, faults: readonly { code: DiagnosticCode; message: string; help: string; expression: string }[]): typeof INVALID {
    let from = node.start;
    for (const fault of faults) {
      const span = this.#locator.find(fault.expression, { start: from, end: node.end }) ?? node;
      if (span !== node) from = span.end;
      this.#report(fault.code, span, fault.message, { help: [fault.help] });
    }
    return INVALID;
  }

  #null(node: ScalarNode, shape: Shape): unknown {
    if (shape.types.length === 0 && !shape.choices) return null;
    const empty = node.text === "";
    return this.#report("wrong-type", node, `${this.#name()} ${empty ? "is empty" : `is ${node.text}`}; it must be ${typeWords(shape)}`, {
      help: [shape.types.includes("string") ? 'write "" for an empty text, or take the key out' : "give a value, or take the key out"],
    });
  }

  /** A number or boolean. `source` names the variables it came from, whose values are not shown. */
  #plain(node: ScalarNode, value: number | boolean, shape: Shape, source: string): unknown {
    if (shape.choices) return shape.choices.includes(value) ? value : this.#unknownValue(node, value, shape.choices, source);
    const kind = typeof value as "number" | "boolean";
    if (!allows(shape, kind) && !(kind === "number" && allows(shape, "integer"))) return this.#wrongType(node, shape, source);
    if (typeof value !== "number") return value;
    if (!allows(shape, "number") && !Number.isInteger(value))
      return this.#report("wrong-type", node, `${this.#name()} must be a whole number, found ${source || node.text}`);
    const { minimum, maximum } = shape;
    if (minimum !== undefined && value < minimum)
      return this.#report("out-of-range", node, `${this.#name()} must be ${minimum} or more${source ? `; ${source} is less` : `, found ${node.text}`}`);
    if (maximum !== undefined && value > maximum)
      return this.#report("out-of-range", node, `${this.#name()} must be ${maximum} or less${source ? `; ${source} is more` : `, found ${node.text}`}`);
    return this.#unit(node, value, shape, source);
  }

  #text(node: ScalarNode, value: string, shape: Shape, source: string): unknown {
    if (shape.choices) return shape.choices.includes(value) ? value : this.#unknownValue(node, value, shape.choices, source);
    if (!allows(shape, "string")) return this.#wrongType(node, shape, source);
    const shown = source || this.#quoted(value);
    if (shape.minLength !== undefined && value.length < shape.minLength)
      return this.#report("out-of-range", node, `${this.#name()} must not be empty${source ? `: ${source} is` : ""}`);
    if (shape.maxLength !== undefined && value.length > shape.maxLength)
      return this.#report("out-of-range", node, `${this.#name()} is longer than ${shape.maxLength} characters`);
    if (shape.pattern && !shape.pattern.regexp.test(value))
      return this.#report("bad-format", node, `${this.#name()} must be ${formatWords(shape.pattern.source)}, found ${shown}`);
    return this.#unit(node, value, shape, source);
  }

  #unit(node: ScalarNode, value: string | number, shape: Shape, source: string): unknown {
    if (!shape.unit) return value;
    const parsed = shape.unit === "duration" ? parseDuration(value) : shape.unit === "size" ? parseSize(value) : parseRate(value);
    if (parsed === undefined)
      return this.#report("bad-unit", node, `${this.#name()}: ${source || this.#quoted(String(value))} is not a ${shape.unit}`, {
        help: [unitWords(shape.unit)],
      });
    if (shape.unit === "duration" && Number(parsed) > MAX_TIMER_MS)
      return this.#report("out-of-range", node, `${this.#name()} is longer than 24 days, the longest that a timer can wait`);
    return value;
  }

  #ambiguous(node: ScalarNode, shape: Shape): typeof INVALID {
    const fault = PLAIN_NUMBER.test(node.text)
      ? "has more digits than a number keeps"
      : `is not a plain decimal number: another reader might take it for something else${Number.isFinite(node.value) ? ` than ${String(node.value)}` : ""}`;
    const text = shape.types.length === 0 ? [`when a text is meant, put it in quotes: "${shorten(node.text)}"`] : [];
    return this.#report("ambiguous-number", node, `${this.#name()}: ${shorten(node.text)} ${fault}`, {
      help: ["write it with decimal digits, at most 15, without leading zeros", ...text],
    });
  }

  #wrongType(node: TextNode, shape: Shape, source = ""): typeof INVALID {
    const secret = isSecretPath(this.#path);
    const found = source || (secret && node.kind === "scalar" ? "another kind of value" : kindWords(node));
    const parts = source || secret ? {} : repairWords(node, shape);
    return this.#report("wrong-type", node.kind === "map" ? firstKey(node) : node, `${this.#name()} must be ${typeWords(shape)}, found ${found}`, parts);
  }

  #unknownValue(node: ScalarNode, value: string | number | boolean, choices: readonly (string | number | boolean)[], source: string): typeof INVALID {
    const near = suggestValue(value, choices);
    const only = choices.length === 1 ? `must be ${String(choices[0])}` : "is not one of the words allowed";
    const same = near === String(value) ? `write it ${typeof value === "string" ? "without" : "with"} quotes` : `did you mean "${near ?? ""}"?`;
    return this.#report("unknown-value", node, `${this.#name()}: ${source || (typeof value === "string" ? `"${shorten(value)}"` : String(value))} ${only}`, {
      ...(near && !source ? { label: same } : {}),
      ...(choices.length > 1 ? { help: [`allowed: ${choices.join(", ")}`] } : {}),
    });
  }
}

function lastNamed(path: KeyPath): number {
  // Keep a list index with the key it belongs to: `exports[1].format` is told apart, `format` alone is not.
  for (let i = path.length - 1; i > 0; i -= 1) if (typeof path[i] === "number") return Math.max(0, i - 1);
  return path.length - 2;
}

function helpOf(description: string | undefined): DiagnosticParts {
  return description ? { help: [description] } : {};
}

function firstKey(node: MapNode): Span {
  const first = node.entries.values().next();
  return first.done ? node : first.value.key;
}

function allows(shape: Shape, type: ShapeType): boolean {
  // A shape with a list of words and no type is met by scalars only.
  if (shape.types.length === 0) return shape.choices === undefined || (type !== "object" && type !== "array");
  return shape.types.includes(type);
}

/** The branch that fits the kind of the value; else the one that the schema names as the best to report against. */
function chooseBranch(node: TextNode, shape: Shape): Shape {
  const kind: ShapeType = node.kind === "map" ? "object" : node.kind === "list" ? "array" : (typeof node.value as ShapeType);
  const fitting = shape.anyOf.find((branch) => branch.types.includes(kind));
  if (fitting) return fitting;
  // All branches' types together make the better message: "must be text or a list".
  return { ...shape, types: shape.anyOf.flatMap((branch) => branch.types), anyOf: [] };
}
