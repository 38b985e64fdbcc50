import { isObject, setOwn } from "../base/json.ts";
import { createMasker, MASK, type Masker } from "../base/masking.ts";
import type { Place } from "../base/diagnostics.ts";
import { trustOf } from "./trust.ts";
import { isSecretPath } from "./secrets.ts";
import { schemaShape, type Shape } from "./shape.ts";
import { yamlScalar } from "./yaml-text.ts";
import type { AppConfig, Config, KeyPath } from "./types.ts";

/** Where a value of the effective configuration comes from: a line of a file (with the variables in it), or a default. */
export type ValueSource =
  | { readonly kind: "file"; readonly file: string; readonly line: number; readonly variables: readonly string[] }
  | { readonly kind: "default" };

/** The configuration as the host sees it: defaults filled in, variables replaced, paths absolute, secrets masked. */
export interface EffectiveConfig {
  readonly value: Record<string, unknown>;
  /** Source of every value that is not a map or list of maps, by dotted key path. */
  readonly sources: ReadonlyMap<string, ValueSource>;
}

/** What `aurora-mcp config` prints. */
export function effectiveConfig(config: Config): EffectiveConfig {
  const writer = new EffectiveWriter(createMasker(config.secrets));
  const { apps: _entries, ...host } = config.topology.value;
  const value = writer.write(host, schemaShape("topology.schema.json"), [], [], config.topology, new Set(["apps"]));
  const apps: Record<string, unknown> = {};
  for (const app of config.apps) {
    if (app.kind === "parked") setOwn(apps, app.package, { state: app.state, reason: writer.masker.text(app.reason), declared_in: app.display });
    else setOwn(apps, app.package, writer.app(app));
  }
  return { value: { ...(value as Record<string, unknown>), apps }, sources: writer.sources };
}

/** What knows where values come from: the topology, or an app. */
type Origins = Pick<AppConfig, "place" | "origins" | "isWritten">;

class EffectiveWriter {
  readonly sources = new Map<string, ValueSource>();
  readonly masker: Masker;

  constructor(masker: Masker) {
    this.masker = masker;
  }

  app(app: AppConfig): unknown {
    const other =
      app.settings.mcp?.transport === "http"
        ? ["command", "args", "cwd", "env", "entry", "inherit_env", "line_bytes"]
        : ["url", "headers", "auth", "tls", "allow_http"];
    const without = new Set(["package", ...other.map((key) => `mcp.${key}`)]);
    const shown = this.write(app.settings, schemaShape("app.schema.json"), ["apps", app.package], [], app, without) as Record<string, unknown>;
    if (Object.hasOwn(shown, "trust")) return shown;
    // Its default is not the schema's to say: it goes by where the app comes from.
    this.sources.set(dotted(["apps", app.package, "trust"]), { kind: "default" });
    return { ...shown, trust: trustOf(app) };
  }

  /** `shown` is the key path in the print-out, `path` the one in the file. Keys in `without` get no default. */
  write(value: unknown, shape: Shape, shown: KeyPath, path: KeyPath, from: Origins, without: ReadonlySet<string>): unknown {
    if (Array.isArray(value)) {
      const items = value.map((item, index) =>
        this.write(item, branch(shape, item).items ?? branch(shape, item), [...shown, index], [...path, index], from, without),
      );
      if (items.length === 0) this.#note(shown, path, from);
      return items;
    }
    if (!isObject(value)) return this.#leaf(value, shown, path, from);
    const map = branch(shape, value);
    const out: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const child = map.properties.get(key) ?? map.additional;
      if (child) setOwn(out, key, this.write(item, child, [...shown, key], [...path, key], from, without));
    }
    for (const [key, child] of map.properties) {
      if (Object.hasOwn(value, key) || without.has([...path, key].join("."))) continue;
      if (isComplete(child)) setOwn(out, key, this.write({}, child, [...shown, key], [...path, key], from, without));
      if (child.fallback === undefined) continue;
      setOwn(out, key, child.fallback);
      this.sources.set(dotted([...shown, key]), { kind: "default" });
    }
    return out;
  }

  #leaf(value: unknown, shown: KeyPath, path: KeyPath, from: Origins): unknown {
    this.#note(shown, path, from);
    if (isSecretPath(path) && value !== "") return MASK;
    return typeof value === "string" ? this.masker.text(value) : value;
  }

  #note(shown: KeyPath, path: KeyPath, from: Origins): void {
    const place: Place = from.place(path);
    const origin = from.origins?.find((o) => o.path.length === path.length && o.path.every((step, i) => step === path[i]));
    const variables = (origin?.replacements ?? []).map((r) => (r.fromDefault ? `${r.name} (unset, default)` : r.name));
    const filled = from.isWritten?.(path) === false;
    this.sources.set(dotted(shown), filled ? { kind: "default" } : { kind: "file", file: place.file, line: place.line, variables });
  }
}

/** Whether a map that is not written still has all its values: every key has a default. */
function isComplete(shape: Shape): boolean {
  return shape.properties.size > 0 && [...shape.properties.values()].every((child) => child.fallback !== undefined);
}

function branch(shape: Shape, value: unknown): Shape {
  if (shape.anyOf.length === 0) return shape;
  const kind = Array.isArray(value) ? "array" : isObject(value) ? "object" : typeof value;
  return shape.anyOf.find((option) => option.types.some((type) => type === kind)) ?? shape;
}

function dotted(path: KeyPath): string {
  return path.join(".");
}

/** The effective configuration as YAML, each value with a comment that says where it comes from. */
export function effectiveYaml(effective: EffectiveConfig): string {
  const out: string[] = [];
  yamlLines(effective.value, [], 0, effective.sources, out);
  return `${out.join("\n")}\n`;
}

function yamlLines(value: Record<string, unknown>, path: KeyPath, depth: number, sources: ReadonlyMap<string, ValueSource>, out: string[]): void {
  const pad = "  ".repeat(depth);
  for (const [key, item] of Object.entries(value)) {
    const at = [...path, key];
    if (isObject(item) && Object.keys(item).length > 0) {
      out.push(`${pad}${yamlScalar(key)}:`);
      yamlLines(item, at, depth + 1, sources, out);
    } else if (Array.isArray(item) && item.length > 0) {
      out.push(`${pad}${yamlScalar(key)}:`);
      for (const [index, entry] of item.entries()) yamlItem(entry, [...at, index], depth + 1, sources, out);
    } else out.push(withSource(`${pad}${yamlScalar(key)}: ${yamlScalar(item)}`, sources.get(dotted(at))));
  }
}

function yamlItem(item: unknown, path: KeyPath, depth: number, sources: ReadonlyMap<string, ValueSource>, out: string[]): void {
  const pad = "  ".repeat(depth);
  if (!isObject(item) || Object.keys(item).length === 0) {
    out.push(withSource(`${pad}- ${yamlScalar(item)}`, sources.get(dotted(path))));
    return;
  }
  const lines: string[] = [];
  yamlLines(item, path, depth + 1, sources, lines);
  out.push(`${pad}- ${lines[0]!.trimStart()}`, ...lines.slice(1));
}

function withSource(line: string, source: ValueSource | undefined): string {
  if (!source) return line;
  if (source.kind === "default") return `${line}  # default`;
  const from = source.variables.length > 0 ? `, ${source.variables.map((name) => `\${${name}}`).join(" ")}` : "";
  return `${line}  # ${source.file}:${source.line}${from}`;
}
