import { setTimeout as pause } from 'node:timers/promises';
import { Refusal, refuse } from '../../refusal.ts';
import type { CheckedCommit } from '../decide.ts';
import type { Receipt } from '../store.ts';
import type { Backend, Connection } from './connection.ts';
import { isConflict, isLost, refusalOf } from './failure.ts';
import type { Outcome } from './group.ts';
import { look } from './look.ts';
import { type Known, lockedly, quickly, type Unknown, type Work, type Written, workOf } from './roads.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';

/** Writes batches, one after the other, to the end of one chain. */
export interface Chain {
  write(batch: readonly CheckedCommit[]): Promise<readonly Outcome<Receipt>[]>;
  /** The same for work that is decided otherwise, always under the lock. */
  writeWork(work: Work): Promise<readonly Outcome<Receipt>[]>;
  /** Somebody else changed the state behind what this process knows. */
  forget(): void;
}

/** How often a transaction that the server gave up is tried, and how long to wait for a server that is away. */
const TRIES = 5;
const PAUSE_ms = 100;
/** After another process was faster: so many batches take the lock at once, because it will write again. */
const WARY = 16;

export function chainOf(session: Session, tenant: Tenant, clock: () => Date, busy_ms: number): Chain {
  let known: Known | null = null;
  let wary = 0;
  // Nobody knows what became of an earlier write. Only a store that is opened anew reads what is there.
  let failed: Refusal | null = null;

  type Attempt = (db: Connection) => Promise<Written | Unknown>;

  async function through(attempt: Attempt): Promise<readonly Outcome<Receipt>[]> {
    if (failed) refuse('WRITE_FAILED', 'An earlier write is unresolved. Open the store again.');
    const deadline = performance.now() + busy_ms;
    for (let tries = 1; ; tries++) {
      const outcomes = await tried(attempt, tries, deadline);
      if (outcomes) return outcomes;
    }
  }

  /** Null when it surely was not written and may be tried again. */
  async function tried(attempt: Attempt, tries: number, deadline: number) {
    let db: Connection | null = null;
    try {
      db = await session.current();
      const result = await attempt(db);
      known = 'known' in result ? result.known : null;
      if ('known' in result) return result.draft.outcomes;
      session.drop(db);
      if (await settled(result, db.backend, deadline)) return result.unanswered.outcomes;
      if (performance.now() >= deadline) throw result.cause;
    } catch (error) {
      known = null;
      if (db && isLost(error)) session.drop(db);
      await requireRetriable(error, tries, deadline);
    }
    return null;
  }

  async function commits(db: Connection, batch: readonly CheckedCommit[]): Promise<Written | Unknown> {
    if (known && wary === 0) {
      const written = await quickly(db, tenant, known, batch, clock().toISOString());
      if (written) return written;
      wary = WARY;
    }
    const before = known;
    const written = await lockedly(db, tenant, workOf(tenant, batch), clock);
    if (wary > 0 && 'known' in written) wary = before && isWhereItWas(before, written) ? 0 : wary - 1;
    return written;
  }

  /** Nothing was sent that could still be written. A no of the server is final, unless it was about two in the way. */
  async function requireRetriable(error: unknown, tries: number, deadline: number): Promise<void> {
    const may_wait = isLost(error) && performance.now() < deadline;
    if (!may_wait && !(isConflict(error) && tries < TRIES)) throw refusalOf(error);
    await pause(PAUSE_ms);
  }

  async function settled(unknown: Unknown, lost: Backend, deadline: number): Promise<boolean> {
    for (;;) {
      try {
        return await look(await session.current(), tenant, unknown.unanswered, lost);
      } catch (error) {
        if (performance.now() >= deadline) {
          failed = new Refusal('WRITE_FAILED', `It is unknown whether this was written: ${messageOf(error)}`);
          throw failed;
        }
      }
      await pause(PAUSE_ms);
    }
  }

  return {
    write: (batch) => through((db) => commits(db, batch)),
    writeWork: (work) => through((db) => lockedly(db, tenant, work, clock)),
    forget: () => {
      known = null;
    },
  };
}

/** Nobody else wrote between the last commit of this process and this one. */
function isWhereItWas(before: Known, { draft }: Written): boolean {
  return before.tip.size === draft.before.size && before.tip.last === draft.before.last;
}

function messageOf(error: unknown): string {
  const refusal = refusalOf(error);
  return refusal instanceof Error ? refusal.message : String(error);
}
