import { digest, own, type Json } from "../base/json.ts";
import { escapeInvisible } from "../base/text.ts";
import type { AppPins } from "../../generated/tools-lock.d.ts";
import { describeChange, describeNew } from "./describe-change.ts";
import { ownToolName } from "./own-name.ts";
import { lintMessages } from "./text-lint.ts";
import type { AppListing, PinItem, PinKind, Trust } from "./types.ts";

/** Setting `pins` of topology.yaml. */
export type PinMode = "first_use" | "enforce" | "warn" | "off";
export type { PinItem, PinKind };

/** `accepted`: as a person accepted it, or as it was first seen. `first_use`: seen for the first time and taken. Otherwise it waits for a person. */
export type PinState = "accepted" | "first_use" | "new" | "changed";

/** What pins say of one item. */
export interface PinVerdict extends PinItem {
  readonly state: PinState;
  /** Whether it may be shown and used. */
  readonly usable: boolean;
  /** The pin that was accepted, where there is one. */
  readonly acceptedPin: string | null;
  /** Why it is not usable, or what to look at; null when all is well. */
  readonly reason: string | null;
  readonly findings: readonly string[];
}

/** What is known of one app when its pins are judged. */
export interface PinContext {
  readonly app: string;
  readonly mode: PinMode;
  readonly trust: Trust;
  /** What tools.lock.json has of this app; a person accepted it. */
  readonly locked: AppPins | undefined;
  /** What the host pinned by itself when it first saw it. */
  readonly automatic: AppPins | undefined;
  /** Findings of the text lint for an item, in words. */
  readonly findings: (item: PinItem) => readonly string[];
}

/** Whether nothing that an app shows may be used before a person has accepted it. */
export function waitsForPerson(mode: PinMode, trust: Trust): boolean {
  return mode === "enforce" || (mode === "first_use" && trust === "low");
}

/** Digest over every field of a definition as the server sent it; no Unicode normalisation, order of keys aside. */
export function pinOf(definition: Json): string {
  return digest(definition, "pin");
}

/**
 * Everything of a listing that is pinned: tools, prompts, resource templates, the resources as a whole, and the instructions, in that
 * order. Single resources come and go, so their pin is the leave to show them, with what the lint finds in their texts: as
 * long as it finds nothing new, the pin stays.
 */
export function pinItems(listing: AppListing): PinItem[] {
  const item = (kind: PinKind, name: string, definition: Json): PinItem => ({ kind, name, definition, pin: pinOf(definition) });
  return [
    ...listing.tools.map((t) => item("tool", ownToolName(listing.app, t.name), t)),
    ...listing.prompts.map((p) => item("prompt", p.name, p)),
    ...listing.templates.map((t) => item("resource_template", t.uriTemplate, t)),
    ...(listing.resources.length === 0 ? [] : [item("resources", "", { resources: "listed and read", findings: resourceFindings(listing) })]),
    ...(listing.instructions === null || listing.instructions === "" ? [] : [item("instructions", "", listing.instructions)]),
  ];
}

/** The pin that a set of pins has for an item, or undefined. */
export function pinIn(pins: AppPins | undefined, kind: PinKind, name: string): string | undefined {
  const found = isSingle(kind) ? pins?.[kind] : own(pins?.[SECTIONS[kind]], name);
  return typeof found === "string" ? found : undefined;
}

/** Kinds that an app has once; they stand in the lock under their own name. */
export const SINGLE_KINDS = ["instructions", "resources"] as const satisfies readonly PinKind[];
export type SingleKind = (typeof SINGLE_KINDS)[number];

export function isSingle(kind: PinKind): kind is SingleKind {
  return (SINGLE_KINDS as readonly PinKind[]).includes(kind);
}

/** The key of an app's pins in the lock under which the others stand, by name. */
export const SECTIONS = { tool: "tools", prompt: "prompts", resource_template: "resource_templates" } as const satisfies Record<
  Exclude<PinKind, SingleKind>,
  keyof AppPins
>;

const found = new WeakMap<AppListing, readonly string[]>();

/** What the lint finds in the texts of single resources, by their address. Read without the rest of the topology, so that other apps never move the pin. */
function resourceFindings(listing: AppListing): string[] {
  let findings = found.get(listing);
  if (!findings) {
    findings = listing.resources
      .flatMap((resource) =>
        lintMessages({ kind: "resources", name: resource.uri, definition: resource }).map((finding) => `${finding} (in ${escapeInvisible(resource.uri)})`),
      )
      .sort();
    found.set(listing, findings);
  }
  return [...findings];
}

/**
 * Judges items by pins (contracts 5). What a person accepted counts first. Under `first_use`, an app of medium or high trust that is
 * not in the lock has each item taken as it is first seen, unless the lint finds something; apps of low trust, locked apps, and
 * everything under `enforce` show only what a person accepted. `warn` and `off` hold nothing back. Verdicts in state `first_use` are
 * to be remembered as automatic pins.
 */
