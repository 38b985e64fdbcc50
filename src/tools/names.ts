import { createHash } from "node:crypto";

/** A tool as far as its names go. `full` is `{app}.{tool}`, or the tool's own name where there is no app. */
export interface NamedTool {
  readonly app: string;
  readonly tool: string;
  readonly full: string;
}

/** Longest short name unless asked otherwise; the limit of OpenAI Chat. */
export const MAX_SHORT_NAME = 64;

const LEGAL = /^[A-Za-z][A-Za-z0-9_-]*$/;
const ILLEGAL_RUN = /[^A-Za-z0-9_-]+/g;
const READABLE = /[A-Za-z0-9]/;
const SUFFIX_LENGTH = 8;

/**
 * Full name to short name (`[A-Za-z][A-Za-z0-9_-]{0,max-1}`), one to one and independent of the order of the tools.
 *
 * A legal full name stays. Otherwise every run of other characters becomes `_`. A result that is too long, has nothing
 * readable, or is claimed by several tools gets `_` and eight base32 characters of SHA-256 over app and own name; among
 * claimants, the one whose own name needed no change keeps the plain form. So a name depends on its own tool, and on
 * others only where they claim the very same plain form.
 */
export function shortNames(tools: readonly NamedTool[], options: { readonly max?: number } = {}): Map<string, string> {
  const max = Math.max(SUFFIX_LENGTH + 4, options.max ?? MAX_SHORT_NAME);
  const claims = new Map<string, NamedTool[]>();
  const unique = [...new Map(tools.map((tool) => [tool.full, tool])).values()].sort((a, b) => (a.full < b.full ? -1 : 1));
  const plainOf = new Map(unique.map((tool) => [tool, plainName(tool.full)]));
  for (const [tool, plain] of plainOf) {
    const others = claims.get(plain);
    if (others) others.push(tool);
    else claims.set(plain, [tool]);
  }
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const rest: NamedTool[] = [];
  for (const [tool, plain] of plainOf) {
    if (plain.length <= max && LEGAL.test(plain) && READABLE.test(tool.tool) && ownerOf(claims.get(plain)!) === tool) {
      names.set(tool.full, plain);
      taken.add(plain);
    } else {
      rest.push(tool);
    }
  }
  for (const tool of rest) {
    let name = suffixed(tool, plainOf.get(tool)!, max, 0);
    // A server may have named a tool exactly like our suffixed form: then hash once more.
    for (let round = 1; taken.has(name); round += 1) name = suffixed(tool, plainOf.get(tool)!, max, round);
    names.set(tool.full, name);
    taken.add(name);
  }
  return names;
}

/** Eight lower-case base32 characters of SHA-256 over a list of texts. */
export function nameHash(...parts: readonly string[]): string {
  const bytes = createHash("sha256").update(parts.join("\0")).digest();
  let out = "";
  // Forty bits are eight characters of five.
  let bits = bytes.readUIntBE(0, 5);
  for (let i = 0; i < SUFFIX_LENGTH; i += 1) {
    out = "abcdefghijklmnopqrstuvwxyz234567".charAt(bits % 32) + out;
    bits = Math.floor(bits / 32);
  }
  return out;
}

function plainName(full: string): string {
  if (LEGAL.test(full)) return full;
  return letterFirst(full.replace(ILLEGAL_RUN, "_"));
}

function letterFirst(text: string): string {
  const readable = text.replace(/^[_-]+/, "");
  return readable === "" || /^[A-Za-z]/.test(readable) ? readable : `t_${readable}`;
}

/** Who may keep a plain name that several tools claim: a legal full name first, then the only one whose own name was legal. */
function ownerOf(claimants: readonly NamedTool[]): NamedTool | undefined {
  if (claimants.length === 1) return claimants[0];
  const legal = claimants.filter((tool) => LEGAL.test(tool.full));
  if (legal.length === 1) return legal[0];
  const own = claimants.filter((tool) => /^[A-Za-z0-9_-]+$/.test(tool.tool));
  return own.length === 1 ? own[0] : undefined;
}

function suffixed(tool: NamedTool, plain: string, max: number, round: number): string {
  const room = max - SUFFIX_LENGTH - 1;
  const hash = round === 0 ? nameHash(tool.app, tool.tool) : nameHash(tool.app, tool.tool, String(round));
  return `${readablePart(tool, plain, room)}_${hash}`;
}

/** What stays of a long name: the head of a tool's own name that fills the room alone, else the end of the whole, cut at a word. */
function readablePart(tool: NamedTool, plain: string, room: number): string {
  if (plain.length <= room) return plain === "" ? "tool" : plain;
  const own = plainName(tool.tool);
  if (own.length >= room) return own.slice(0, room);
  const tail = plain.slice(-room);
  const word = tail.search(/(?<=_)[A-Za-z]/);
  const cut = word > 0 && tail.length - word >= own.length ? tail.slice(word) : own;
  return cut === "" ? "tool" : cut;
}
