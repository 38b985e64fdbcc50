import type { Diagnostic, Place } from "../base/diagnostics.ts";
import type { AppManifest } from "../../generated/app.d.ts";
import type { PolicyConfig } from "../../generated/policy.d.ts";
import type { SignalsConfig } from "../../generated/signals.d.ts";
import type { TopologyConfig } from "../../generated/topology.d.ts";

/** A key path in a parsed file. */
export type KeyPath = readonly (string | number)[];

/** One `${…}` that was replaced. */
export interface Replacement {
  /** `NAME`, or `file:path`. */
  readonly name: string;
  readonly value: string;
  /** Whether the value is the default that stands in the expression. */
  readonly fromDefault: boolean;
}

/** A value that came from `${…}`. */
export interface Origin {
  readonly path: KeyPath;
  readonly replacements: readonly Replacement[];
}

/** One file as it was read. `display` is how people know it: relative to the workspace where it lies inside. */
export interface SourceText {
  readonly file: string;
  readonly display: string;
  readonly text: string;
}

/** A manifest that discovery found. */
export interface ManifestSource extends SourceText {
  /** Whether the discover entry that found it says trusted. */
  readonly trusted: boolean;
}

/** The whole set of files of a workspace, read at one moment (by `files/`). */
export interface FileSet {
  /** Absolute folder that holds `topology/`. */
  readonly root: string;
  readonly topology: SourceText;
  /** Sorted bytewise by path. */
  readonly manifests: readonly ManifestSource[];
  readonly policies: readonly SourceText[];
  readonly signals: readonly SourceText[];
  /** Patterns that matched no file, or with a `fault` perhaps not all: where they stand in topology.yaml. */
  readonly unmatched: readonly { readonly pattern: string; readonly path: KeyPath; readonly fault?: PatternFault }[];
  /** Files that a pattern matched but that could not be read, or are too large. */
  readonly unreadable: readonly {
    readonly file: string;
    readonly display: string;
    readonly fault: ReadFault;
    readonly role: "manifest" | "policy" | "signals";
  }[];
}

/** Why files that a pattern stands for may be missing from the set; an error, for what they say (a deny) would be gone unseen. */
export interface PatternFault {
  readonly code: "folder-unreadable" | "pattern-too-wide" | "file-missing";
  readonly message: string;
  readonly help?: string;
}

/** Why a file gives no text. */
export interface ReadFault {
  readonly code: "file-unreadable" | "file-too-large" | "not-utf8";
  /** What follows the file's name: `is larger than 1 MiB`. */
  readonly reason: string;
  readonly help?: string;
  /** Where the first character is that is none; the start when absent. */
  readonly at?: { readonly line: number; readonly column: number };
}

/** What the outside gives to a load: environment variables and a reader for `${file:…}`. */
export interface LoadContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text of a file; throws an Error with plain words when it cannot be read. */
  readonly readSecretFile: (file: string) => string;
}

/** A checked file with a way back to its text. */
export interface Loaded<T> {
  readonly source: SourceText;
  readonly value: T;
  /** Which values came from variables; absent for files that are not interpolated. */
  readonly origins?: readonly Origin[];
  /** Whether a key path is written in the file; what is not was filled in. */
  readonly isWritten?: (path: KeyPath) => boolean;
  /**
   * Absent where the file has no errors. Else the key paths at which something is wrong and told: the value lacks it, and a list
   * of maps has undefined in its place, so that the rest can be checked. Such a value never comes to run.
   */
  readonly wrong?: readonly KeyPath[];
  /** Where a key (or, with `"key"`, its name) stands; the nearest parent that exists when the path does not. */
  place(path: KeyPath, what?: "key" | "value"): Place;
}

/** One app after manifest and topology entry were put together. Strings are interpolated, paths absolute. */
export interface AppConfig {
  readonly kind: "app";
  readonly package: string;
  /** The file that declares it: the manifest, or topology.yaml. */
  readonly display: string;
  /** Absolute folder of the manifest (or of topology.yaml). */
  readonly dir: string;
  /** Whether trust and risks written in the manifest count. */
  readonly trusted: boolean;
  /** Whether trust stands in topology.yaml, where it always counts. */
  readonly trustFromTopology: boolean;
  readonly fromManifest: boolean;
  readonly settings: AppManifest;
  /** Values under these key paths came from the environment, a file, or stand under a secret name. */
  readonly secretPaths: readonly KeyPath[];
  /** Which values came from variables. */
  readonly origins?: readonly Origin[];
  /** Whether a key path is written in a file; what is not was filled in. */
  readonly isWritten?: (path: KeyPath) => boolean;
  place(path: KeyPath, what?: "key" | "value"): Place;
}

/** An app that cannot run: a legacy manifest (skipped), switched off (disabled), or one with errors (failed). */
export interface ParkedApp {
  readonly kind: "parked";
  readonly package: string;
  readonly display: string;
  readonly state: "skipped" | "disabled" | "failed";
  readonly reason: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Everything the user wrote, checked. Paths are absolute, strings interpolated. */
export interface Config {
  readonly root: string;
  readonly topology: Loaded<TopologyConfig>;
  /** Sorted by package; a package is there once. */
  readonly apps: readonly (AppConfig | ParkedApp)[];
  /** Those with errors too, as far as they are sound. */
  readonly policies: readonly Loaded<PolicyConfig>[];
  readonly signals: readonly Loaded<SignalsConfig>[];
  /** Whether all apps that the files mean are known: not where discover is broken, or a manifest has lost its package. */
  readonly allAppsKnown: boolean;
  /** Exact secret values, for the masker. */
  readonly secrets: readonly string[];
}

/**
 * What a load gives. `config` is null when topology.yaml itself cannot be used. `unitOk` says whether topology, policies and
 * signals are all without errors; a failed app does not count there, for it only parks itself.
 */
export interface LoadResult {
  readonly config: Config | null;
  readonly unitOk: boolean;
  /** Whether topology.yaml is free of errors, whatever policies and signals say. */
  readonly topologyOk: boolean;
  readonly diagnostics: readonly Diagnostic[];
}
