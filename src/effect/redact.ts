import { formsOf, type Redacted } from './secret-form.ts';
import { type FoundSecret, SecretSearch } from './secret-search.ts';

/**
 * Takes secrets out of a stream, in every form that `secret-form.ts` lists, with any of their characters escaped as JSON and URLs do. What is held
 * back is only an end that may be the beginning of a secret, and a line that holds none is passed on whole.
 */
export class Redactor {
  readonly #search: SecretSearch | null;
  /** The end of what came, and where it begins. What comes before `#told` belongs to a secret whose mark was passed on. */
  #held: Uint8Array = Buffer.alloc(0);
  #begin = 0;
  #told = 0;

  constructor(secrets: readonly Redacted[]) {
    this.#search = secrets.length === 0 ? null : new SecretSearch(secrets.flatMap(formsOf));
  }

  /** What can be passed on now. */
  take(chunk: Uint8Array): Uint8Array {
    const search = this.#search;
    if (search === null) return chunk;
    const all = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    search.read(all, this.#begin, false);
    return this.#pass(all, search.takeFound(search.open_from), search.open_from);
  }

  /** The rest. What looks like the beginning of a secret is one that was cut off, if it is as long as the shortest. */
  end(): Uint8Array {
    const search = this.#search;
    const all = this.#held;
    if (search === null) return all;
    const cut = search.cutOff(all, this.#begin);
    search.read(all, this.#begin, true);
    const found = [...search.takeFound(Number.POSITIVE_INFINITY), ...cut, ...search.cutOff(all, this.#begin)];
    return this.#pass(all, found, this.#begin + all.length);
  }

  #pass(all: Uint8Array, found: readonly FoundSecret[], until: number): Uint8Array {
    const begin = this.#begin;
    const parts: Uint8Array[] = [];
    let at = Math.max(begin, this.#told);
    for (const { start, end, form } of merged(found)) {
      if (start > at) parts.push(all.subarray(at - begin, start - begin));
      // One that begins inside another goes on from the mark of that one.
      if (start >= at) parts.push(form.mark);
      at = Math.max(at, end);
    }
    if (until > at) parts.push(all.subarray(at - begin, until - begin));
    this.#told = at;
    this.#held = Buffer.from(all.subarray(until - begin));
    this.#begin = until;
    return Buffer.concat(parts);
  }
}

/** What overlaps is one place. */
function merged(found: readonly FoundSecret[]): FoundSecret[] {
  const places: FoundSecret[] = [];
  for (const place of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = places.at(-1);
    if (last && place.start < last.end) last.end = Math.max(last.end, place.end);
    else places.push({ ...place });
  }
  return places;
}
