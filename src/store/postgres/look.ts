import type { Digest } from '../../canonical/digest.ts';
import { refuse } from '../../refusal.ts';
import type { BatchDraft } from '../draft.ts';
import type { Backend } from './begin.ts';
import type { Connection } from './connection.ts';
import { lockEnd } from './load.ts';
import type { Tenant } from './rows.ts';
import { together } from './together.ts';

/** Ends the session whose answer is missing, if it still lives. It may be waiting, with the lock of the chain. */
const END_SESSION = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2`;

/**
 * Whether a write without an answer happened, found by looking. The new generation makes the answer final: a write that
 * is still on its way finds the chain changed and writes nothing. And it is a commit itself, so when it is durable, here
 * and on every standby that counts, everything before it is too.
 */
export async function wasWritten(
  db: Connection,
  tenant: Tenant,
  draft: BatchDraft,
  lost: Backend,
  query_timeout: number,
): Promise<boolean> {
  await db.ask({ text: END_SESSION, values: [lost.pid, lost.started], query_timeout });
  const { seq, hash } = draft.entries[0]!;
  const warnings = db.warnings();
  const [, , entry, , { command }] = await together([
    db.ask({ text: 'BEGIN' }),
    lockEnd(db, tenant),
    db.ask<{ hash: Digest }>({
      text: 'SELECT hash FROM keyturn.entry WHERE tenant = $1 AND seq = $2',
      values: [tenant.id, seq],
    }),
    db.ask({
      text: 'UPDATE keyturn.tenant SET generation = generation + 1 WHERE id = $1',
      values: [tenant.id],
    }),
    db.ask({ text: 'COMMIT', query_timeout }),
  ]);
  if (command !== 'COMMIT') refuse('STORE_UNREACHABLE', 'The look for a write did not commit.');
  // It was written here, and perhaps nowhere else: it is then not yet known whether the entries before it are durable.
  if (db.warnings() > warnings)
    refuse('STORE_UNREACHABLE', 'The server gave a warning beside the look for a write.');
  return entry.rows[0]?.hash === hash;
}
