import { type Event, isSigned } from '../event/event.ts';
import { requireItsPlace, requireSignedByNow } from '../gate/ledger-time.ts';
import { AUDITOR } from '../identity/auditor.ts';
import { requireAuthority } from '../identity/authority.ts';
import type { Verified } from '../identity/verified.ts';
import type { Entry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import { requireGrounds } from './grounds.ts';
import { movedBy } from './projection.ts';
import { authoritiesOf, type Row, RowOverlay, type Rows } from './row.ts';

/**
 * Pure: the rows that this event changes, or a refusal. Commit, adoption, rebuild, deep verification, proofs and replay call
 * this one function, so none of them takes what another one refuses.
 */
export function fold(rows: Rows, event: Verified, { seq, at }: Pick<Entry, 'seq' | 'at'>): Iterable<Row> {
  requireBeginning(event, seq);
  // Only an enrolled, active human acts, or a delegate of one. No key could sign for the first one: it signs for itself.
  if (isSigned(event)) {
    if (seq !== 1) requireAuthority(authoritiesOf(rows), event, at);
    if (Date.parse(event.body.deadline) < Date.parse(at)) refuse('ACT_LATE');
    requireSignedByNow(event.kind, event.body.signed_at, at);
  }
  requireItsPlace(event, seq, at);
  requireGrounds(rows, event, at);
  const now = new RowOverlay(rows);
  const step = { seq, at, before: rows, now };
  for (const { name, is_count, keys, next } of movedBy(event.kind)) {
    if (is_count && !rows.is_whole) continue;
    for (const key of keys(event, step)) {
      const before = rows.row(name, key);
      const state = next(before?.state ?? null, event, step);
      if (state !== null) now.put({ name, key, seq: before?.seq ?? seq, state });
    }
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
  if (body.by !== subject || body.key !== body.credential?.public_key)
    refuse('SIGNATURE_INVALID', 'The first key is not signed by itself.');
  if (body.roles.includes(AUDITOR)) refuse('LAST_HUMAN', 'The first human cannot be an auditor.');
}
