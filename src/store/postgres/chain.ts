import { setTimeout as pause } from 'node:timers/promises';
import { postgresLimits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { CheckedCommit } from '../decide.ts';
import type { BatchAnswer } from '../group.ts';
import { MissedRows } from '../loaded-rows.ts';
import type { Receipt, Tip } from '../store.ts';
import type { Backend } from './begin.ts';
import type { Connection } from './connection.ts';
import { isConflict, isFull, isLost, storeRefusal } from './failure.ts';
import { wasWritten } from './look.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';
import {
  type BatchWritten,
  type GatheringWork,
  type KnownChain,
  lockedly,
  quickly,
  type Unknown,
  type Work,
  workOf,
} from './write-paths.ts';

/** Writes batches, one after the other, to the end of one chain. */
export interface Chain {
  /** Where it waits for another process, `join` gives what was asked meanwhile: that is answered behind the batch. */
  write(
    batch: readonly CheckedCommit[],
    join: () => readonly CheckedCommit[],
  ): Promise<readonly BatchAnswer<Receipt>[]>;
  /** The same for work that is decided otherwise, always under the lock. */
  writeWork(work: Work): Promise<readonly BatchAnswer<Receipt>[]>;
  /** Where the last write of this process left the chain; null where that is not known. */
  tip(): Tip | null;
  /** Another process changed the stored state. */
  forget(): void;
}

/** One batch on its way. */
interface Journey {
  tries: number;
  readonly deadline_ms: number;
  /** It turned out late that nothing was written, and there was one more attempt. */
  was_late: boolean;
  /** This host seemed ahead of the server, and its clock was compared once more. */
  was_ahead: boolean;
}

export function chainOf(session: Session, tenant: Tenant, clock: () => Date, busy_ms: number): Chain {
  const missed = new MissedRows();
  let known: KnownChain | null = null;
  let wary = 0;
  // It is unknown whether an earlier write happened. Only a store that is opened again reads what is there.
  let failed: Refusal | null = null;

  type Attempt = (db: Connection) => Promise<BatchWritten | Unknown>;

  async function through(attempt: Attempt): Promise<readonly BatchAnswer<Receipt>[]> {
    if (failed) refuse('WRITE_FAILED', 'An earlier write is unresolved. Open the store again.');
    const journey = {
      tries: 0,
      deadline_ms: performance.now() + busy_ms,
      was_late: false,
      was_ahead: false,
    };
    for (;;) {
      journey.tries += 1;
      const outcomes = await tried(attempt, journey);
      if (outcomes) return outcomes;
    }
  }

  /** Null when it surely was not written and may be tried again. */
  async function tried(attempt: Attempt, journey: Journey) {
    let db: Connection | null = null;
    try {
      db = await session.current();
      const result = await attempt(db);
      known = 'known' in result ? result.known : null;
      if ('known' in result) return result.draft.outcomes;
      session.drop(db);
      if (await settled(result, db.backend, journey.deadline_ms)) return result.unanswered.outcomes;
      requireTime(result, journey);
    } catch (error) {
      known = null;
      if (db && (isLost(error) || isAhead(error) || isUnsafe(storeRefusal(error)))) session.drop(db);
      await requireRetriable(error, journey);
    }
    return null;
  }

  /** The answer may have been awaited until the deadline. The server lives now, so it is asked once more. */
  function requireTime({ cause }: Unknown, journey: Journey): void {
    if (performance.now() < journey.deadline_ms) return;
    if (journey.was_late) throw cause;
    journey.was_late = true;
  }

  async function commits(db: Connection, gathering: GatheringWork): Promise<BatchWritten | Unknown> {
    if (known && wary === 0) {
      const written = await quickly(db, tenant, known, gathering.batch, clock);
      if (written) return written;
      wary = postgresLimits.wary_batches;
    }
    const before = known;
    const written = await lockedly(db, tenant, gathering, clock, missed, before);
    if (wary > 0 && 'known' in written) wary = before && isWhereItWas(before, written) ? 0 : wary - 1;
    return written;
  }

  /** Nothing was sent that could still be written. A no of the server is final, unless it was about two in the way. */
  async function requireRetriable(error: unknown, journey: Journey): Promise<void> {
    if (isAhead(error) && !journey.was_ahead) {
      journey.was_ahead = true;
      return;
    }
    const may_wait = (isLost(error) || isFull(error)) && performance.now() < journey.deadline_ms;
    if (!may_wait && !(isConflict(error) && journey.tries < postgresLimits.tries)) throw storeRefusal(error);
    await pause(postgresLimits.pause_ms);
  }

  /** The answer may have been awaited for long. A server that is back is looked at all the same. */
  async function settled(unknown: Unknown, lost: Backend, deadline_ms: number): Promise<boolean> {
    const until_ms = Math.max(deadline_ms, performance.now() + busy_ms);
    for (;;) {
      try {
        const db = await session.current();
        const wait_ms = Math.max(postgresLimits.look_ms, until_ms - performance.now());
        return await wasWritten(db, tenant, unknown.unanswered, lost, wait_ms);
      } catch (error) {
        if (isUnsafe(error) || performance.now() >= until_ms) {
          failed = new Refusal('WRITE_FAILED', `It is unknown whether this was written: ${messageOf(error)}`);
          throw failed;
        }
      }
      await pause(postgresLimits.pause_ms);
    }
  }

  return {
    write: (batch, join) => {
      const gathering = workOf(tenant, batch, join);
      return through((db) => commits(db, gathering));
    },
    writeWork: (work) => through((db) => lockedly(db, tenant, work, clock, missed, null)),
    tip: () => known?.tip ?? null,
    forget: () => {
      known = null;
    },
  };
}

/** No other process wrote between the last commit of this process and this one. */
function isWhereItWas(before: KnownChain, { draft }: BatchWritten): boolean {
  return before.tip.size === draft.before.size && before.tip.last === draft.before.last;
}

/** The clock of this host is ahead, or stood still while the machine slept: on a new connection it is compared again. */
function isAhead(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'CLOCK_AHEAD';
}

/** The server answers, and its answers are worth nothing. */
function isUnsafe(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'WRITE_FAILED';
}

function messageOf(error: unknown): string {
  const refusal = storeRefusal(error);
  return refusal instanceof Error ? refusal.message : String(error);
}
