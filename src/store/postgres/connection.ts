import type { Writable } from 'node:stream';
import type { Client, ClientConfig, QueryResultRow } from 'pg';
import { limits, postgresLimits } from '../../limits.ts';
import { refuseMissing } from '../../optional.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Address } from './address.ts';
import {
  type Backend,
  type Begun,
  begin,
  type SessionOptions,
  type Start,
  setAll,
  startOf,
  startOptions,
  statementTimeout_ms,
} from './begin.ts';
import { isPoolers, POOLER } from './failure.ts';
import { connectSafely } from './password.ts';

/** A statement. One with a name is prepared once for each connection. */
export interface PreparedQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** How long to wait for the answer, where that is less than for any other statement. */
  readonly query_timeout?: number;
}

interface Answer<R> {
  readonly rows: R[];
  /** What the server says it did: `COMMIT` is answered with `ROLLBACK` when the transaction had failed. */
  readonly command: string;
  /** How many rows it says it wrote. */
  readonly count: number;
}

/**
 * One connection: it never connects again by itself and never sends a statement twice, so that its user knows
 * what may have happened. Errors are the driver's own.
 */
export interface Connection {
  readonly backend: Backend;
  /** Sends at the end of this turn, with all that is asked in it, without waiting for earlier answers. */
  ask<R extends QueryResultRow>(asked: PreparedQuery): Promise<Answer<R>>;
  isLost(): boolean;
  /** How long nothing was asked and nothing answered. */
  quiet_ms(): number;
  /** How many warnings the server gave. One beside a commit says that it is less durable than it should be. */
  warnings(): number;
  /** What the clock of the server says now, as far as this process can tell. */
  serverTime_ms(): number;
  onNotification(listener: (payload: string) => void): void;
  onLost(listener: () => void): void;
  /** Says goodbye, and does not wait long for a server that does not hear it. */
  end(): Promise<void>;
  /** At once, without a word. Whatever waits for an answer fails. */
  destroy(): void;
}

/** The server itself takes our settings with the first word. A pooler does not, and must keep one session for us. */
export async function connect(address: Address, options: SessionOptions): Promise<Connection> {
  try {
    const direct = await connectOnce(address, options, true);
    if (direct) return direct;
  } catch (error) {
    if (!isPoolers(error)) throw error;
  }
  return (await connectOnce(address, options, false)) ?? refuse('WRITE_FAILED', POOLER);
}

async function connectOnce(
  address: Address,
  options: SessionOptions,
  is_direct: boolean,
): Promise<Connection | null> {
  const start = startOf(options);
  const client = await clientOf(address, options, is_direct ? start : null);
  const health = healthOf(client);
  let begun: Begun | null = null;
  try {
    await connectSafely(client, address.tls);
    if (!is_direct) {
      await requireOwnSession(client, address, options);
      await setAll(client, start, postgresLimits.connect_ms);
    }
    const asked_ms = performance.now();
    begun = await begin(client, options, start, postgresLimits.connect_ms);
    return begun && connectionOf(client, begun, asked_ms, health);
  } finally {
    if (begun === null) await ended(client);
  }
}

/** The driver is loaded when a store is opened, and not before. */
async function clientOf(address: Address, options: SessionOptions, start: Start | null): Promise<Client> {
  const { Client, types } = await import('pg').catch((error) => refuseMissing('pg', error));
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : types.getTypeParser(oid, format as 'text');
  const config = { ...configOf(address, options), ...(start && { options: startOptions(start) }) };
  return new Client({ ...config, types: { getTypeParser } } as ClientConfig);
}

/**
 * Two sessions at the same time are two, or a pooler gives the same one to several of us in turn: then nothing that is set in it is
 * there to stay. Looked at before anything is set that another session would find there.
 */
async function requireOwnSession(first: Client, address: Address, options: SessionOptions): Promise<void> {
  const second = await clientOf(address, options, null);
  healthOf(second);
  const asked = {
    text: 'SELECT pg_catalog.pg_backend_pid() AS pid',
    query_timeout: postgresLimits.second_session_ms,
  };
  const { rows } = await first.query(asked);
  try {
    await connectSafely(second, address.tls);
    const { rows: others } = await second.query(asked);
    if (others[0].pid === rows[0].pid) refuse('WRITE_FAILED', POOLER);
  } catch (error) {
    if (error instanceof Refusal || !/timeout/i.test((error as Error).message)) throw error;
  } finally {
    await ended(second);
  }
}

const INT8 = 20;

interface Health {
  lost: boolean;
  warned: number;
}

function healthOf(client: Client): Health {
  const health: Health = { lost: false, warned: 0 };
  const lose = () => {
    health.lost = true;
  };
  // Without a listener an idle connection that breaks would end the process.
  client.on('error', lose);
  client.on('end', lose);
  client.on('notice', ({ code }) => {
    if (code?.startsWith('01')) health.warned += 1;
  });
  return health;
}

function configOf(address: Address, options: SessionOptions): object {
  const { host, port, user, password, database, tls } = address;
  return {
    host,
    port,
    user,
    password,
    database,
    ssl: tls ?? false,
    // SCRAM is bound to the certificate where the server can: then a machine in the middle cannot pass it on.
    enableChannelBinding: tls !== null,
    application_name: 'keyturn',
    keepAlive: true,
    keepAliveInitialDelayMillis: postgresLimits.probe_ms,
    pipeline: true,
    connectionTimeoutMillis: postgresLimits.connect_ms,
    query_timeout: statementTimeout_ms(options) + postgresLimits.network_ms,
  };
}

function connectionOf(
  client: Client,
  { backend, server_ms }: Begun,
  asked_ms: number,
  health: Health,
): Connection {
  let waiting = 0;
  let heard_ms = performance.now();
  const stream = streamOf(client);
  let is_gathering = false;
  /** One system call for all that is asked in one turn: many callers ask at the same time, when one answer came for all of them. */
  function gather(): void {
    if (is_gathering) return;
    is_gathering = true;
    stream.cork();
    process.nextTick(() => {
      is_gathering = false;
      stream.uncork();
    });
  }
  return {
    backend,
    ask: async (asked) => {
      waiting += 1;
      gather();
      try {
        const answer = await client.query(asked as { text: string; values?: unknown[] });
        return { rows: answer.rows, command: answer.command, count: answer.rowCount ?? 0 };
      } finally {
        waiting -= 1;
        heard_ms = performance.now();
      }
    },
    quiet_ms: () => (waiting > 0 ? 0 : performance.now() - heard_ms),
    isLost: () => health.lost,
    warnings: () => health.warned,
    // Counted from when the server was asked, so that a slow answer never makes this host seem ahead.
    serverTime_ms: () => server_ms + (performance.now() - asked_ms),
    onNotification: (listener) => void client.on('notification', ({ payload }) => listener(payload ?? '')),
    onLost: (listener) => void client.once('end', listener),
    end: () => ended(client),
    destroy: () => {
      health.lost = true;
      streamOf(client).destroy();
    },
  };
}

/** The driver waits for the server to close its side. One that is cut off from us never does. */
async function ended(client: Client): Promise<void> {
  const timer = setTimeout(() => streamOf(client).destroy(), postgresLimits.close_ms);
  try {
    await client.end();
  } catch {
    streamOf(client).destroy();
  } finally {
    clearTimeout(timer);
  }
}

/** The driver has no other way to let go of a connection at once, or to gather what is sent. */
function streamOf(client: Client): Writable {
  return (client as unknown as { connection: { stream: Writable } }).connection.stream;
}

/** How long a store waits for others unless told. */
export const BUSY_ms = limits.store_busy_ms;
