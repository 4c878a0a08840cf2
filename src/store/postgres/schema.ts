import type { Digest } from '../../canonical/digest.ts';
import { refuse } from '../../refusal.ts';
import { TABLES } from '../agent-tables.ts';
import { AGENT_MIGRATION } from './agent-schema.ts';
import { RAN, type Ran, requireReady } from './begin.ts';
import type { Connection } from './connection.ts';
import { isMissingTable } from './failure.ts';
import { FOUNDING } from './read.ts';
import { isStorable, type Tenant } from './rows.ts';
import { together } from './together.ts';

/**
 * What rows that are listed in pages can be of. There is none on `seq` alone: the server would walk it for a value that no row has. And
 * none for each name of a row: each index costs every insert and every update, also where it takes no row of that name.
 */
const PAGED_INDEXES = ['status', 'tool', 'proposer', 'actor', 'due']
  .map(
    (column) => `CREATE INDEX projection_${column} ON keyturn.projection (tenant, name, ${column}, seq)
    WHERE ${column} IS NOT NULL;`,
  )
  .join('\n  ');

/**
 * One step per version of the schema, never changed once released.
 *
 * `tenant` holds where each chain ends, and its row is the lock of that chain: every writer changes it, so ledgers of
 * different tenants never wait for each other. `generation` counts what changes state without appending: a rebuild, and
 * the look after a lost answer. Keys are compared byte by byte ("C"): a collation that an update of the operating system
 * changes would break their indexes. The root of the largest complete subtree that ends with an entry is its `peak`,
 * null where that is the entry itself. `set_aside` holds what a repair took out of a chain. `beat` is no part of the ledger: executors say there
 * that they run.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE SCHEMA keyturn;
  CREATE TABLE keyturn.version (version integer NOT NULL);
  INSERT INTO keyturn.version VALUES (0);

  CREATE TABLE keyturn.tenant (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    size bigint NOT NULL DEFAULT 0,
    last text COLLATE "C" NOT NULL DEFAULT repeat('0', 64),
    generation bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 10);

  CREATE TABLE keyturn.entry (
    tenant integer NOT NULL,
    seq bigint NOT NULL CHECK (seq >= 0),
    hash text COLLATE "C" NOT NULL,
    peak text COLLATE "C",
    at text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    signer text COLLATE "C",
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, seq)
  );
  CREATE INDEX entry_subject ON keyturn.entry (tenant, subject, seq);
  CREATE INDEX entry_kind ON keyturn.entry (tenant, kind, seq);
  CREATE INDEX entry_signer ON keyturn.entry (tenant, signer, seq) WHERE signer IS NOT NULL;

  CREATE TABLE keyturn.set_aside (
    LIKE keyturn.entry,
    set_aside_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE keyturn.claim (
    tenant integer NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (tenant, key)
  );

  CREATE TABLE keyturn.projection (
    tenant integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    status text COLLATE "C",
    tool text COLLATE "C",
    proposer text COLLATE "C",
    actor text COLLATE "C",
    due text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, name, key)
  ) WITH (fillfactor = 70);
  ${PAGED_INDEXES}

  CREATE TABLE keyturn.object (
    tenant integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, digest)
  );

  CREATE TABLE keyturn.beat (
    tenant integer NOT NULL,
    executor text COLLATE "C" NOT NULL,
    instance text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    at timestamptz NOT NULL,
    is_running boolean NOT NULL,
    PRIMARY KEY (tenant, executor)
  ) WITH (fillfactor = 50);

  CREATE TABLE keyturn.nonce (
    tenant integer NOT NULL,
    nonce text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (tenant, nonce)
  );

  CREATE TABLE keyturn.service_state (
    tenant integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    until timestamptz NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (tenant, kind, key)
  );

  CREATE FUNCTION keyturn.refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS
    $$ BEGIN RAISE EXCEPTION 'ledger entries are never changed'; END $$;
  CREATE TRIGGER entry_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON keyturn.entry
    FOR EACH STATEMENT EXECUTE FUNCTION keyturn.refuse_change();
  ALTER TABLE keyturn.entry ENABLE ALWAYS TRIGGER entry_is_kept;
  REVOKE UPDATE, DELETE, TRUNCATE ON keyturn.entry FROM CURRENT_USER;
  CREATE TRIGGER evidence_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON keyturn.set_aside
    FOR EACH STATEMENT EXECUTE FUNCTION keyturn.refuse_change();
  `,
  AGENT_MIGRATION,
];

/** Null where there is no store. Refuses one of a newer Keyturn. */
export async function readVersion(db: Connection, newest = MIGRATIONS.length): Promise<number | null> {
  let version: number;
  try {
    const { rows } = await db.ask<{ version: number }>({ text: 'SELECT version FROM keyturn.version' });
    version = rows[0]?.version ?? refuse('STORE_CORRUPT', 'The store does not say its version.');
  } catch (error) {
    if (isMissingTable(error)) return null;
    throw error;
  }
  if (version > newest) refuse('STORE_NEWER', undefined, { version, newest });
  return version;
}

