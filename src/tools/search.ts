/** What is searched of a tool. */
export interface SearchableTool {
  /** Unique; what a hit is known by. */
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  /** Names and descriptions of the arguments, and any other words. */
  readonly more?: readonly string[];
}

/** A tool that was found; a higher score is a better match. */
export interface SearchHit {
  readonly name: string;
  readonly score: number;
}

/** An index over tools; made once per catalogue. */
export interface ToolIndex {
  /** The best matches first; equal scores by name. Empty for a query without words. */
  search(query: string, limit?: number): SearchHit[];
}

/** Okapi BM25's usual constants: how fast repeats saturate, how much length counts. */
const K1 = 1.2;
const B = 0.75;
/** A word in the name says more than one in the description. */
const WEIGHTS = { name: 4, title: 3, description: 1, more: 0.5 };
/** What a word counts that only begins like the asked one. */
const PREFIX_WEIGHT = 0.5;
const MIN_PREFIX = 3;

interface Posting {
  readonly document: number;
  readonly count: number;
}

/** Indexes tools for BM25 search over names, titles, descriptions and arguments. Words are split at case, digits and punctuation; Chinese text in pairs of characters. */
export function indexTools(tools: readonly SearchableTool[]): ToolIndex {
  const postings = new Map<string, Posting[]>();
  const lengths: number[] = [];
  tools.forEach((tool, document) => {
    const counts = new Map<string, number>();
    const add = (text: string | null | undefined, weight: number): void => {
      for (const word of wordsOf(text ?? "")) counts.set(word, (counts.get(word) ?? 0) + weight);
    };
    add(tool.name, WEIGHTS.name);
    add(tool.title, WEIGHTS.title);
    add(tool.description, WEIGHTS.description);
    for (const text of tool.more ?? []) add(text, WEIGHTS.more);
    let length = 0;
    for (const [word, count] of counts) {
      length += count;
      const list = postings.get(word);
      if (list) list.push({ document, count });
      else postings.set(word, [{ document, count }]);
    }
    lengths.push(length);
  });
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, tools.length) || 1;
  const sorted = [...postings.keys()].sort();

  const scoreWord = (word: string, weight: number, scores: Map<number, number>): void => {
    const list = postings.get(word) ?? [];
    const rarity = Math.log(1 + (tools.length - list.length + 0.5) / (list.length + 0.5));
    for (const { document, count } of list) {
      const saturated = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[document]!) / average));
      scores.set(document, (scores.get(document) ?? 0) + weight * rarity * saturated);
    }
  };

  return {
    search(query, limit = 10) {
      const scores = new Map<number, number>();
      for (const word of new Set(wordsOf(query))) {
        scoreWord(word, 1, scores);
        if (word.length < MIN_PREFIX) continue;
        for (let i = firstAtLeast(sorted, word); i < sorted.length && sorted[i]!.startsWith(word); i += 1)
          if (sorted[i] !== word) scoreWord(sorted[i]!, PREFIX_WEIGHT, scores);
      }
      return [...scores]
        .map(([document, score]) => ({ name: tools[document]!.name, score }))
        .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
        .slice(0, limit);
    },
  };
}

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The words of a text: lower case, split at `camelCase`, digits and punctuation, without a plural s. */
function wordsOf(text: string): string[] {
  const out: string[] = [];
  for (const run of text.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").match(/[\p{L}\p{M}]+|\d+/gu) ?? []) {
    if (!HAN.test(run)) {
      const word = run.toLowerCase();
      out.push(word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word);
      continue;
    }
    const characters = [...run.toLowerCase()];
    if (characters.length === 1) out.push(characters[0]!);
    for (let i = 0; i + 1 < characters.length; i += 1) out.push(characters[i]! + characters[i + 1]!);
  }
  return out;
}

function firstAtLeast(sorted: readonly string[], word: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return low;
}
