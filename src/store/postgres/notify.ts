import { setTimeout as pause } from 'node:timers/promises';
import { postgresLimits } from '../../limits.ts';
import type { Grown } from '../store.ts';
import type { Connection } from './connection.ts';
import type { Tenant } from './rows.ts';
import type { Session } from './session.ts';

/**
 * After a commit others are told that the ledger grew, so that they need not wait for their next look. It is a hint:
 * a listener that misses one looks a little later. It is no part of the transaction, because the server would then make the
 * commits of all tenants wait for each other.
 */
export interface Notifier {
  poke(grown: Grown): void;
  /** What is still to be told is told now, through this session. */
  flush(session: Session): Promise<void>;
}

const CHANNEL = 'keyturn';

/** The tenant, with a mark where no run has to be looked at. */
const wordOf = ({ id }: Tenant, { may_end_runs }: Grown) => (may_end_runs ? `${id}` : `${id} ends no run`);

export function notifierOf(session: Session, tenant: Tenant): Notifier {
  let waiting: NodeJS.Timeout | null = null;
  let told_ms = Number.NEGATIVE_INFINITY;
  let may_end_runs = false;

  async function tell(through: Session): Promise<void> {
    const word = wordOf(tenant, { may_end_runs });
    may_end_runs = false;
    try {
      const db = await through.current();
      await db.ask({ name: 'tell', text: `SELECT pg_notify('${CHANNEL}', $1)`, values: [word] });
    } catch {
      // Those who listen will look anyway.
    }
  }

  return {
    poke: (grown) => {
      may_end_runs ||= grown.may_end_runs;
      // The first commit after a while is told at once.
      const left_ms = Math.max(0, told_ms + postgresLimits.notify_ms - performance.now());
      waiting ??= setTimeout(() => {
        waiting = null;
        told_ms = performance.now();
        void tell(session);
      }, left_ms).unref();
    },
    flush: async (through) => {
      if (waiting === null) return;
      clearTimeout(waiting);
      waiting = null;
      await Promise.race([tell(through), pause(postgresLimits.notify_last_ms, undefined, { ref: false })]);
    },
  };
}

/** All listeners of this process, over one connection that is made for the first of them. */
export interface Followers {
  add(listener: (grown: Grown) => void): Promise<() => Promise<void>>;
  end(): Promise<void>;
}

export function followersOf(connect: () => Promise<Connection>, tenant: Tenant): Followers {
  const listeners = new Set<(grown: Grown) => void>();
  let following: Promise<() => Promise<void>> | null = null;
  const tellAll = (grown: Grown) => {
    for (const listener of listeners) listener(grown);
  };

  async function add(listener: (grown: Grown) => void): Promise<() => Promise<void>> {
    const own = (grown: Grown) => listener(grown);
    const held = following ?? follow(connect, tenant, tellAll);
    following = held;
    try {
      await held;
    } catch (error) {
      if (following === held) following = null;
      throw error;
    }
    listeners.add(own);
    return async () => void listeners.delete(own);
  }

  async function end(): Promise<void> {
    listeners.clear();
    const stop = await following?.catch(() => null);
    await stop?.();
  }

  return { add, end };
}

/**
 * Calls the listener whenever the ledger may have grown, also after the connection was away. One connection at most:
 * the next is made only when the last one, which had begun to listen, is gone.
 */
async function follow(
  connect: () => Promise<Connection>,
  tenant: Tenant,
  listener: (grown: Grown) => void,
): Promise<() => Promise<void>> {
  const words = new Map(
    [true, false].map((may_end_runs) => [wordOf(tenant, { may_end_runs }), { may_end_runs }]),
  );
  let stopped = false;
  let connection = await listen();
  keep(connection);

  async function listen(): Promise<Connection> {
    const db = await connect();
    try {
      db.onNotification((payload) => {
        const grown = words.get(payload);
        if (grown) listener(grown);
      });
      await db.ask({ text: `LISTEN ${CHANNEL}`, query_timeout: postgresLimits.listen_ms });
      return db;
    } catch (error) {
      db.destroy();
      throw error;
    }
  }

  function keep(db: Connection): void {
    if (db.isLost()) void again();
    else db.onLost(() => void again());
  }

  async function again(): Promise<void> {
    for (
      let wait_ms: number = postgresLimits.listen_again_ms;
      !stopped;
      wait_ms = Math.min(2 * wait_ms, postgresLimits.listen_again_ms_most)
    ) {
      await pause(wait_ms, undefined, { ref: false });
      const db = stopped ? null : await listen().catch(() => null);
      if (!db) continue;
      if (stopped) return db.end();
      connection = db;
      keep(db);
      listener({ may_end_runs: true });
      return;
    }
  }

  return async () => {
    stopped = true;
    await connection.end();
  };
}
