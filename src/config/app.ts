import { dirname } from "node:path";
import type { AppManifest } from "../../generated/app.d.ts";
import { warningAt } from "../base/diagnostic-codes.ts";
import { hasErrors, type Diagnostic, type Place } from "../base/diagnostics.ts";
import { isObject } from "../base/json.ts";
import { appRules } from "./app-rules.ts";
import { isWritten, placeIn, type CheckedFile } from "./file-reader.ts";
import type { ReadManifest } from "./manifest.ts";
import { mergeSettings } from "./merge.ts";
import { formatPath } from "./nodes.ts";
import { findSecrets } from "./secrets.ts";
import type { ReadEntry, ReadTopology } from "./topology.ts";
import type { AppConfig, KeyPath, Origin, ParkedApp } from "./types.ts";
import { secretVariable } from "./variable-name.ts";

/** What goes into one app. At least one of manifest and entry is there. */
export interface AppParts {
  readonly package: string;
  readonly manifest: ReadManifest | undefined;
  readonly trusted: boolean;
  readonly entry: ReadEntry | undefined;
  readonly topology: ReadTopology;
  readonly root: string;
}

/** An app as far as it goes, with the findings made on the way and its secret values. */
export interface BuiltApp {
  readonly app: AppConfig | ParkedApp;
  readonly diagnostics: readonly Diagnostic[];
  readonly secrets: readonly string[];
}

interface Layer {
  readonly file: CheckedFile;
  readonly prefix: KeyPath;
  readonly origins: readonly Origin[];
}

const built = new WeakMap<CheckedFile, { readonly parts: AppParts; readonly app: BuiltApp }>();

/** As {@link buildApp}; the same files give the same object again, so that whoever compares apps can compare references. */
export function buildAppOnce(parts: AppParts): BuiltApp {
  if (!parts.manifest) return buildApp(parts);
  const known = built.get(parts.manifest);
  if (known && sameParts(known.parts, parts)) return known.app;
  const app = buildApp(parts);
  built.set(parts.manifest, { parts, app });
  return app;
}

/** Whether two sets of parts with the same manifest make the same app. Of a topology without an entry for it, an app has nothing but its name. */
function sameParts(a: AppParts, b: AppParts): boolean {
  const sameTopology = a.topology === b.topology || (!a.entry && !b.entry && a.topology.source.display === b.topology.source.display);
  return sameTopology && a.trusted === b.trusted && a.root === b.root;
}

/** Puts manifest and topology entry together. What is wrong parks this app and no other. */
export function buildApp(parts: AppParts): BuiltApp {
  const { manifest, entry, topology } = parts;
  const declared = manifest?.kind === "legacy" ? undefined : manifest;
  const layers: Layer[] = [];
  if (entry) layers.push({ file: topology, prefix: ["apps", parts.package], origins: entry.origins });
  if (manifest) layers.push({ file: manifest, prefix: [], origins: manifest.origins });
  const place = (path: KeyPath, what: "key" | "value" = "value"): Place => placeInLayers(layers, path, what);
  const display = manifest ? manifest.source.display : topology.source.display;
  const parked = (state: ParkedApp["state"], reason: string, diagnostics: readonly Diagnostic[] = []): BuiltApp => ({
    app: { kind: "parked", package: parts.package, display, state, reason, diagnostics },
    diagnostics,
    secrets: [],
  });

  const enabled = entry?.settings["enabled"] ?? (manifest?.kind === "app" ? manifest.settings["enabled"] : undefined);
  if (enabled === false) return parked("disabled", `enabled: false in ${place(["enabled"]).file}`);
  const entryBroken = entry !== undefined && entry.wrong.length > 0;
  if (manifest?.kind === "legacy" && !entry?.settings["mcp"] && !entryBroken) return parked("skipped", "a legacy manifest: neither type: mcp-server nor mcp");

  const merged = mergeSettings(declared?.settings ?? { package: parts.package }, entry?.settings ?? {});
  const trustFromTopology = entry !== undefined && Object.hasOwn(entry.settings, "trust");
  const diagnostics: Diagnostic[] = [...(manifest?.diagnostics ?? [])];
  if (declared && Object.hasOwn(declared.settings, "trust") && !parts.trusted && !trustFromTopology) {
    delete merged["trust"];
    diagnostics.push(
      warningAt("trust-ignored", place(["trust"], "key"), `the trust of ${parts.package} is ignored: discover does not say trusted`, {
        path: "trust",
        help: ["write trusted: true at the discover entry, or set trust in topology.yaml"],
      }),
    );
  }
  const settings = withDefaults(merged, parts.root);
  const origins = layers.toReversed().flatMap((layer) => layer.origins.map((o) => ({ ...o, path: foldedPath(o.path) })));
  const found = findSecrets(settings, origins);
  const app: AppConfig = {
    kind: "app",
    package: parts.package,
    display,
    dir: dirname((manifest ?? topology).source.file),
    trusted: declared !== undefined && parts.trusted,
    trustFromTopology,
    fromManifest: declared !== undefined,
    settings,
    secretPaths: [...origins.map((o) => o.path), ...found.paths],
    origins,
    isWritten: (path) => layers.some(({ file, prefix }) => spellings(path).some((written) => isWritten(file, [...prefix, ...written]))),
    place,
  };
  diagnostics.push(...appRules(app, [...(manifest?.wrong ?? []), ...(entry?.wrong ?? [])]));
  for (const path of found.literal) diagnostics.push(literalSecret(path, place(path), secretVariable(settings, path, parts.package)));
  const onCommandLine = found.paths.filter((path) => path[0] === "mcp" && (path[1] === "args" || path[1] === "command") && !found.literal.includes(path));
  for (const path of new Map(onCommandLine.map((p) => [formatPath(p), p])).values()) diagnostics.push(secretInArgs(path, place(path)));
  const told = diagnostics.map((d) => inFile(d, topology.source.display, parts.package));
  if (!hasErrors(told) && !entryBroken) return { app, diagnostics: told, secrets: found.values };
  const reason = hasErrors(told) ? firstError(told) : `its entry in ${topology.source.display} has errors`;
  return { ...parked("failed", reason, told), secrets: found.values };
}

