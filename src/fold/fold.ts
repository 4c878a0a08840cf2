import { type Event, isSigned } from '../event/event.ts';
import { requireItsPlace } from '../gate/ledger-time.ts';
import { requireAuthority } from '../identity/authority.ts';
import type { Verified } from '../identity/verified.ts';
import { refuse } from '../refusal.ts';
import { requireGrounds } from './grounds.ts';
import { movedBy } from './projection.ts';
import { authoritiesOf, overlay, type Row, type Rows } from './row.ts';

/** Where an event stands in the ledger. */
export interface Place {
  readonly seq: number;
  readonly at: string;
}

/**
 * Pure: the rows that this event changes, or a refusal. Commit, adoption, rebuild, deep verification, proofs and replay call
 * this one function, so none of them takes what another one refuses.
 */
export function fold(rows: Rows, event: Verified, { seq, at }: Place): Iterable<Row> {
  requireBeginning(event, seq);
  // Only an enrolled, active human acts, or a delegate of one. The first key has nobody to vouch for it and signs for itself.
  if (isSigned(event) && seq !== 1) requireAuthority(authoritiesOf(rows), event, at);
  requireItsPlace(event, seq, at);
  requireGrounds(rows, event, at);
  const now = overlay(rows);
  const step = { seq, at, before: rows, now };
  for (const { name, is_count, key, next } of movedBy(event.kind)) {
    if (is_count && !rows.is_whole) continue;
    const changed = key(event, step);
    if (changed === null) continue;
    const before = rows.row(name, changed);
    const state = next(before?.state ?? null, event, step);
    if (state !== null) now.put({ name, key: changed, seq: before?.seq ?? seq, state });
  }
  return now.changed();
}

/** The first entry names the ledger, the second one its first human. Every later signature rests on these two. */
function requireBeginning({ kind, subject, body }: Event, seq: number): void {
  if (seq === 0 && kind !== 'system.initialised') refuse('TRANSITION_ILLEGAL', 'There is no ledger yet.');
  if (seq !== 0 && kind === 'system.initialised')
    refuse('TRANSITION_ILLEGAL', 'The ledger was initialised before.');
  if (seq !== 1) return;
  if (kind !== 'key.enrolled') refuse('TRANSITION_ILLEGAL', 'The second entry enrols the first human.');
  if (body.by !== subject || body.key !== body.public_key)
    refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
}
