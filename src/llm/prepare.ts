import type { Json } from "../base/json.ts";
import { inlineRefs } from "./schema-inline.ts";
import { Notes, type Node } from "./schema-node.ts";
import { repairSchema, type RepairOptions, type RepairedSchema } from "./schema-repair.ts";
import { plainRoot, takesObjects } from "./schema-root.ts";
import type { Relaxation } from "./types.ts";

/** An input schema made ready for every target: repaired, references inlined, root a plain object. */
export interface PreparedSchema {
  readonly kind: "schema";
  readonly root: Node;
  readonly definitions: ReadonlyMap<string, Json>;
  readonly cycles: ReadonlyMap<string, ReadonlySet<string>>;
  /** What the root no longer says, for the tool's description. */
  readonly sentences: readonly string[];
  /** Properties that only a dropped condition declares. */
  readonly hidden: readonly string[];
  readonly relaxations: readonly Relaxation[];
  /** As {@link RepairedSchema}'s: no provider needs another name for any property. */
  readonly plainKeys: boolean;
}

export type Preparation = PreparedSchema | Extract<RepairedSchema, { kind: "excluded" }>;

/** What is remembered of a schema. */
interface Remembered {
  repaired?: RepairedSchema;
  /** References that leave the document exclude the tool. */
  prepared?: Preparation;
  /** They are anything. */
  preparedOpen?: Preparation;
}

const remembered = new WeakMap<object, Remembered>();

function memoryOf(inputSchema: object): Remembered {
  let memory = remembered.get(inputSchema);
  if (!memory) remembered.set(inputSchema, (memory = {}));
  return memory;
}

/** Prepares an input schema; the result is remembered for as long as the schema object lives. */
export function prepareSchema(inputSchema: unknown, options: RepairOptions = {}): Preparation {
  if (typeof inputSchema !== "object" || inputSchema === null) return prepare(inputSchema, options);
  const memory = memoryOf(inputSchema);
  if (options.externalRefs === "any") return (memory.preparedOpen ??= prepare(inputSchema, options));
  return (memory.prepared ??= prepare(inputSchema, options));
}

/** The repaired schema that arguments are checked against; remembered as {@link prepareSchema}. */
export function repairedSchema(inputSchema: unknown): RepairedSchema {
  if (typeof inputSchema !== "object" || inputSchema === null) return repairSchema(inputSchema);
  return (memoryOf(inputSchema).repaired ??= repairSchema(inputSchema));
}

function prepare(inputSchema: unknown, options: RepairOptions): Preparation {
  const clean = options.externalRefs === "any" ? repairSchema(inputSchema, options) : repairedSchema(inputSchema);
  if (clean.kind === "excluded") return clean;
  const notes = new Notes();
  const inlined = inlineRefs(clean.schema, clean.cycles);
  if (!takesObjects(inlined.root, inlined.definitions))
    return { kind: "excluded", code: "schema.not_object", reason: "no object fits the root of inputSchema, so that no arguments are possible" };
  if (inlined.kept) notes.add("ref.kept", "", null, null, "annotated");
  const plain = plainRoot(inlined.root, inlined.definitions, notes);
  return {
    kind: "schema",
    root: plain.root,
    definitions: inlined.definitions,
    cycles: clean.cycles,
    sentences: plain.sentences,
    hidden: plain.hidden,
    relaxations: notes.list.length === 0 ? clean.relaxations : [...clean.relaxations, ...notes.list],
    plainKeys: clean.plainKeys,
  };
}
