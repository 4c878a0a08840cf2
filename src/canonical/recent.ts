/** A memory of bounded size: beyond `most`, what was asked for or set longest ago is forgotten. */
export class Recent<K, V extends NonNullable<unknown>> {
  readonly #most: number;
  readonly #held = new Map<K, V>();
  /** Stands before the oldest that is held: a new look from the front would pass all that was deleted there. */
  readonly #oldest = this.#held.keys();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const found = this.#held.get(key);
    if (found !== undefined) this.set(key, found);
    return found;
  }

  set(key: K, value: V): void {
    this.#held.delete(key);
    this.#held.set(key, value);
    if (this.#held.size <= this.#most) return;
    this.#held.delete(this.#oldest.next().value as K);
  }

  delete(key: K): void {
    this.#held.delete(key);
  }
}
