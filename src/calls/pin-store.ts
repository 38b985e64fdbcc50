import { own, setOwn, type Json } from "../base/json.ts";
import type { AppPins } from "../../generated/tools-lock.d.ts";
import { setPin } from "../tools/lock.ts";
import { pinEntries, type PinItem } from "../tools/pins.ts";
import type { DocumentStore } from "../runtime/ports.ts";

/** What the store keeps under `data_dir`: pins taken at first sight, and the definitions behind pins, for diffs. */
export interface PinDocument {
  readonly format: 1;
  readonly apps: { [app: string]: AppPins };
  readonly definitions: { [pin: string]: Json };
}

/** The automatic pins. They are not in git: another machine sees an app first for itself. */
export interface PinStore {
  automatic(app: string): AppPins | undefined;
  /** Remembers items as first seen; an item that has a pin keeps it. Resolves when it is on the disk. */
  adopt(app: string, items: readonly PinItem[]): Promise<void>;
  /** A person accepted these: their definitions are kept for later diffs, and automatic pins follow. */
  accept(app: string, items: readonly PinItem[]): Promise<void>;
  /** The definition behind a pin, where it was kept. */
  definition(pin: string): Json | undefined;
}

/** Definitions above this size are not kept; their diff then shows the new text only. */
const MAX_DEFINITION_CHARS = 100_000;
const MAX_DEFINITIONS = 20_000;

/** Opens the store. A document that cannot be read is an error of the caller to tell: without it everything would look new. */
export async function openPinStore(document: DocumentStore<PinDocument>): Promise<PinStore> {
  const kept = await document.read();
  if (kept !== null && (kept.format !== 1 || typeof kept.apps !== "object" || typeof kept.definitions !== "object"))
    throw new Error("the file of automatic pins has an unknown format; move it away to see every app as new");
  const state: PinDocument = kept ?? { format: 1, apps: {}, definitions: {} };
  let definitions = Object.keys(state.definitions).length;

  const remember = (app: string, items: readonly PinItem[], overwrite: boolean): Promise<void> | null => {
    const pins = (own(state.apps, app) as AppPins | undefined) ?? {};
    const have = new Set(pinEntries(pins).map((e) => `${e.kind} ${e.name}`));
    let changed = false;
    for (const item of items) {
      if (own(state.definitions, item.pin) === undefined && definitions < MAX_DEFINITIONS && JSON.stringify(item.definition).length <= MAX_DEFINITION_CHARS) {
        state.definitions[item.pin] = item.definition;
        definitions += 1;
        changed = true;
      }
      if (have.has(`${item.kind} ${item.name}`) && !overwrite) continue;
      setPin(pins, item.kind, item.name, item.pin);
      changed = true;
    }
    if (!changed) return null;
    setOwn(state.apps, app, pins);
    return document.write(structuredClone(state));
  };

  return {
    automatic: (app) => own(state.apps, app) as AppPins | undefined,
    adopt: async (app, items) => remember(app, items, false) ?? undefined,
    accept: async (app, items) => remember(app, items, true) ?? undefined,
    definition: (pin) => own(state.definitions, pin) as Json | undefined,
  };
}