export function judgePins(context: PinContext, items: readonly PinItem[]): PinVerdict[] {
  return items.map((item) => {
    const locked = pinIn(context.locked, item.kind, item.name);
    const byItself = context.mode !== "enforce" && context.trust !== "low";
    const automatic = byItself ? pinIn(context.automatic, item.kind, item.name) : undefined;
    const acceptedPin = locked ?? automatic ?? null;
    if (context.mode === "off" || acceptedPin === item.pin) return { ...item, state: "accepted", usable: true, acceptedPin, reason: null, findings: [] };
    const findings = findingsOf(item, context.findings);
    const mayTake = byItself && context.locked === undefined && acceptedPin === null;
    if (mayTake && findings.length === 0) return { ...item, state: "first_use", usable: true, acceptedPin: null, reason: null, findings };
    const state = acceptedPin === null ? "new" : "changed";
    return { ...item, state, usable: context.mode === "warn", acceptedPin, reason: reasonFor(context, item, state, findings), findings };
  });
}

/** What the lint says of an item; for the resources as a whole that is part of what is pinned. */
export function findingsOf(item: PinItem, lint: PinContext["findings"]): readonly string[] {
  return item.kind === "resources" ? (own(item.definition, "findings") as string[]) : lint(item);
}

function reasonFor(context: PinContext, item: PinItem, state: "new" | "changed", findings: readonly string[]): string {
  const what = state === "changed" ? "changed since it was accepted" : "new and not accepted by a person yet";
  // Only what kinds of findings there are: this reason reaches callers, and a finding quotes the server.
  const lint = findings.length > 0 ? `; the text lint found ${[...new Set(findings.map((f) => f.split(" ", 1)[0]!))].join(", ")}` : "";
  return `${what}${lint}; look at it with \`aurora-mcp lock\`, then \`aurora-mcp lock --accept ${selector(context.app, item)}\``;
}

/** How an item is named to `lock --accept`: `APP/TOOL`; other kinds with their kind in front. */
export function selector(app: string, item: Pick<PinItem, "kind" | "name">): string {
  if (item.kind === "tool") return `${app}/${item.name}`;
  return `${app}/${item.kind}:${escapeInvisible(item.name)}`;
}

/** One difference between what a server shows and what a person accepted. */
export interface PinDifference {
  readonly app: string;
  readonly kind: PinKind;
  readonly name: string;
  readonly state: "new" | "changed" | "removed" | "accepted";
  readonly pin: string | null;
  readonly accepted: string | null;
  /** What changed, with invisible characters escaped. */
  readonly diff: readonly string[];
  /** Findings of the text lint. */
  readonly findings: readonly string[];
}

/**
 * What `lock` shows of one app: its items against the lock alone, for the lock is what a person answers for; what changed since it was
 * pinned by itself (`automatic`) stands before the whole of it. `known` gives the definition
 * behind an accepted pin, where it was kept. Sorted by kind and name.
 */
export function lockDifferences(
  app: string,
  items: readonly PinItem[],
  locked: AppPins | undefined,
  automatic: AppPins | undefined,
  known: (pin: string) => Json | undefined,
  findings: PinContext["findings"],
): PinDifference[] {
  const out: PinDifference[] = items.map((item) => {
    const accepted = pinIn(locked, item.kind, item.name) ?? null;
    const base = { app, kind: item.kind, name: item.name, pin: item.pin, accepted };
    if (accepted === item.pin) return { ...base, state: "accepted", diff: [], findings: findingsOf(item, findings) };
    if (accepted === null)
      return { ...base, state: "new", diff: describeUnlocked(item, pinIn(automatic, item.kind, item.name), known), findings: findingsOf(item, findings) };
    const before = known(accepted);
    const diff =
      before === undefined
        ? ["the accepted definition is not kept on this machine; it is now:", ...describeNew(item.definition)]
        : describeChange(before, item.definition);
    return { ...base, state: "changed", diff, findings: findingsOf(item, findings) };
  });
  const shown = new Set(items.map((i) => `${i.kind} ${i.name}`));
  for (const entry of pinEntries(locked)) {
    if (!shown.has(`${entry.kind} ${entry.name}`))
      out.push({
        app,
        kind: entry.kind,
        name: entry.name,
        state: "removed",
        pin: null,
        accepted: entry.pin,
        diff: ["the server no longer shows it"],
        findings: [],
      });
  }
  return out.sort((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1));
}

function describeUnlocked(item: PinItem, first: string | undefined, known: (pin: string) => Json | undefined): string[] {
  const whole = describeNew(item.definition);
  const before = first === undefined || first === item.pin ? undefined : known(first);
  return before === undefined ? whole : ["changed since it was first seen:", ...describeChange(before, item.definition), "as a whole it is now:", ...whole];
}

/** All pins of an app as a list. */
export function pinEntries(pins: AppPins | undefined): { readonly kind: PinKind; readonly name: string; readonly pin: string }[] {
  const sections = (Object.keys(SECTIONS) as (keyof typeof SECTIONS)[]).flatMap((kind) =>
    Object.entries(pins?.[SECTIONS[kind]] ?? {}).map(([name, pin]) => ({ kind, name, pin })),
  );
  const single = SINGLE_KINDS.flatMap((kind) => (pins?.[kind] === undefined ? [] : [{ kind, name: "", pin: pins[kind] }]));
  return [...sections, ...single];
}