/** Key paths of findings count from the top of the file they point at. */
function inFile(d: Diagnostic, topology: string, app: string): Diagnostic {
  return d.place?.file === topology && d.path !== undefined ? { ...d, path: `apps.${app}.${d.path}` } : d;
}

/** The warning about a secret that stands in a file; `variable` is what could hold it. */
export function literalSecret(path: KeyPath, place: Place, variable: string): Diagnostic {
  return warningAt("literal-secret", place, `${formatPath(path)} holds a secret that everyone who reads this file can see`, {
    path: formatPath(path),
    help: [`put it into the environment and write \${${variable}}, or into a file and write \${file:path}`],
  });
}

function secretInArgs(path: KeyPath, place: Place): Diagnostic {
  return warningAt("secret-in-args", place, `${formatPath(path)} puts a secret on the command line, where every user of the machine can read it`, {
    path: formatPath(path),
    help: ["hand it over in env, or name a file that holds it"],
  });
}

function withDefaults(merged: Record<string, unknown>, root: string): AppManifest {
  const mcp = isObject(merged["mcp"]) ? merged["mcp"] : {};
  const program = mcp["command"] !== undefined;
  // The folder that holds topology/: so the guide's root-relative args and env work (contracts 3).
  const transport = mcp["url"] !== undefined ? { transport: "http" } : program ? { transport: "stdio" } : {};
  const filled = { ...transport, ...mcp, ...(program && mcp["cwd"] === undefined ? { cwd: root } : {}) };
  return { ...merged, mcp: filled } as unknown as AppManifest;
}

function firstError(diagnostics: readonly Diagnostic[]): string {
  const first = diagnostics.find((d) => d.severity === "error");
  const where = first?.place ? ` (${first.place.file}:${first.place.line})` : "";
  return first ? `${first.message}${where}` : "its configuration has errors";
}

/** `env.X` is found under `mcp.env.X` in the settings. */
function foldedPath(path: KeyPath): KeyPath {
  return path[0] === "env" ? ["mcp", ...path] : path;
}

/** Where a setting stands: in the topology entry if it is there, else in the manifest; else its nearest parent. */
function placeInLayers(layers: readonly Layer[], path: KeyPath, what: "key" | "value"): Place {
  for (let length = path.length; length > 0; length -= 1) {
    const part = path.slice(0, length);
    const exact = length === path.length;
    for (const { file, prefix } of layers) {
      for (const written of spellings(part)) if (isWritten(file, [...prefix, ...written])) return placeIn(file, [...prefix, ...written], exact ? what : "key");
    }
  }
  const first = layers[0]!;
  return placeIn(first.file, first.prefix, "key");
}

function spellings(path: KeyPath): KeyPath[] {
  return path[0] === "mcp" && path[1] === "env" ? [path.slice(1), path] : [path];
}
