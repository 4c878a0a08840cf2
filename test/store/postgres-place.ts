import { Client } from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { LEDGERS, TABLES } from '../../src/store/agent-tables.ts';
import { freeLedger, keepLedger } from '../../src/store/postgres/agent-schema.ts';
import { migratePostgresStore } from '../../src/store/postgres/store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Server, startServer } from '../support/postgres-server.ts';
import { begun, enrolled } from './facts.ts';
import { openPostgresStore } from './open.ts';
import type { Place } from './place.ts';

export const OWNER = { user: 'keyturn_owner', password: 'owner-secret' };
export const APPLICATION = { user: 'keyturn_app', password: 'app-secret' };

const ROLES = `
  CREATE ROLE ${OWNER.user} LOGIN PASSWORD '${OWNER.password}';
  CREATE ROLE ${APPLICATION.user} LOGIN PASSWORD '${APPLICATION.password}';
  CREATE DATABASE keyturn OWNER ${OWNER.user};`;

/** Faster than making tables anew: whatever was there goes by another name. */
const EMPTY = `
  UPDATE keyturn.tenant SET name = name || ' of ' || id WHERE name NOT LIKE '% of %';
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM keyturn.agent_execution_ledger) THEN RETURN; END IF;
    ${LEDGERS.map(({ name }) => freeLedger(name)).join('')}
    ${TABLES.map(({ name }) => `DELETE FROM keyturn.${name};`).join('')}
    ${LEDGERS.map(({ name }) => keepLedger(name)).join('')}
  END $$`;

const HERE = `tenant IN (SELECT id FROM keyturn.tenant WHERE name NOT LIKE '% of %')`;
const DAMAGE = {
  intents: `UPDATE keyturn.projection SET status = 'approved',
    state = jsonb_set(state::jsonb, '{status}', '"approved"')::text WHERE name = 'intent' AND ${HERE}`,
  claims: `DELETE FROM keyturn.claim WHERE ${HERE}`,
  entry: `ALTER TABLE keyturn.entry DISABLE TRIGGER entry_is_kept;
    UPDATE keyturn.entry SET bytes =
      convert_to(replace(convert_from(bytes, 'UTF8'), '"by":"bo"', '"by":"eve"'), 'UTF8') WHERE ${HERE};
    ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept;`,
  object: `UPDATE keyturn.object SET bytes = '\\x00' WHERE ${HERE}`,
};

/** A server for the tests of one file, with the two roles of docs/postgres.md and one database. */
export interface Postgres {
  readonly server: Server;
  /** By the superuser, behind the back of every store. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  /** An empty store, and the application's way to open it. */
  place(): Promise<Place>;
  open(
    mode?: 'read' | 'write' | 'create',
    over?: { url?: string; tenant?: string; busy_ms?: number },
  ): Promise<Store>;
}

export function postgres(settings: Readonly<Record<string, string>> = {}): () => Postgres {
  let running: Postgres | null = null;
  let server: Server | null = null;
  beforeAll(async () => {
    server = await startServer(settings);
    for (const statement of ROLES.split(';\n')) await superuser(server.url(), statement);
    await migratePostgresStore({ url: urlOf(server, OWNER), application: APPLICATION.user });
    running = await postgresOf(server);
  });
  afterAll(() => server?.remove());
  return () => running!;
}

/** Stores that are closed with their test: any, and a new one with its first human. */
export function storesOf(at: () => Postgres) {
  const opened = async (...options: Parameters<Postgres['open']>): Promise<Store> => {
    const store = await at().open(...options);
    onTestFinished(() => store.close());
    return store;
  };
  const made = async (): Promise<Store> => {
    await at().place();
    const store = await opened('create');
    await store.commit({ events: [begun(), enrolled('ada')] });
    return store;
  };
  return { opened, made };
}

export const urlOf = (server: Server, who: { user: string; password: string }, port = server.port) =>
  server.url({ ...who, database: 'keyturn', port });

async function postgresOf(server: Server): Promise<Postgres> {
  const url = urlOf(server, APPLICATION);
  const sql: Postgres['sql'] = (text, values) => superuser(server.url({ database: 'keyturn' }), text, values);
  const clock = () => new Date();
  return {
    server,
    sql,
    open: (mode = 'write', over = {}) =>
      openPostgresStore({ url, tenant: 'default', clock, mode, busy_ms: 10_000, ...over }),
    place: async () => {
      await sql(EMPTY);
      return {
        open: ({ tenant = 'default', mode, clock = () => new Date() }) =>
          openPostgresStore({ url, tenant, clock, mode }),
        damage: async (what) => void (await sql(DAMAGE[what])),
      };
    },
  };
}

async function superuser(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows ?? [];
  } finally {
    await client.end();
  }
}
