/** Longer texts are rarely seen again, and dear to keep. */
const MAX_TEXT = 200;
const MAX_KEPT = 2000;

/** A pure function of texts that remembers its answers for short ones. */
export interface Remembering<T> {
  (text: string): T;
  /** For when the answers are no longer right. */
  forget(): void;
}

/** Gives a pure function of texts a bounded memory. */
export function remember<T>(make: (text: string) => T): Remembering<T> {
  const kept = new Map<string, T>();
  const get = (text: string): T => {
    if (text.length > MAX_TEXT) return make(text);
    const known = kept.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(text, made);
    return made;
  };
  return Object.assign(get, { forget: () => kept.clear() });
}
