/** A memory of bounded size: beyond `most`, what was asked for or set longest ago is forgotten. */
export class Recent<K, V extends NonNullable<unknown>> {
  readonly #most: number;
  readonly #held = new Map<K, V>();

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
    const [oldest] = this.#held.keys();
    this.#held.delete(oldest!);
  }

  delete(key: K): void {
    this.#held.delete(key);
  }
}
