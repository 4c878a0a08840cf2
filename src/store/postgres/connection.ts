import type { Client, ClientConfig, QueryResultRow } from 'pg';
import { limits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Address } from './address.ts';

/** A statement. One with a name is prepared once for each connection. */
export interface Asked {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface Answer<R> {
  readonly rows: R[];
  /** What the server says it did: `COMMIT` is answered with `ROLLBACK` when the transaction had failed. */
  readonly command: string;
}

/** Names one session for good: process ids are used again, and another server has its own. */
export interface Backend {
  readonly pid: number;
  readonly started: string;
}

/**
 * One connection: it never connects again by itself and never sends a statement twice, so that whoever uses it knows
 * what may have happened. Errors are the driver's own.
 */
export interface Connection {
  readonly backend: Backend;
  /** Sends at once, without waiting for earlier answers. */
  ask<R extends QueryResultRow>(asked: Asked): Promise<Answer<R>>;
  isLost(): boolean;
  /** How many warnings the server gave. One beside a commit says that it is less durable than it should be. */
  warnings(): number;
  onNotification(listener: (payload: string) => void): void;
  onLost(listener: () => void): void;
  end(): Promise<void>;
}

export interface SessionOptions {
  readonly access: 'read' | 'write';
  readonly busy_ms: number;
  /** For work that takes as long as the ledger is long. */
  readonly patient?: boolean;
}

const CONNECT_ms = 10_000;
/** What a statement may take beyond waiting for a lock, and the network beyond that. */
const WORK_ms = 30_000;
const NETWORK_ms = 10_000;
/** Between two statements of a transaction there is only computing. Whoever takes longer has died. */
const IDLE_ms = 30_000;

/** The driver is loaded when a store is opened, and not before. */
export async function connect(address: Address, options: SessionOptions): Promise<Connection> {
  const { Client, types } = await import('pg');
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as 'text');
  const client = new Client({ ...configOf(address, options), types: { getTypeParser } } as ClientConfig);
  let lost = false;
  let warned = 0;
  // Without a listener an idle connection that breaks would end the process.
  client.on('error', () => {
    lost = true;
  });
  client.on('end', () => {
    lost = true;
  });
  client.on('notice', ({ code }) => {
    if (code?.startsWith('01')) warned += 1;
  });
  try {
    await client.connect();
    const backend = await begin(client, options);
    return connectionOf(
      client,
      backend,
      () => lost,
      () => warned,
    );
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

const INT8 = 20;

function configOf(address: Address, { access, busy_ms, patient }: SessionOptions): object {
  const { host, port, user, password, database, tls } = address;
  const statement_timeout = patient ? 0 : busy_ms + WORK_ms;
  return {
    host,
    port,
    user,
    password,
    database,
    ssl: tls ?? false,
    application_name: 'keyturn',
    keepAlive: true,
    pipeline: true,
    connectionTimeoutMillis: CONNECT_ms,
    statement_timeout,
    lock_timeout: Math.max(1, busy_ms),
    idle_in_transaction_session_timeout: IDLE_ms,
    ...(patient ? {} : { query_timeout: statement_timeout + NETWORK_ms }),
    options: settings({
      default_transaction_read_only: access === 'read' ? 'on' : 'off',
      default_transaction_isolation: 'read\\ committed',
      // Every name in our statements says its schema. Nobody slips a function or a table of their own in between.
      search_path: 'pg_catalog',
      bytea_output: 'hex',
      // Our statements find their rows by an index. A plan that is made once, while tables are small, would scan.
      ...(patient ? {} : { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' }),
    }),
  };
}

function settings(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

// A server that waits for standbys to apply a commit promises more than `on`; that is left as it is.
const BEGIN = `
  SELECT pg_backend_pid() AS pid,
    (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
    current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
      THEN set_config('synchronous_commit', 'on', false) END`;

async function begin(client: Client, { access }: SessionOptions): Promise<Backend> {
  const { rows } = await client.query(BEGIN);
  const { pid, started, fsync, encoding } = rows[0];
  if (encoding !== 'UTF8') refuse('STORE_CORRUPT', `The database has the encoding ${encoding}, not UTF8.`);
  if (access === 'write' && fsync !== 'on')
    refuse('WRITE_FAILED', 'The server runs with fsync = off: it would acknowledge what it can lose.');
  return { pid, started };
}

function connectionOf(
  client: Client,
  backend: Backend,
  isLost: () => boolean,
  warnings: () => number,
): Connection {
  return {
    backend,
    ask: async (asked) => {
      const { rows, command } = await client.query(asked as { text: string; values?: unknown[] });
      return { rows, command };
    },
    isLost,
    warnings,
    onNotification: (listener) => void client.on('notification', ({ payload }) => listener(payload ?? '')),
    onLost: (listener) => void client.once('end', listener),
    end: () => client.end(),
  };
}

/** Waits for all of what was sent together, and fails with the first that failed: the rest follows from it. */
export async function together<A extends readonly unknown[]>(
  asks: readonly [...{ [I in keyof A]: Promise<A[I]> }],
): Promise<A> {
  const outcomes: readonly PromiseSettledResult<unknown>[] = await Promise.allSettled(asks);
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }) as unknown as A;
}

/** How long a store waits for others unless told. */
export const BUSY_ms = limits.store_busy_ms;
