import type { RowName } from '../projection.ts';

/** One key of the tree `lookup`: under `near`, what `kind` of thing, and which. */
export type LookupKey = readonly [near: string, kind: 'entry' | 'claim' | RowName, key: string | number];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** A function of the claim alone, so that the key of the tree makes the claim itself unique. */
export function claimKey(claim: string): LookupKey {
  return [UUID.exec(claim)?.[0] ?? claim, 'claim', claim];
}

export function entryKey(subject: string, seq: number): LookupKey {
  return [subject, 'entry', seq];
}

export function rowKey(name: RowName, key: string): LookupKey {
  return [key, name, ''];
}
