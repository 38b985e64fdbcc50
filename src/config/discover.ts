import { dirname, resolve } from "node:path";
import { isObject } from "../base/json.ts";
import type { CheckedFile } from "./file-reader.ts";
import type { KeyPath } from "./types.ts";

/** Which files belong to a workspace, as absolute patterns, with the key path in topology.yaml that asks for them. */
export interface DiscoveredPatterns {
  readonly manifests: readonly { readonly pattern: string; readonly trusted: boolean; readonly path: KeyPath }[];
  readonly policies: readonly { readonly pattern: string; readonly path: KeyPath }[];
  readonly signals: readonly { readonly pattern: string; readonly path: KeyPath }[];
}

/** The file patterns of a checked topology.yaml. Tolerant: what cannot be read gives no patterns, for a load tells what is wrong with it. */
export function patternsOf(topology: CheckedFile): DiscoveredPatterns {
  const { sound: value } = topology;
  const dir = dirname(topology.source.file);
  const list = (key: string): unknown[] => (isObject(value) && Array.isArray(value[key]) ? value[key] : []);
  const texts = (key: string): { pattern: string; path: KeyPath }[] =>
    list(key).flatMap((item, index) => (typeof item === "string" ? [{ pattern: resolve(dir, item), path: [key, index] }] : []));
  return {
    manifests: list("discover").flatMap((item, index) => {
      if (typeof item === "string") return [{ pattern: resolve(dir, item), trusted: false, path: ["discover", index] }];
      if (!isObject(item) || typeof item["glob"] !== "string") return [];
      return [{ pattern: resolve(dir, item["glob"]), trusted: item["trusted"] === true, path: ["discover", index, "glob"] }];
    }),
    policies: texts("policies"),
    signals: texts("signals"),
  };
}
