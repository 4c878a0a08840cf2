/** A memory of bounded size: beyond `most`, what was asked for or set longest ago is forgotten. */
export class Recent<K, V extends NonNullable<unknown>> {
  readonly #most: number;
  readonly #held = new Map<K, V>();
  /**
   * Stands before the oldest that is held: a new look from the front would pass all that was deleted there. It keeps each table that the map
   * had since its last step, so it is let go when no step was taken for long.
   */
  #oldest: Iterator<K> | null = null;
  #moved = 0;

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
    if (this.#held.size > this.#most) this.#forgetOldest();
    else if (this.#oldest !== null && ++this.#moved > this.#most) this.#oldest = null;
  }

  #forgetOldest(): void {
    this.#oldest ??= this.#held.keys();
    this.#held.delete(this.#oldest.next().value as K);
    this.#moved = 0;
  }

  delete(key: K): void {
    this.#held.delete(key);
  }
}
