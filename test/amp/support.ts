import type { SignalsConfig } from "../../generated/signals.d.ts";
import { createSealer, type Sealer, type SealerOptions } from "../../src/amp/envelope.ts";
import type { MapEnv } from "../../src/amp/map-signal.ts";
import { compileSignals, type SignalRules } from "../../src/amp/mapping.ts";
import type { Signal } from "../../src/amp/types.ts";
import { compileSchemaSet } from "../../src/base/json-schema.ts";
import type { Loaded } from "../../src/config/types.ts";
import { createRequire } from "node:module";
import type { JsonObject } from "../../src/base/json.ts";

const load = createRequire(import.meta.url);
const schemas = compileSchemaSet([
  load("../../schemas/amp.schema.json"),
  load("../../schemas/aurora-event.schema.json"),
  load("../../schemas/signals.schema.json"),
]);

/** Findings of a value against one of the kit's schemas; none when it fits. */
export function schemaIssues(schema: "amp" | "aurora-event" | "signals", value: unknown): unknown[] {
  return schemas.get(`${schema}.schema.json`)!.validate(value);
}

/** A checked signal file, as the configuration hands it over. */
export function loaded(value: SignalsConfig, display = "signals/test.yaml"): Loaded<SignalsConfig> {
  return {
    source: { file: `/${display}`, display, text: "" },
    value,
    place: (path) => ({ file: display, line: Number(path[1] ?? 0) + 1, column: 1, endLine: 1, endColumn: 1 }),
  };
}

/** Rules that must compile. */
export function rulesOf(value: SignalsConfig): SignalRules {
  const { rules, diagnostics } = compileSignals([loaded(value)]);
  if (diagnostics.length > 0) throw new Error(diagnostics.map((d) => d.message).join("; "));
  return rules;
}

export function signal(partial: Partial<Signal> & { params?: JsonObject }): Signal {
  return { kind: "notification", app: "org.example.app", instance: null, method: "notifications/x", params: {}, ...partial };
}

export function mapEnv(partial: Partial<MapEnv> = {}): MapEnv {
  return { nowMs: 1_000_000, random: () => 0, counters: new Map(), ...partial };
}

export function sealer(partial: Partial<SealerOptions> = {}): Sealer {
  return createSealer({
    clock: { now: () => 1_781_000_000_000, monotonic: () => 0 },
    random: (size) => new Uint8Array(size).fill(7),
    offset: () => 480,
    mask: (v) => v,
    maxDataBytes: () => 4096,
    ...partial,
  });
}
