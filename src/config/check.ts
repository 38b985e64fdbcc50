import type { Diagnostic } from "../base/diagnostics.ts";
import type { DiagnosticParts } from "../base/diagnostic-codes.ts";
import { MAX_TIMER_MS, parseDuration, parseRate, parseSize } from "../base/durations.ts";
import { setOwn } from "../base/json.ts";
import { CheckLog, INVALID } from "./check-log.ts";
import { interpolate, type ExpressionFault, type VariableSource } from "./interpolate.ts";
import { isOff } from "./is-off.ts";
import { convertText, isPlainNumber, wantsNumber } from "./numbers.ts";
import { firstKey, formatPath, isBroken, plainValue, typeOf } from "./nodes.ts";
import type { ListNode, MapNode, ScalarNode, Span, TextNode } from "./nodes.ts";
import type { ParsedText } from "./parse.ts";
import { isSecretPath } from "./secrets.ts";
import { allows, chooseBranch, mayBeMap, type Shape } from "./shape.ts";
import { withoutHoles } from "./sound.ts";
import { allowedKeys, suggestKey, suggestValue, wordList } from "./suggest.ts";
import { ambiguityWords, formatWords, kindWords, nameOf, onlyValue, repairWords, shorten, typeWords, unitWords } from "./value-words.ts";
import type { KeyPath, Origin } from "./types.ts";

/** What a check gives. Parts of the value that are wrong are left out, so that what is there always fits its schema. */
export interface CheckResult {
  /** Undefined when nothing of the value can be used. */
  readonly value: unknown;
  /**
   * All that is sound, for further checks: as `value`, but the top level is there without a key that it needs, and lists of
   * maps, and those at the top level, hold undefined in place of what is wrong. Undefined when it is no map at all.
   */
  readonly sound: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly origins: readonly Origin[];
  /** Key paths at which something is wrong. */
  readonly wrong: readonly KeyPath[];
}

/**
 * Checks a parsed value against a schema and gives the value to use: variables filled in (unless `variables` is null), numbers
 * kept as written where text is wanted, one finding a mistake. In entries under `apps`, null is kept: it removes a key later.
 */
export function checkValue(tree: ParsedText, shape: Shape, variables: VariableSource | null): CheckResult {
  const log = new CheckLog(tree.locator);
  const checker = new Checker(tree, variables, log);
  const sound = checker.check(tree.root, shape, tree.root);
  const { diagnostics, wrong } = log;
  const value = !checker.whole ? undefined : wrong.length === 0 ? sound : withoutHoles(sound);
  return { value, sound: sound === INVALID ? undefined : sound, diagnostics, origins: checker.origins, wrong };
}

class Checker {
  readonly origins: Origin[] = [];
  /** Whether the top level has all the keys that it needs. */
  whole = true;
  readonly #log: CheckLog;
  readonly #tree: ParsedText;
  readonly #variables: VariableSource | null;
  readonly #maps: { readonly name: string; readonly shape: Shape }[] = [];
  #nullRemoves = false;

  constructor(tree: ParsedText, variables: VariableSource | null, log: CheckLog) {
    this.#tree = tree;
    this.#variables = variables;
    this.#log = log;
  }

  /** `named` is where the value's name stands: its key, or itself in a list. */
  check(node: TextNode, shape: Shape, named: Span): unknown {
    if (!this.#tree.repeated.has(node)) return this.#check(node, shape, named);
    this.#log.repeats += 1;
    const value = this.#check(node, shape, named);
    this.#log.repeats -= 1;
    return value;
  }

  #check(node: TextNode, shape: Shape, named: Span): unknown {
    if (isBroken(node)) return this.#log.markWrong();
    if (shape.legacy) return plainValue(node);
    if (shape.anyOf.length > 0) return this.#check(node, chooseBranch(shape, typeOf(node)), named);
    if (node.kind === "map") return this.#map(node, shape, named);
    if (node.kind === "list") return this.#list(node, shape);
    return this.#scalar(node, shape);
  }

  /** A value of the file in a message, unless it may be a secret. */
  #quoted(value: string): string {
    return isSecretPath(this.#log.path) ? "the value" : `"${shorten(value)}"`;
  }

