import type { Client } from 'pg';
import { refuse } from '../../refusal.ts';

export interface SessionOptions {
  readonly access: 'read' | 'write';
  readonly busy_ms: number;
  /** For work that takes as long as the ledger is long. */
  readonly patient?: boolean;
  /** Only the server that takes writes will do: what another one has may be old. */
  readonly primary?: boolean;
}

/**
 * What our statements rest on, whatever the role or the database has set: a role whose nulls become the word NULL, or
 * that is not told of warnings, would make us acknowledge what is not so.
 */
export function settingsOf({ access, patient }: SessionOptions): Readonly<Record<string, string>> {
  return {
    default_transaction_read_only: access === 'read' ? 'on' : 'off',
    default_transaction_isolation: 'read committed',
    // Every name in our statements says its schema. Nobody slips a function or a table of their own in between.
    search_path: 'pg_catalog',
    bytea_output: 'hex',
    array_nulls: 'on',
    standard_conforming_strings: 'on',
    // A commit that no standby has is told of by a warning, and by nothing else.
    client_min_messages: 'warning',
    // Our statements find their rows by an index. A plan that is made once, while tables are small, would scan.
    ...(patient ? {} : { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', jit: 'off' }),
  };
}

/** As the server takes them when a session begins. */
export function startOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
}

/** Names one session for good: process ids are used again, and another server has its own. */
export interface Backend {
  readonly pid: number;
  readonly started: string;
}

export interface Begun {
  readonly backend: Backend;
  /** The server's clock, in milliseconds since 1970. */
  readonly server_ms: number;
}

/** A commit in such a session is acknowledged before it is on a disk, here or where a standby should have it. */
const WEAK: readonly string[] = ['off', 'local', 'remote_write'];

// A server that waits for standbys to apply a commit promises more than `on`; that is left as it is. Not every server
// knows transaction_timeout; one that does must not end a transaction that waits for its turn.
const BEGIN = `
  SELECT pg_backend_pid() AS pid,
    (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
    current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS in_recovery,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS server_ms,
    CASE WHEN current_setting('synchronous_commit') IN (${WEAK.map((weak) => `'${weak}'`).join()})
      THEN set_config('synchronous_commit', 'on', false) END,
    CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
      THEN set_config('transaction_timeout', '0', false) END,
    (SELECT string_agg(name, ', ') FROM unnest($1::text[], $2::text[]) AS asked (name, value)
      WHERE current_setting(name) <> value) AS others`;

export async function begin(client: Client, options: SessionOptions, timeout_ms: number): Promise<Begun> {
  const settings = settingsOf(options);
  const asked = {
    text: BEGIN,
    values: [Object.keys(settings), Object.values(settings)],
    query_timeout: timeout_ms,
  };
  const { rows } = await client.query(asked);
  const { pid, started, fsync, encoding, in_recovery, server_ms, others } = rows[0];
  if (encoding !== 'UTF8') refuse('STORE_CORRUPT', `The database has the encoding ${encoding}, not UTF8.`);
  // A pooler that does not hand them on is one that may also mix up sessions.
  if (others !== null) refuse('WRITE_FAILED', `The session did not begin as it was asked to: ${others}.`);
  if (options.access === 'write' && fsync !== 'on')
    refuse('WRITE_FAILED', 'The server runs with fsync = off: it would acknowledge what it can lose.');
  // What a standby has may be old. After a failover the address leads to another server, soon.
  if (options.primary && in_recovery) refuse('STORE_UNREACHABLE', 'The server is a standby in recovery.');
  return { backend: { pid, started }, server_ms };
}

/** What the server says of the session in which a statement ran. It is part of the answer and costs no round trip. */
export interface Ran {
  readonly ran_in: number;
  readonly durable: string;
}

export const RAN = `pg_backend_pid() AS ran_in, current_setting('synchronous_commit') AS durable`;

/**
 * Why what this session acknowledges may be lost; null when it may not. A pooler that changes sessions between
 * transactions runs a statement in one that was never made ready, and nobody would be told.
 */
export function doubtOf({ pid }: Backend, { ran_in, durable }: Ran): string | null {
  if (ran_in !== pid) return 'The session changed under a statement: a pooler must be in session mode.';
  if (WEAK.includes(durable))
    return `The session has synchronous_commit = ${durable}: it acknowledges what it can lose.`;
  return null;
}

export function requireReady(backend: Backend, ran: Ran): void {
  const doubt = doubtOf(backend, ran);
  if (doubt) refuse('WRITE_FAILED', doubt);
}
