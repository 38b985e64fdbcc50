import { basename, dirname } from "node:path";
import { errorAt, warningAt } from "../base/diagnostic-codes.ts";
import { hasErrors, sortDiagnostics, type Diagnostic } from "../base/diagnostics.ts";
import { isObject, own } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import type { PolicyConfig } from "../../generated/policy.d.ts";
import type { SignalsConfig } from "../../generated/signals.d.ts";
import { buildAppOnce, literalSecret, type BuiltApp } from "./app.ts";
import { patternsOf, type DiscoveredPatterns } from "./discover.ts";
import { checkFile, FileMemory, isWritten, placeIn, toLoaded, unreadableFinding, type CheckedFile } from "./file-reader.ts";
import { readManifest, type ReadManifest } from "./manifest.ts";
import { formatPath } from "./nodes.ts";
import { findSecrets, proxySecrets } from "./secrets.ts";
import { schemaShape } from "./shape.ts";
import { checkTopology, readTopology, type ReadTopology } from "./topology.ts";
import { formatWords } from "./value-words.ts";
import type { AppConfig, Config, FileSet, KeyPath, LoadContext, LoadResult, ManifestSource, ParkedApp, SourceText } from "./types.ts";
import { secretVariable } from "./variable-name.ts";

export type { DiscoveredPatterns } from "./discover.ts";

/** Loads workspaces again and again; files that did not change are neither parsed nor checked again. */
export interface Loader {
  /** The file patterns that a topology.yaml names (see {@link patternsOf}). */
  discover(topology: SourceText, context: LoadContext): DiscoveredPatterns;
  load(files: FileSet, context: LoadContext): LoadResult;
}

/** Loads a workspace once: all findings of all files in one run (contracts 1, 2, 3). */
export function loadConfig(files: FileSet, context: LoadContext): LoadResult {
  return createLoader().load(files, context);
}

/** A loader with a memory of what it read. */
export function createLoader(): Loader {
  const memory = new LoadMemory();
  return {
    discover: (topology, context) => patternsOf(memory.topologyFile(topology, context)),
    load(files, context) {
      memory.begin();
      return loadOnce(files, context, memory);
    },
  };
}

/** What was read last, kind by kind: two kinds may be made of one file. */
class LoadMemory {
  readonly topology = new FileMemory<ReadTopology>();
  readonly manifests = new FileMemory<ReadManifest>();
  readonly policies = new FileMemory<CheckedFile>();
  readonly signals = new FileMemory<CheckedFile>();
  readonly #topologyFile = new FileMemory<CheckedFile>();

  begin(): void {
    for (const memory of [this.topology, this.manifests, this.policies, this.signals]) memory.begin();
  }

  /** topology.yaml is asked for twice a load: first for the patterns in it. */
  topologyFile(source: SourceText, context: LoadContext): CheckedFile {
    this.#topologyFile.begin();
    return this.#topologyFile.recall(source, context, checkTopology);
  }
}

function loadOnce(files: FileSet, context: LoadContext, memory: LoadMemory): LoadResult {
  const topology = memory.topology.recall(files.topology, context, () => readTopology(memory.topologyFile(files.topology, context)));
  const policies = files.policies.map((source) => memory.policies.recall(source, context, checkPolicyFile));
  const signals = files.signals.map((source) => memory.signals.recall(source, context, checkSignalsFile));
  const manifests = files.manifests.map((source) => ({ source, read: memory.manifests.recall(source, context, readManifest) }));

  const hostSecrets = topology.config ? findSecrets({ ...topology.config, apps: undefined }, topology.origins) : { paths: [], values: [], literal: [] };
  const unit: Diagnostic[] = [
    ...topology.diagnostics,
    ...policies.flatMap((file) => file.diagnostics),
    ...signals.flatMap((file) => file.diagnostics),
    ...files.unreadable.filter((file) => file.role !== "manifest").map(unreadableFinding),
    ...files.unmatched.map((pattern) => patternFinding(topology, pattern)),
    ...hostSecrets.literal.map((path) => literalSecret(path, placeIn(topology, path), secretVariable(topology.config, path, "host"))),
  ];
  const apps = loadApps(files, topology, manifests);
  unit.push(...apps.unit);
  const topologyOk = topology.config !== null && !hasErrors([...topology.diagnostics, ...apps.unit]);
  const diagnostics = sortDiagnostics([...unit, ...apps.diagnostics]);
  const config: Config | null = topology.config && {
    root: files.root,
    topology: {
      source: files.topology,
      value: topology.config,
      origins: topology.origins,
      ...(topologyOk ? {} : { wrong: topology.wrong }),
      isWritten: (path) => isWritten(topology, path),
      place: (path, what) => placeIn(topology, path, what),
    },
    apps: apps.apps,
    policies: policies.map((file) => toLoaded<PolicyConfig>(file)).filter(isThere),
    signals: signals.map((file) => toLoaded<SignalsConfig>(file)).filter(isThere),
    allAppsKnown: apps.allKnown,
    secrets: [...new Set([...hostSecrets.values, ...apps.secrets, ...proxySecrets(context.env)])],
  };
  return { config, unitOk: config !== null && !hasErrors(unit), topologyOk, diagnostics };
}