  #map(node: MapNode, shape: Shape, named: Span): unknown {
    if (!allows(shape, "object")) return this.#wrongType(node, shape);
    const outer = this.#nullRemoves;
    // Only what topology.yaml says about an app is merged over something, so only there null has a meaning.
    if (shape.title === "AppEntry") this.#nullRemoves = true;
    this.#maps.push({ name: String(this.#log.path.at(-1) ?? ""), shape });
    const out: Record<string, unknown> = {};
    const meant = new Set<string>();
    let valid = true;
    for (const [key, entry] of node.entries) {
      this.#log.path.push(key);
      const value = this.#entry(key, entry.key, entry.value, shape, meant);
      this.#log.path.pop();
      if (value !== INVALID && value !== undefined) setOwn(out, key, value);
    }
    for (const key of shape.required) {
      if (node.entries.has(key)) {
        if (!Object.hasOwn(out, key)) valid = false;
      } else {
        valid = false;
        // A key that is misspelt, or cannot be read, has been told; that it is also missing would be the same mistake again.
        if (!meant.has(key) && !node.partial)
          this.#log.tell("missing-key", this.#log.path.length === 0 ? firstKey(node) : named, `${nameOf(this.#log.path)} needs the key "${key}"`, {
            label: `add "${key}${onlyValue(shape.properties.get(key))}"`,
            ...helpOf(shape.properties.get(key)?.description),
          });
        this.#log.markWrong(key);
      }
    }
    if (node.partial) this.#log.markWrong();
    if (shape.minProperties !== undefined && Object.keys(out).length < shape.minProperties) {
      valid = false;
      // With keys in it, each of them has been told already.
      if (node.entries.size < shape.minProperties && !node.partial)
        this.#log.report("out-of-range", node, `${nameOf(this.#log.path)} is empty`, { help: [`possible keys: ${wordList(allowedKeys(shape))}`] });
    }
    this.#maps.pop();
    this.#nullRemoves = outer;
    if (this.#log.path.length > 0) return valid ? out : INVALID;
    this.whole = valid;
    return out;
  }

  #entry(key: string, keySpan: Span, node: TextNode, shape: Shape, meant: Set<string>): unknown {
    const known = shape.properties.get(key);
    if (!known && shape.additional === null) {
      // As in Compose files: a place for anchors and for other tools' notes.
      if (key.startsWith("x-")) return undefined;
      return this.#unknownKey(key, keySpan, shape, meant);
    }
    if (!known && shape.keyPattern && !shape.keyPattern.test(key))
      return this.#log.report("bad-format", keySpan, `"${shorten(key)}" is not ${formatWords(shape.keyPattern.source)}`);
    const child = known ?? shape.additional!;
    if (isBroken(node)) return this.#log.markWrong();
    if (this.#nullRemoves && node.kind === "scalar" && node.value === null) return child.title === "AppEntry" ? undefined : null;
    if (child.title === "AppEntry" && node.kind === "scalar" && node.value === null) return {};
    if (child.title === "AppEntry" && isOff(node, this.#variables)) return this.#log.forLater(() => this.check(node, child, keySpan));
    return this.check(node, child, keySpan);
  }

  #unknownKey(key: string, span: Span, shape: Shape, meant: Set<string>): typeof INVALID {
    const parent = this.#log.path.slice(0, -1);
    const where = parent.length === 0 ? "at the top level" : `in ${formatPath(parent)}`;
    const near = suggestKey(key, shape, this.#maps.slice(0, -1));
    if (near?.key !== undefined) meant.add(near.key);
    const allowed = allowedKeys(shape);
    return this.#log.report("unknown-key", span, `unknown key "${shorten(key)}" ${where}`, {
      ...(near ? { label: near.label } : {}),
      help: [`allowed here: ${wordList(allowed)}`],
    });
  }

  #list(node: ListNode, shape: Shape): unknown {
    if (!allows(shape, "array")) return this.#wrongType(node, shape);
    const holes = this.#log.path.length === 1 || (shape.items !== undefined && mayBeMap(shape.items));
    const out: unknown[] = [];
    let valid = true;
    for (const [index, item] of node.items.entries()) {
      this.#log.path.push(index);
      const value = shape.items ? this.check(item, shape.items, item.kind === "map" ? firstKey(item) : item) : plainValue(item);
      this.#log.path.pop();
      if (value === INVALID && !holes) valid = false;
      out.push(value === INVALID ? undefined : value);
    }
    if (valid && shape.minItems !== undefined && out.length < shape.minItems)
      return this.#log.report(
        "out-of-range",
        node,
        `${nameOf(this.#log.path)} needs at least ${shape.minItems === 1 ? "one entry" : `${shape.minItems} entries`}`,
      );
    return valid ? out : INVALID;
  }

  #scalar(node: ScalarNode, shape: Shape): unknown {
    if (typeof node.value === "string") {
      if (!this.#variables || !node.value.includes("$")) return this.#text(node, node.value, shape, "");
      const result = interpolate(node.value, this.#variables);
      if (result.faults.length > 0) return this.#faults(node, result.faults);
      if (result.replacements.length === 0) return this.#text(node, result.text, shape, "");
      this.origins.push({ path: [...this.#log.path], replacements: result.replacements });
      const source = `the value of ${result.replacements.map((r) => `\${${r.name}}`).join(" and ")}`;
      const value = result.whole ? convertText(result.text, shape) : result.text;
      return typeof value === "string" ? this.#text(node, value, shape, source) : this.#plain(node, value, shape, source);
    }
    if (node.value === null) return this.#null(node, shape);
    if (shape.text && allows(shape, "string")) return this.#text(node, node.text, shape, "");
    if (typeof node.value === "number" && wantsNumber(shape) && !isPlainNumber(node)) return this.#ambiguous(node, shape);
    return this.#plain(node, node.value, shape, "");
  }

  #faults(node: ScalarNode, faults: readonly ExpressionFault[]): typeof INVALID {
    let from = node.start;
    for (const fault of faults) {
      const span = this.#tree.locator.find(fault.expression, { start: from, end: node.end }) ?? node;
      if (span !== node) from = span.end;
      this.#log.report(fault.code, span, fault.message, { help: [fault.help] });
    }
    return INVALID;
  }

  #null(node: ScalarNode, shape: Shape): unknown {
    if (shape.types.length === 0 && !shape.choices) return null;
    const empty = node.text === "";
    return this.#log.report("wrong-type", node, `${nameOf(this.#log.path)} ${empty ? "is empty" : `is ${node.text}`}; it must be ${typeWords(shape)}`, {
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
      return this.#log.report("wrong-type", node, `${nameOf(this.#log.path)} must be a whole number, found ${source || node.text}`);
    const { minimum, maximum } = shape;
    if (minimum !== undefined && value < minimum) return this.#outOfRange(node, `${minimum} or more`, source && `${source} is less`);
    if (maximum !== undefined && value > maximum) return this.#outOfRange(node, `${maximum} or less`, source && `${source} is more`);
    return this.#unit(node, value, shape, source);
  }

  #outOfRange(node: ScalarNode, bound: string, why: string): typeof INVALID {
    return this.#log.report("out-of-range", node, `${nameOf(this.#log.path)} must be ${bound}${why ? `; ${why}` : `, found ${node.text}`}`);
  }

  #text(node: ScalarNode, value: string, shape: Shape, source: string): unknown {
    if (shape.choices) return shape.choices.includes(value) ? value : this.#unknownValue(node, value, shape.choices, source);
    if (!allows(shape, "string")) return this.#wrongType(node, shape, source);
    const shown = source || this.#quoted(value);
    if (shape.minLength !== undefined && value.length < shape.minLength)
      return this.#log.report("out-of-range", node, `${nameOf(this.#log.path)} must not be empty${source ? `: ${source} is` : ""}`);
    if (shape.maxLength !== undefined && value.length > shape.maxLength)
      return this.#log.report("out-of-range", node, `${nameOf(this.#log.path)} is longer than ${shape.maxLength} characters`);
    if (shape.pattern && !shape.pattern.test(value))
      return this.#log.report("bad-format", node, `${nameOf(this.#log.path)} must be ${formatWords(shape.pattern.source)}, found ${shown}`);
    return this.#unit(node, value, shape, source);
  }

  #unit(node: ScalarNode, value: string | number, shape: Shape, source: string): unknown {
    if (!shape.unit) return value;
    const parsed = shape.unit === "duration" ? parseDuration(value) : shape.unit === "size" ? parseSize(value) : parseRate(value);
    if (parsed === undefined)
      return this.#log.report("bad-unit", node, `${nameOf(this.#log.path)}: ${source || this.#quoted(String(value))} is not a ${shape.unit}`, {
        help: [unitWords(shape.unit)],
      });
    if (shape.unit === "duration" && Number(parsed) > MAX_TIMER_MS)
      return this.#log.report("out-of-range", node, `${nameOf(this.#log.path)} is longer than 24 days, the longest that a timer can wait`);
    return value;
  }

  #ambiguous(node: ScalarNode, shape: Shape): typeof INVALID {
    const text = shape.types.length === 0 ? [`when a text is meant, put it in quotes: "${shorten(node.text)}"`] : [];
    return this.#log.report("ambiguous-number", node, `${nameOf(this.#log.path)}: ${shorten(node.text)} ${ambiguityWords(node)}`, {
      help: ["write it with decimal digits, at most 15, without leading zeros", ...text],
    });
  }

  #wrongType(node: TextNode, shape: Shape, source = ""): typeof INVALID {
    // Such as {{ name }} where a text is wanted: that its key is none has been told.
    if (node.kind === "map" && node.partial) return this.#log.markWrong();
    const secret = isSecretPath(this.#log.path);
    const found = source || (secret && node.kind === "scalar" ? "another kind of value" : kindWords(node));
    const parts = source || secret ? {} : repairWords(node, shape);
    return this.#log.report(
      "wrong-type",
      node.kind === "map" ? firstKey(node) : node,
      `${nameOf(this.#log.path)} must be ${typeWords(shape)}, found ${found}`,
      parts,
    );
  }

  #unknownValue(node: ScalarNode, value: string | number | boolean, choices: readonly (string | number | boolean)[], source: string): typeof INVALID {
    const near = suggestValue(value, choices);
    const only = choices.length === 1 ? `must be ${String(choices[0])}` : "is not one of the words allowed";
    const same = near === String(value) ? `write it ${typeof value === "string" ? "without" : "with"} quotes` : `did you mean "${near ?? ""}"?`;
    return this.#log.report(
      "unknown-value",
      node,
      `${nameOf(this.#log.path)}: ${source || (typeof value === "string" ? `"${shorten(value)}"` : String(value))} ${only}`,
      {
        ...(near && !source ? { label: same } : {}),
        ...(choices.length > 1 ? { help: [`allowed: ${choices.join(", ")}`] } : {}),
      },
    );
  }
}

function helpOf(description: string | undefined): DiagnosticParts {
  return description ? { help: [description] } : {};
}
