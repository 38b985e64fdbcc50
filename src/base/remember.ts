/** Longer texts are rarely seen again, and dear to keep. */
const MAX_TEXT = 200;
const MAX_KEPT = 2000;

/** A pure function of texts that remembers its answers for short ones. */
export interface Remembering<T> {
  (text: string): T;
  /** For when the answers are no longer right. */
  forget(): void;
}

/** Gives a pure function of texts a bounded memory: what was asked for lately stays, the rest goes. */
export function remember<T>(make: (text: string) => T): Remembering<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  const get = (text: string): T => {
    if (text.length > MAX_TEXT) return make(text);
    const known = young.get(text);
    if (known !== undefined) return known;
    const made = old.get(text) ?? make(text);
    if (young.size >= MAX_KEPT / 2) {
      old = young;
      young = new Map();
    }
    young.set(text, made);
    return made;
  };
  const forget = (): void => {
    young.clear();
    old.clear();
  };
  return Object.assign(get, { forget });
}