function patternFinding(topology: ReadTopology, { pattern, path, fault }: FileSet["unmatched"][number]): Diagnostic {
  const place = placeIn(topology, path);
  const parts = { path: formatPath(path), ...helpFor(topology, path, fault?.help) };
  return fault ? errorAt(fault.code, place, fault.message, parts) : warningAt("unmatched-pattern", place, `the pattern "${pattern}" matches no file`, parts);
}

/** Where no app is there yet, an unmatched `discover` is the start and no mistake: what brings the first one. */
function helpFor({ config }: ReadTopology, path: KeyPath, help: string | undefined): { help?: string[] } {
  if (help !== undefined) return { help: [help] };
  if (path[0] !== "discover" || Object.keys(config?.apps ?? {}).length > 0) return {};
  return { help: ["aurora-mcp apps new hello writes a first app there; aurora-mcp import FILE takes over the servers of another program"] };
}

function checkPolicyFile(source: SourceText): CheckedFile {
  return checkFile(source, schemaShape("policy.schema.json"), null);
}

function checkSignalsFile(source: SourceText): CheckedFile {
  return checkFile(source, schemaShape("signals.schema.json"), null);
}

function isThere<T>(value: T | undefined): value is T {
  return value !== undefined;
}

interface LoadedApps {
  readonly apps: (AppConfig | ParkedApp)[];
  /** Findings that belong to topology.yaml, and so to the unit. */
  readonly unit: Diagnostic[];
  readonly diagnostics: Diagnostic[];
  readonly secrets: string[];
  /** See {@link Config}. */
  readonly allKnown: boolean;
}

function loadApps(files: FileSet, topology: ReadTopology, manifests: readonly { source: ManifestSource; read: ReadManifest }[]): LoadedApps {
  const unseen = files.unreadable.some((file) => file.role === "manifest") || files.unmatched.some(({ path, fault }) => fault && path[0] === "discover");
  const lost = unseen || manifests.some(({ read }) => !read.packageKnown);
  const out: LoadedApps = { apps: [], unit: [], diagnostics: [], secrets: [], allKnown: !lost && !topology.wrong.some(mayDiscover) };
  const byPackage = new Map<string, { source: ManifestSource; read: ReadManifest }[]>();
  for (const manifest of manifests) {
    const name = manifest.read.package;
    byPackage.set(name, [...(byPackage.get(name) ?? []), manifest]);
  }
  const park = (name: string, display: string, diagnostics: readonly Diagnostic[]): void => {
    out.apps.push({ kind: "parked", package: name, display, state: "failed", reason: diagnostics[0]?.message ?? "its configuration has errors", diagnostics });
    out.diagnostics.push(...diagnostics);
  };
  for (const file of files.unreadable) {
    const name = basename(dirname(file.file));
    if (file.role === "manifest" && !byPackage.has(name)) park(name, file.display, [unreadableFinding(file)]);
    else if (file.role === "manifest") out.diagnostics.push(unreadableFinding(file));
  }
  for (const [name, same] of byPackage) {
    if (same.length > 1)
      park(name, same[0]!.source.display, [...duplicatePackage(name, same), ...oncePerPlace(same.flatMap((one) => build(name, one).diagnostics))]);
    else add(name, same[0]);
  }
  // An entry may belong to a manifest that cannot be read; then its name is no slip for another's.
  const anyLost = unseen || manifests.some(({ read }) => read.kind === "broken");
  const candidates = anyLost ? [] : [...byPackage.keys()];
  const names = [...byPackage].filter(([, same]) => same.some(({ read }) => read.packageKnown)).map(([name]) => name);
  for (const [name, entry] of topology.entries) {
    const known = byPackage.has(name);
    const broken = entry.wrong.length > 0;
    if (known && Object.keys(entry.settings).length === 0 && !broken) out.unit.push(emptyEntry(topology, name));
    else if (!known && (broken || declaresApp(entry.settings, name, candidates))) {
      out.unit.push(...badPackage(topology, name));
      add(name, undefined);
    } else if (!known && (out.allKnown || nearPackage(name, names) !== undefined)) out.unit.push(unknownApp(topology, name, names));
  }
  out.apps.sort((a, b) => (a.package < b.package ? -1 : a.package > b.package ? 1 : 0));
  return out;

  function build(name: string, manifest: { source: ManifestSource; read: ReadManifest } | undefined): BuiltApp {
    return buildAppOnce({
      package: name,
      manifest: manifest?.read,
      trusted: manifest?.source.trusted ?? false,
      entry: topology.entries.get(name),
      topology,
      root: files.root,
    });
  }

  function add(name: string, manifest: { source: ManifestSource; read: ReadManifest } | undefined): void {
    const built = build(name, manifest);
    out.apps.push(built.app);
    out.diagnostics.push(...built.diagnostics);
    out.secrets.push(...built.secrets);
  }
}

