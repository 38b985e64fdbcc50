const MAX_COOKIES = 20;
const MAX_CHARS = 4096;
/** A cookie as RFC 6265 lets servers write it, without quotes to think about. */
const PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,200})=([\u0021-\u003a\u003c-\u007e]*)$/;

/**
 * The cookies of one connection. Load balancers know by them which server has the session: without them every second request finds a
 * server that has never heard of it. They go back to the origin they came from, and end with the connection.
 */
export class StickyCookies {
  readonly #cookies = new Map<string, string>();

  /** Takes the `Set-Cookie` lines of a response; one that is over by its own word is forgotten. */
  take(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair, ...attributes] = line.split(";").map((part) => part.trim());
      const [, name, value] = PAIR.exec(pair!) ?? [];
      if (name === undefined || value === undefined || pair!.length > MAX_CHARS) continue;
      if (attributes.some(isOver)) this.#cookies.delete(name);
      else if (this.#cookies.has(name) || this.#cookies.size < MAX_COOKIES) this.#cookies.set(name, value);
    }
  }

  /** The `Cookie` header of the next request, with the one that is configured; undefined when there are none. */
  header(configured: string | undefined): string | undefined {
    const all = [...(configured === undefined ? [] : [configured]), ...[...this.#cookies].map(([name, value]) => `${name}=${value}`)];
    return all.length === 0 ? undefined : all.join("; ");
  }
}

function isOver(attribute: string): boolean {
  const [, name, value] = /^(max-age|expires)=(.*)$/i.exec(attribute) ?? [];
  if (name === undefined) return false;
  return name.length === "max-age".length ? Number(value) <= 0 : Date.parse(value!) <= Date.now();
}
