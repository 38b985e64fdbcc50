import type { JsonObject } from "../base/json.ts";
import type { Operation, Performed } from "../calls/operation.ts";
import type { CallOptions } from "../kit-api.ts";
import type { Snapshot } from "../runtime/snapshot.ts";

export interface ToolCallRunner {
  readonly snapshot: () => Snapshot;
  readonly call: (find: (snapshot: Snapshot) => Operation) => Promise<Performed>;
}
export async function runToolCalls(_calls: readonly JsonObject[], _options: CallOptions, _runner: ToolCallRunner): Promise<JsonObject[]> {
  throw new Error("being written");
}