/** Whether what is wrong in topology.yaml may be what names the manifests. */
function mayDiscover([top, ...more]: KeyPath): boolean {
  return top === undefined || top === "discover" || (more.length === 0 && !schemaShape("topology.schema.json").properties.has(String(top)));
}

/** Whether an entry without a manifest is meant as an app of its own. One that says not how it is reached, under a name like that of an app that is there, is a slip. */
function declaresApp(settings: Readonly<Record<string, unknown>>, name: string, known: readonly string[]): boolean {
  const mcp = own(settings, "mcp");
  if (!isObject(mcp)) return false;
  return ["command", "entry", "url", "transport"].some((key) => Object.hasOwn(mcp, key)) || nearPackage(name, known) === undefined;
}

function nearPackage(name: string, known: readonly string[]): string | undefined {
  return nearest(name, known, 1)[0] ?? known.find((candidate) => candidate.split(".").at(-1) === name.split(".").at(-1));
}

/** Findings without those that say the same about the same place, such as the entry that two manifests share. */
function oncePerPlace(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((d) => [JSON.stringify([d.code, d.place, d.message]), d])).values()];
}

function emptyEntry(topology: ReadTopology, name: string): Diagnostic {
  return warningAt("empty-entry", placeIn(topology, ["apps", name], "key"), `the entry of ${name} is empty and changes nothing`, {
    path: `apps.${name}`,
    help: ["to keep the app out, write enabled: false under it"],
  });
}

function badPackage(topology: ReadTopology, name: string): Diagnostic[] {
  const { pattern, maxLength = Infinity } = schemaShape("app.schema.json#/$defs/package");
  if (!pattern || (pattern.test(name) && name.length <= maxLength)) return [];
  return [
    errorAt("bad-format", placeIn(topology, ["apps", name], "key"), `"${name}" is not ${formatWords(pattern.source)} of at most ${maxLength} characters`, {
      path: `apps.${name}`,
    }),
  ];
}

function duplicatePackage(name: string, same: readonly { read: ReadManifest }[]): Diagnostic[] {
  const first = same[0]!.read;
  return same.slice(1).map(({ read }) =>
    errorAt(
      "duplicate-package",
      placeIn(read, ["package"]),
      `the package ${name} is declared in two manifests: ${first.source.display} and ${read.source.display}`,
      {
        path: "package",
        related: [{ place: placeIn(first, ["package"]), message: "first here" }],
        help: ["give one of them another package; neither runs until then"],
      },
    ),
  );
}

function unknownApp(topology: ReadTopology, name: string, known: readonly string[]): Diagnostic {
  const near = nearPackage(name, known);
  return errorAt(
    "unknown-app",
    placeIn(topology, ["apps", name], "key"),
    `apps names ${name}, but no manifest declares that package and the entry says not how it is reached`,
    {
      path: `apps.${name}`,
      ...(near ? { label: `did you mean "${near}"?` } : {}),
      help: [
        known.length > 0 ? `found: ${known.slice(0, 20).join(", ")}` : "no manifest was found: look at discover",
        "to declare it here, write mcp with a command or a url",
      ],
    },
  );
}
