import type { AppConfig } from "./types.ts";

/** Trust as it counts: where topology.yaml gives it, or where a trusted discover entry found the manifest; else by where the app comes from (contracts 3). */
export function trustOf({
  settings,
  trusted,
  trustFromTopology,
  fromManifest,
}: Pick<AppConfig, "settings" | "trusted" | "trustFromTopology" | "fromManifest">): "high" | "medium" | "low" {
  if (settings.trust !== undefined && (trusted || trustFromTopology)) return settings.trust;
  return fromManifest ? "medium" : "low";
}
