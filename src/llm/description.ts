/** Longest tool description that OpenAI Chat was seen to take. */
export const OPENAI_MAX_DESCRIPTION = 1_024;

/** A tool's description with sentences for what its schema can no longer say, cut to `max` characters; the sentences are kept whole where they fit. */
export function toolDescription(text: string, sentences: readonly string[], max: number): string {
  if (sentences.length === 0) return cutAtWord(text, max);
  const more = sentences.join(" ");
  const whole = [text, more].filter((part) => part !== "").join(more === "" || /[.!?。！？]$/.test(text) ? " " : ". ");
  if (whole.length <= max) return whole;
  const room = max - more.length - 1;
  return more !== "" && room >= max / 2 ? `${cutAtWord(text, room)} ${more}` : cutAtWord(whole, max);
}

/** A text cut to `max` characters at a word boundary, with `…` at its end; never inside a surrogate pair or before a combining mark. */
export function cutAtWord(text: string, max: number): string {
  if (text.length <= max) return text;
  let end = max - 1;
  while (end > 0 && (/[\udc00-\udfff]/.test(text.charAt(end)) || /^[\p{M}\u200d\ufe0f]/u.test(text.slice(end, end + 2)) || text.charAt(end - 1) === "\u200d"))
    end -= 1;
  const head = text.slice(0, end);
  if (/\s/.test(text.charAt(end))) return `${head.trimEnd()}…`;
  const space = head.search(/\s\S*$/);
  // Scripts without blanks have no word boundary worth a long way back.
  return `${(space > max * 0.8 ? head.slice(0, space) : head).trimEnd()}…`;
}
