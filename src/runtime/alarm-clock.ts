/** Lets one loop sleep until the time is over or somebody nudges it. */
export class AlarmClock {
  #wake: (() => void) | null = null;
  #nudged = false;

  /** Ends the sleep; a nudge while nobody sleeps ends the next one at once. */
  nudge(): void {
    this.#nudged = true;
    this.#wake?.();
  }

  /** The loop looks at everything now: what it was nudged for is seen. */
  look(): void {
    this.#nudged = false;
  }

  /** Sleeps until nudged (true) or for `ms` (false; null is without end). A nudge since the last look counts at once. */
  async sleep(ms: number | null): Promise<boolean> {
    if (this.#nudged) return true;
    let timer: NodeJS.Timeout | undefined;
    const woken = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true);
      if (ms !== null) timer = setTimeout(() => resolve(false), ms);
    });
    this.#wake = null;
    clearTimeout(timer);
    return woken;
  }
}
