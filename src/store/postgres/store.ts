import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import { rememberedKeys } from '../../canonical/ed25519.ts';
import { originFrom, verifierOf } from '../../fold/ledger.ts';
import { mayEndRuns } from '../../gate/execution.ts';
import { refuse } from '../../refusal.ts';
import { turnsOf } from '../../turns.ts';
import { allClaims, type CheckedCommit, checkCommit } from '../decide.ts';
import { cutCommits, groupCommit } from '../group.ts';
import { refOf } from '../loaded-rows.ts';
import { type Receipt, type RowRef, type Store, walkEntries, walkObjects } from '../store.ts';
import { parseAddress } from './address.ts';
import { adopterOf } from './adopt.ts';
import { readAgentCurrent, readAgentLedger } from './agent.ts';
import { beatsOf } from './beat.ts';
import type { SessionOptions } from './begin.ts';
import { chainOf } from './chain.ts';
import { BUSY_ms, type Connection, connect } from './connection.ts';
import { mapped } from './failure.ts';
import { load, loadEnd } from './load.ts';
import { noncesOf } from './nonce.ts';
import { followersOf, notifierOf } from './notify.ts';
import {
  findTenant,
  readAll,
  readEntries,
  readEntriesAt,
  readEntriesOf,
  readEntryPage,
  readKeys,
  readObjectBytes,
  readObjects,
  readObjectsLike,
  readPage,
  readRow,
  readRowTexts,
  refuseObject,
} from './read.ts';
import { rebuildProjections } from './rebuild.ts';
import { isStorable, rememberedStates, requireKeysFit, type Tenant } from './rows.ts';
import { grantTo, MIGRATIONS, migrate, readVersion, requireApplication, requireSameStore } from './schema.ts';
import { serviceStateOf } from './service-state.ts';
import { sessionOf } from './session.ts';
import { askedInOneTurn } from './turn.ts';

export interface PostgresOptions {
  /** `postgres://user@host/database?sslmode=verify-full` */
  readonly url: string;
  readonly tenant: string;
  readonly clock: () => Date;
  /** `create` makes the ledger of this tenant, and the tables if need be; it refuses when that ledger exists. */
  readonly mode: 'read' | 'write' | 'create';
  /** How long to wait for another process that writes, or for a server that is away; `limits.store_busy_ms` unless told. */
  readonly busy_ms?: number;
}

type Connect = (options?: Partial<SessionOptions>) => Promise<Connection>;

/** The shared store: one server, many hosts, one writer at a time for each tenant. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, tenant, clock, mode, busy_ms = BUSY_ms } = options;
  const address = parseAddress(url);
  const access = mode === 'read' ? 'read' : 'write';
  const primary = mode !== 'read';
  const connected: Connect = (over) => connect(address, { access, busy_ms, primary, ...over });
  return mapped(async () => {
    const db = await connected();
    try {
      await requireSchema(db, mode);
      if (mode === 'create') await addTenant(db, tenant);
      const found = await findTenant(db, tenant);
      if (!found) refuse('STORE_MISSING', `The store has no ledger of "${tenant}".`);
      const system = await readRow(db, found, 'system', 'system');
      const origin = system?.origin ?? null;
      return storeOf(checking(connected, found), db, found, { ...options, busy_ms, clock, origin });
    } catch (error) {
      await db.end();
      throw error;
    }
  });
}

/** Every later connection may lead to another server: one that took over, or one that was restored. */
function checking(connected: Connect, tenant: Tenant): Connect {
  return async (over) => {
    const db = await connected(over);
    try {
      await requireSameStore(db, tenant);
      return db;
    } catch (error) {
      db.destroy();
      throw error;
    }
  };
}

export interface MigrateOptions {
  readonly url: string;
  /** The role that Keyturn works with from now on. */
  readonly application?: string;
}

export interface Migrated {
  /** The version that the tables had; null where there were none. */
  readonly from: number | null;
  readonly version: number;
}

/**
 * Makes or updates the tables with a role that owns them, and lets another role work with them. The application then
 * connects as that other role, which can append to the ledger and cannot change it.
 */
export async function migratePostgresStore({ url, application }: MigrateOptions): Promise<Migrated> {
  const address = parseAddress(url);
  return mapped(async () => {
    const db = await connect(address, { access: 'write', busy_ms: BUSY_ms, primary: true });
    try {
      if (application !== undefined) await requireApplication(db, application);
      const from = await migrate(db);
      if (application !== undefined) await grantTo(db, application);
      return { from, version: MIGRATIONS.length };
    } finally {
      await db.end();
    }
  });
}

async function requireSchema(db: Connection, mode: PostgresOptions['mode']): Promise<void> {
  const version = await readVersion(db);
  if (version === MIGRATIONS.length) return;
  if (version === null && mode !== 'create') refuse('STORE_MISSING', 'The database has no store.');
  if (mode === 'read')
    refuse('STORE_READ_ONLY', 'The store has an older form. Open it once to write.', { version: version! });
  await migrate(db);
}

async function addTenant(db: Connection, name: string): Promise<void> {
  if (!isStorable(name)) refuse('SHAPE_INVALID', 'The name of the tenant has characters that no text has.');
  const { rows } = await db.ask({
    text: 'INSERT INTO keyturn.tenant (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id',
    values: [name],
  });
  if (rows.length === 0) refuse('PROJECT_EXISTS', `The store has a ledger of "${name}" already.`);
}

