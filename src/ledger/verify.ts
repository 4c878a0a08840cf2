import type { Digest } from '../canonical/digest.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Entry, leafHash, openWritten, type SealedEntry, skimEntry } from './entry.ts';
import { append, rootOf, type Tree, type TreeRoot } from './merkle.ts';
import { type SegmentBeginning, WHOLE } from './segment.ts';

export interface ChainVerifyOptions {
  /** The tenant that every entry must name. Without it, the one that the first entry names. */
  readonly tenant?: string;
  /** Heads that an auditor kept, opened already: the ledger must go through each of them. */
  readonly kept?: readonly TreeRoot[];
  /** Also checks the canonical form of each entry, and asks `inspect`. */
  readonly deep?: boolean;
  /** What came before the first entry; nothing unless told. */
  readonly begin?: SegmentBeginning;
  /** What bytes of this hash say, where they were parsed before. */
  readonly known?: (hash: Digest) => Entry | undefined;
  /** Called for each entry once its place in the chain is known. */
  readonly onEntry?: (entry: Entry) => void;
  /** Called for each entry of a deep verification. It refuses an entry whose body it cannot accept. */
  readonly inspect?: (entry: Entry) => void;
}

/** A ledger of which every byte was hashed again. */
export interface VerifiedLedger extends Tree {
  readonly root: Digest;
  readonly last: Digest;
  readonly at: string | null;
  readonly tenant: string | null;
}

/** Feed it the whole ledger from its first entry, or a part of it, in order. It refuses at the first entry that is wrong. */
export class LedgerVerifier {
  #tree: Tree;
  #last: Digest;
  #at: string | null = null;
  #tenant: string | null;
  readonly #kept: ReadonlyMap<number, Digest>;
  readonly #options: ChainVerifyOptions;

  constructor(options: ChainVerifyOptions = {}) {
    this.#options = options;
    const { size, frontier, last } = options.begin ?? WHOLE;
    this.#tree = { size, frontier };
    this.#last = last;
    this.#tenant = options.tenant ?? null;
    this.#kept = rootsBySize(options.kept ?? []);
    this.#compareWithKept();
  }

  get size(): number {
    return this.#tree.size;
  }

  feed(batch: readonly SealedEntry[]): void {
    for (const sealed of batch) this.#follow(sealed);
  }

  finish(): VerifiedLedger {
    const longest = Math.max(0, ...this.#kept.keys());
    if (longest > this.size)
      refuse('LEDGER_TRUNCATED', `The ledger has ${this.size} entries; a kept head has ${longest}.`, {
        entries: this.size,
        kept: longest,
      });
    const { size, frontier } = this.#tree;
    return { size, frontier, root: rootOf(this.#tree), last: this.#last, at: this.#at, tenant: this.#tenant };
  }

  #follow(sealed: SealedEntry): void {
    const seq = this.size;
    if (sealed.seq !== seq) broken(seq, `it is missing; the next one stored is ${sealed.seq}`);
    if (leafHash(sealed.bytes) !== sealed.hash) broken(seq, 'its bytes do not have the stored hash');
    const known = this.#options.known?.(sealed.hash);
    const entry = known ?? skimEntry(sealed.bytes) ?? broken(seq, 'its bytes are not an entry');
    if (entry.seq !== seq) broken(seq, `it says that it is entry ${entry.seq}`);
    if (entry.prev !== this.#last) broken(seq, 'it does not follow the entry before it');
    if (entry.tenant !== (this.#tenant ?? entry.tenant)) broken(seq, 'it belongs to another tenant');
    if (this.#options.deep) this.#lookDeeper(seq, sealed.bytes);
    this.#tree = append(this.#tree, sealed.hash);
    this.#last = sealed.hash;
    this.#at = entry.at;
    this.#tenant = entry.tenant;
    this.#compareWithKept();
    this.#options.onEntry?.(entry);
  }

  #lookDeeper(seq: number, bytes: Uint8Array): void {
    try {
      const entry = openWritten(bytes);
      this.#options.inspect?.(entry);
    } catch (error) {
      if (!(error instanceof Refusal) || (error.code === 'LEDGER_BROKEN' && 'seq' in error.facts))
        throw error;
      broken(seq, error.message, error.code === 'LEDGER_BROKEN' ? {} : { reason_code: error.code });
    }
  }

  #compareWithKept(): void {
    const root = this.#kept.get(this.size);
    if (root !== undefined && root !== rootOf(this.#tree)) forked(this.size);
  }
}

function rootsBySize(kept: readonly TreeRoot[]): Map<number, Digest> {
  const roots = new Map<number, Digest>();
  for (const { size, root } of kept) {
    if ((roots.get(size) ?? root) !== root) forked(size);
    roots.set(size, root);
  }
  return roots;
}

function forked(size: number): never {
  return refuse('LEDGER_FORKED', `The first ${size} entries are not those of the kept head.`, { size });
}

function broken(seq: number, problem: string, more: Record<string, string> = {}): never {
  return refuse('LEDGER_BROKEN', `Entry ${seq}: ${problem}.`, { seq, problem, ...more });
}
