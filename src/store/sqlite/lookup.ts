import type { Row, RowName } from '../../fold/row.ts';

/** One key of the tree `lookup`: under `near`, what `kind` of thing, and which. */
export type LookupKey = readonly [near: string, kind: 'entry' | 'claim' | RowName, key: string | number];

/** And where it leads. */
export type Lookup = readonly [...LookupKey, seq: number];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** A function of the claim alone, so that the key of the tree makes the claim itself unique. */
export function claimKey(claim: string): LookupKey {
  return [UUID.exec(claim)?.[0] ?? claim, 'claim', claim];
}

export function rowKey(name: RowName, key: string): LookupKey {
  return [key, name, ''];
}

export function claimLookup(claim: string, seq: number): Lookup {
  return [...claimKey(claim), seq];
}

export function entryLookup(subject: string, seq: number): Lookup {
  return [subject, 'entry', seq, seq];
}

export function rowLookup({ name, key, seq }: Row): Lookup {
  return [...rowKey(name, key), seq];
}