function storeOf(
  connected: Connect,
  first: Connection,
  tenant: Tenant,
  { clock, mode, busy_ms, origin: begun }: Required<PostgresOptions> & { readonly origin: string | null },
): Store {
  const read_only = mode === 'read';
  const turns = turnsOf();
  const writer = sessionOf(connected, read_only ? undefined : first);
  const reader = sessionOf(() => connected({ access: 'read' }), read_only ? first : undefined);
  const chain = chainOf(writer, tenant, clock, busy_ms);
  const notifier = notifierOf(reader, tenant);
  const saying = sessionOf(connected);
  const followers = followersOf(() => connected({ access: 'read' }), tenant);
  const adopter = adopterOf(connected, tenant, clock, busy_ms);
  let closed: Promise<void> | null = null;
  const group = groupCommit<CheckedCommit, Receipt>(async (batch, join) => {
    const outcomes = await chain.write(batch, join);
    const written = outcomes.flatMap((outcome) => ('answer' in outcome ? outcome.answer.entries : []));
    if (written.length > 0) notifier.poke({ may_end_runs: written.some(({ event }) => mayEndRuns(event)) });
    return outcomes;
  }, cutCommits);

  const requireOpen = () => {
    if (closed) refuse('STORE_CLOSED');
  };
  const requireWritable = () => {
    if (read_only) refuse('STORE_READ_ONLY', 'The store was opened to read.');
  };
  const read = async <T>(act: (db: Connection) => Promise<T>): Promise<T> => {
    requireOpen();
    return mapped(() => reader.read(act));
  };

  async function end(): Promise<void> {
    await group.answered();
    // No commit is under way, so its connection is free; perhaps there is no other.
    await notifier.flush(writer);
    await Promise.all([writer.end(), reader.end(), saying.end(), followers.end(), adopter.end()]);
  }

  const states = rememberedStates();
  const texts = askedInOneTurn(refOf, (refs: readonly RowRef[]) =>
    read((db) => readRowTexts(db, tenant, refs)),
  );
  const objects = askedInOneTurn(String, (digests: readonly Digest[]) =>
    read((db) => readObjectBytes(db, tenant, digests)),
  );
  const entry = askedInOneTurn(String, (seqs: readonly number[]) =>
    read((db) => readEntriesAt(db, tenant, seqs)),
  );
  const find: Store['find'] = async (...ref) => states(ref, await texts(ref));
  const tip = askedInOneTurn(String, async () => {
    const end = await read((db) => loadEnd(db, tenant, chain.tip()));
    adopter.saw(end.tip);
    return [end.tip];
  });
  const keyOf = rememberedKeys();
  let known = begun;
  const origin = async () => {
    known ??= (await read((db) => readRow(db, tenant, 'system', 'system')))?.origin ?? null;
    return known;
  };

  return {
    tenant: tenant.name,
    origin: () => known,
    commit: async (commit) => {
      requireOpen();
      requireWritable();
      const ledger = known ?? (await origin());
      const checked = checkCommit(commit, verifierOf(tenant.name, ledger, keyOf), keyOf);
      requireKeysFit(allClaims(checked), checked.events);
      const receipt = await group.ask(checked);
      known ??= originFrom(checked.events[0]!, tenant.name);
      return receipt;
    },
    find,
    all: (name) => read((db) => readAll(db, tenant, name)),
    keys: (name, beginning, limit) => read((db) => readKeys(db, tenant, { name, beginning, limit })),
    page: (name, page) => read((db) => readPage(db, tenant, name, page)),
    agentLedger: (page) => read((db) => readAgentLedger(db, tenant, page)),
    agentCurrent: (of) => read((db) => readAgentCurrent(db, tenant, of)),
    system: async () =>
      (await find('system', 'system')) ??
      refuse('STORE_CORRUPT', 'The ledger does not begin with its initialisation.'),
    object: async (digest) => {
      if (!isDigest(digest)) refuse('HASH_MALFORMED');
      const bytes = await objects(digest);
      return bytes && sha256(bytes) === digest
        ? bytes
        : read((db) => refuseObject(db, tenant, digest, bytes));
    },
    objectsLike: (beginning, limit) => read((db) => readObjectsLike(db, tenant, beginning, limit)),
    objects: () => walkObjects((after) => read((db) => readObjects(db, tenant, after)), turns),
    tip: () => tip('tip'),
    look: (wanted) => read((db) => load(db, tenant, wanted)),
    entry,
    entries: (from) => walkEntries((seq) => read((db) => readEntries(db, tenant, seq)), turns, from),
    entriesOf: (subject) => read((db) => readEntriesOf(db, tenant, subject)),
    entryPage: (page) => read((db) => readEntryPage(db, tenant, page)),
    adopt: async (moved) => {
      requireOpen();
      requireWritable();
      await group.answered();
      chain.forget();
      const ledger = await origin();
      await mapped(() => adopter.adopt(moved, ledger));
    },
    rebuild: async (options) => {
      requireOpen();
      if (options.write) requireWritable();
      await group.answered();
      chain.forget();
      return mapped(() => alone(connected, (db) => rebuildProjections(db, tenant, options)));
    },
    changes: async (listener) => {
      requireOpen();
      return mapped(() => followers.add(listener));
    },
    beats: beatsOf(saying, reader, tenant),
    nonces: noncesOf(saying, tenant),
    service_state: serviceStateOf(saying, tenant),
    close: () => {
      closed ??= end();
      return closed;
    },
  };
}

/** On a connection of its own, which takes whatever was begun on it along when it ends. */
async function alone<T>(connected: Connect, act: (db: Connection) => Promise<T>): Promise<T> {
  const db = await connected({ patient: true });
  try {
    return await act(db);
  } finally {
    await db.end();
  }
}
