/** Hands events to listeners; a listener that throws hurts neither the sender nor the others. */
export class Emitter<Events extends { [K in keyof Events]: (...input: never[]) => void }> {
  readonly #listeners = new Map<keyof Events, Set<(...input: never[]) => void>>();
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Gives a function that stops the listening. */
  on<E extends keyof Events>(event: E, listener: Events[E]): () => void {
    let set = this.#listeners.get(event);
    if (!set) this.#listeners.set(event, (set = new Set()));
    set.add(listener);
    return () => set.delete(listener);
  }

  emit<E extends keyof Events>(event: E, ...input: Parameters<Events[E]>): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      try {
        (listener as (...given: Parameters<Events[E]>) => void)(...input);
      } catch (error) {
        this.#onFault(error);
      }
    }
  }
}
