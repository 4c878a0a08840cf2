import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { postgresLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { POOLER } from './failure.ts';

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
function settingsOf({ access, patient }: SessionOptions): Readonly<Record<string, string>> {
  return {
    default_transaction_read_only: access === 'read' ? 'on' : 'off',
    default_transaction_isolation: 'read committed',
    // Every name in our statements says its schema. So no function or table of another schema is used in its place.
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

export function statementTimeout_ms({ busy_ms, patient }: SessionOptions): number {
  return busy_ms + (patient ? postgresLimits.patient_ms : postgresLimits.work_ms);
}

/** How a session is to begin: the settings that are looked at, and with timeouts and our mark all of them. */
export interface Start {
  readonly settings: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly all: Readonly<Record<string, string>>;
}

/** Gone when the session was reset, and another one in another session of ours. */
const MARK = 'keyturn.session';

export function startOf(options: SessionOptions): Start {
  const settings = settingsOf(options);
  const mark = randomUUID();
  const timeouts = {
    statement_timeout: String(statementTimeout_ms(options)),
    lock_timeout: String(Math.max(1, options.busy_ms)),
    idle_in_transaction_session_timeout: String(postgresLimits.idle_ms),
  };
  return { settings, mark, all: { ...settings, ...timeouts, [MARK]: mark } };
}

/** As the server takes them when a session begins. Then not even a reset of the session changes them. */
export function startOptions({ all }: Start): string {
  return Object.entries(all)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    .join(' ');
}

/** For a pooler, which takes none of them then. It says every schema: the search path is still whatever the role has. */
const SET = `SELECT pg_catalog.set_config(asked.name, asked.value, false)
  FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]), pg_catalog.unnest($2::pg_catalog.text[])) AS asked (name, value)`;

export async function setAll(client: Client, { all }: Start, timeout_ms: number): Promise<void> {
  const values = [Object.keys(all), Object.values(all)];
  await client.query({ text: SET, values, query_timeout: timeout_ms } as { text: string });
}

/** Names one session for good: process ids are used again, and another server has its own. */
export interface Backend {
  readonly pid: number;
  readonly started: string;
  /** What `READY` is in it. */
  readonly ready: string;
}

export interface Begun {
  readonly backend: Backend;
  /** The server's clock, in milliseconds since 1970. */
  readonly server_ms: number;
}

/** With one of these a commit is acknowledged before it is on a disk, here or where a standby should have it. */
const WEAK = `current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`;

/**
 * What a write must find in its session, or it writes nothing: the session that we began, with our mark, nulls that are nulls,
 * warnings that are told, and commits that are durable. The attacker is a pooler that runs a statement in another session, or
 * gives one session to many, with whatever each of them set there.
 */
export const READY = `concat_ws(' ', pg_backend_pid(), current_setting('${MARK}', true), current_setting('array_nulls'),
  current_setting('client_min_messages'), CASE WHEN ${WEAK} THEN 'weak' ELSE 'durable' END)`;

function readyWith(pid: number, mark: string): string {
  return `${pid} ${mark} on warning durable`;
}

// A server that waits for standbys to apply a commit promises more than `on`; that is left as it is. Not every server
// knows transaction_timeout; one that does must not end a transaction that waits for its turn.
const BEGIN = `
  SELECT pg_backend_pid() AS pid,
    (SELECT extract(epoch FROM backend_start)::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started,
    current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
    pg_is_in_recovery() AS in_recovery,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS server_ms,
    CASE WHEN ${WEAK} THEN set_config('synchronous_commit', 'on', false) END, ${READY} AS ready,
    CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
      THEN set_config('transaction_timeout', '0', false) END,
    (SELECT string_agg(name, ', ') FROM unnest($1::text[], $2::text[]) AS asked (name, value)
      WHERE current_setting(name) <> value) AS others`;

/** Null when the session did not begin as it was asked to: there is a pooler that keeps settings to itself. */
export async function begin(
  client: Client,
  options: SessionOptions,
  { settings, mark }: Start,
  timeout_ms: number,
): Promise<Begun | null> {
  const values = [Object.keys(settings), Object.values(settings)];
  const asked = { text: BEGIN, values, query_timeout: timeout_ms };
  const { rows } = await client.query(asked);
  const { pid, started, fsync, encoding, in_recovery, server_ms, ready, others } = rows[0];
  if (encoding !== 'UTF8') refuse('STORE_CORRUPT', `The database has the encoding ${encoding}, not UTF8.`);
  if (others !== null || ready !== readyWith(pid, mark)) return null;
  if (options.access === 'write' && fsync !== 'on')
    refuse('WRITE_FAILED', 'The server runs with fsync = off: it would acknowledge what it can lose.');
  // What a standby has may be old. After a failover the address leads to another server, soon.
  if (options.primary && in_recovery) refuse('STORE_UNREACHABLE', 'The server is a standby in recovery.');
  return { backend: { pid, started, ready }, server_ms };
}

/** What the server says of the session in which a statement ran. It is part of the answer and costs no round trip. */
export interface Ran {
  readonly ready: string;
}

export const RAN = `${READY} AS ready`;

/**
 * Refuses what a session answers that may lose what it acknowledges. A pooler that changes sessions between
 * transactions runs a statement in one that was never made ready, without an error.
 */
export function requireReady(backend: Backend, { ready }: Ran): void {
  if (ready === backend.ready) return;
  if (ready === backend.ready.replace('durable', 'weak'))
    refuse('WRITE_FAILED', 'The session acknowledges what it can lose: see synchronous_commit.');
  refuse('WRITE_FAILED', POOLER);
}