const SAME = `SELECT (SELECT version FROM keyturn.version) AS version,
  tenant.name, tenant.founding, ${RAN}
  FROM (VALUES (1)) AS one LEFT JOIN (SELECT name, ${FOUNDING} FROM keyturn.tenant WHERE id = $1) AS tenant ON true`;

/** A new connection leads to the store that was opened, in the form it had, and to no other. */
export async function requireSameStore(db: Connection, tenant: Tenant): Promise<void> {
  const { rows } = await db.ask<{ version: number; name: string | null; founding: Digest | null } & Ran>({
    text: SAME,
    values: [tenant.id],
  });
  const { version, name, founding, ...ran } = rows[0]!;
  const newest = MIGRATIONS.length;
  if (version > newest) refuse('STORE_NEWER', undefined, { version, newest });
  if (version !== newest || name !== tenant.name)
    refuse('STORE_CORRUPT', 'The server now has another store than the one that was opened.');
  if (tenant.founding !== null && founding !== tenant.founding)
    refuse('LEDGER_FOREIGN', 'The server now has another ledger than the one that was opened.');
  requireReady(db.backend, ran);
}

/** "KTRN": only the holder of this lock changes the schema. */
const LOCK = 0x4b54524e;

/**
 * Brings the schema to the newest version, all steps or none, and returns the version that it had. Two may try; the second
 * finds nothing to do.
 */
export async function migrate(db: Connection, steps: readonly string[] = MIGRATIONS): Promise<number | null> {
  await together([
    db.ask({ text: 'BEGIN' }),
    db.ask({ text: 'SELECT pg_advisory_xact_lock($1)', values: [LOCK] }),
  ]);
  try {
    await db.ask({ text: 'SAVEPOINT version' });
    const found = await readVersion(db, steps.length);
    const version = found ?? 0;
    await db.ask({ text: 'ROLLBACK TO version' });
    for (const step of steps.slice(version)) await db.ask({ text: step });
    if (version < steps.length)
      await db.ask({ text: `UPDATE keyturn.version SET version = ${steps.length}` });
    await db.ask({ text: 'COMMIT' });
    return found;
  } catch (error) {
    await db.ask({ text: 'ROLLBACK' }).catch(() => undefined);
    throw error;
  }
}

/** Every role that owns something of the store, and the one that is about to. */
const OWNERS = `
  SELECT relowner AS id FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE n.nspname = 'keyturn'
  UNION SELECT nspowner FROM pg_namespace WHERE nspname = 'keyturn'
  UNION SELECT oid FROM pg_roles WHERE rolname = current_user`;

/** A role that may act as the owner could rewrite the ledger, and one that is the owner would lose its own rights. */
export async function requireApplication(db: Connection, role: string): Promise<void> {
  if (!isStorable(role)) refuse('SHAPE_INVALID', 'The name of the role has characters that no name has.');
  const { rows } = await db.ask<{ is_owner: boolean }>({
    text: `SELECT EXISTS (SELECT FROM (${OWNERS}) AS owner WHERE pg_has_role(r.oid, owner.id, 'MEMBER')) AS is_owner
      FROM pg_roles r WHERE r.rolname = $1`,
    values: [role],
  });
  if (!rows[0]) refuse('SHAPE_INVALID', 'The server has no role of the name that --application gives.');
  if (rows[0].is_owner)
    refuse('SHAPE_INVALID', 'The application needs a role that is not the owner and cannot act as it.');
}

/**
 * What the role of the application may do: append to the ledger and never change it. Projections, claims and objects
 * follow from the ledger or are erased, so those it may change.
 */
export async function grantTo(db: Connection, role: string): Promise<void> {
  const name = `"${role.replaceAll('"', '""')}"`;
  await db.ask({
    text: `
      REVOKE ALL ON ALL TABLES IN SCHEMA keyturn FROM ${name};
      REVOKE ALL ON SCHEMA keyturn FROM ${name};
      GRANT USAGE ON SCHEMA keyturn TO ${name};
      GRANT SELECT ON ALL TABLES IN SCHEMA keyturn TO ${name};
      GRANT INSERT ON keyturn.tenant, keyturn.entry, keyturn.claim, keyturn.projection, keyturn.object TO ${name};
      GRANT UPDATE (size, last, generation) ON keyturn.tenant TO ${name};
      GRANT UPDATE, DELETE ON keyturn.projection TO ${name};
      GRANT DELETE ON keyturn.claim, keyturn.object TO ${name};
      GRANT INSERT, UPDATE ON keyturn.beat TO ${name};
      GRANT INSERT, DELETE ON keyturn.nonce TO ${name};
      GRANT INSERT, UPDATE, DELETE ON keyturn.service_state TO ${name};
      ${TABLES.map((table) => `GRANT INSERT${table.repeats ? ', UPDATE, DELETE' : ''} ON keyturn.${table.name} TO ${name};`).join('')}
    `,
  });
}
