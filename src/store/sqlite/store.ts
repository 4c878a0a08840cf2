import { resolve } from 'node:path';
import { rememberedKeys } from '../../canonical/ed25519.ts';
import { originFrom, verifierOf } from '../../fold/ledger.ts';
import { refuse } from '../../refusal.ts';
import { turnsOf } from '../../turns.ts';
import { openForeign } from '../adopt.ts';
import { checkCommit } from '../decide.ts';
import { cutCommits, groupCommit } from '../group.ts';
import { type Store, walkEntries, walkObjects } from '../store.ts';
import { adoptEntries } from './adopt.ts';
import { readAgentCurrent, readAgentLedger } from './agent.ts';
import { checkpointsOf } from './checkpoint.ts';
import type { Database } from './database.ts';
import { knownOf } from './known.ts';
import { createFile, exists, openReadOnly, openToWrite } from './open.ts';
import {
  readEntries,
  readEntriesOf,
  readEntry,
  readEntryPage,
  readObject,
  readObjects,
  readObjectsLike,
  readPage,
} from './read.ts';
import { rebuildProjections } from './rebuild.ts';
import { findTenant, readKeys, type Tenant } from './rows.ts';
import { writerOf } from './write.ts';

export interface SqliteOptions {
  readonly path: string;
  readonly tenant: string;
  readonly clock: () => Date;
  /** `create` makes the ledger of this tenant, and the file if need be; it refuses when that ledger exists. */
  readonly mode: 'read' | 'write' | 'create';
  /** How long to wait for another process that writes; `limits.store_busy_ms` unless told. */
  readonly busy_ms?: number;
}

/** The embedded store: one file, many processes, one writer at a time. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { tenant, clock, mode, busy_ms } = options;
  // Absolute, because SQLite reads a path that begins with "file:" as an address with options of its own.
  const path = resolve(options.path);
  if (mode === 'create' && !exists(path)) await createFile(path);
  const db = mode === 'read' ? await openReadOnly(path, busy_ms) : await openToWrite(path, busy_ms);
  try {
    if (mode === 'create') addTenant(db, tenant);
    const found = db.run(() => findTenant(db, tenant));
    if (!found) refuse('STORE_MISSING', `The store has no ledger of "${tenant}".`);
    return storeOf(db, path, found, clock, mode === 'read');
  } catch (error) {
    db.close();
    throw error;
  }
}

function addTenant(db: Database, name: string): void {
  db.transaction('write', () => {
    if (findTenant(db, name)) refuse('PROJECT_EXISTS', `The store has a ledger of "${name}" already.`);
    db.sql('INSERT INTO tenant (name) VALUES (?)').run(name);
  });
}

function storeOf(db: Database, path: string, tenant: Tenant, clock: () => Date, read_only: boolean): Store {
  const known = knownOf(db, tenant);
  const keyOf = rememberedKeys();
  const checkpoints = checkpointsOf(path, db.distrust);
  const group = groupCommit(writerOf(db, tenant, clock, known, checkpoints), cutCommits);
  let closed: Promise<void> | null = null;
  const requireWritable = () => {
    if (closed) refuse('STORE_CLOSED');
    if (read_only) refuse('STORE_READ_ONLY', 'The store was opened to read.');
  };
  const turns = turnsOf();
  /** A file answers at once: who reads much of it lets others go on in between. */
  const read = async <T>(act: () => T): Promise<T> => {
    const others = turns();
    if (others) await others;
    return db.run(act);
  };
  let begun: string | null = null;
  const origin = () => {
    begun ??= db.run(() => known.state('system', 'system'))?.origin ?? null;
    return begun;
  };
  async function end(): Promise<void> {
    await group.answered();
    await checkpoints.end();
    db.close();
  }

  return {
    tenant: tenant.name,
    origin: () => begun,
    commit: async (commit) => {
      requireWritable();
      const checked = checkCommit(commit, verifierOf(tenant.name, origin(), keyOf), keyOf);
      const receipt = await group.ask(checked);
      begun ??= originFrom(checked.events[0]!, tenant.name);
      return receipt;
    },
    find: (name, key) => read(() => known.state(name, key)),
    all: (name) => read(() => known.all(name)),
    keys: (name, beginning, limit) => read(() => readKeys(db, tenant, name, beginning, limit)),
    page: (name, page) => read(() => readPage(db, tenant, name, page)),
    agentLedger: (page) => read(() => readAgentLedger(db, tenant, page)),
    agentCurrent: (of) => read(() => readAgentCurrent(db, tenant, of)),
    system: async () =>
      (await read(() => known.state('system', 'system'))) ??
      refuse('STORE_CORRUPT', 'The ledger does not begin with its initialisation.'),
    object: (digest) => read(() => readObject(db, tenant, digest)),
    objectsLike: (beginning, limit) => read(() => readObjectsLike(db, tenant, beginning, limit)),
    objects: () => walkObjects((after) => read(() => readObjects(db, tenant, after)), turns),
    written: () => db.run(known.written),
    tip: async () => {
      db.requireThere();
      return read(known.tip);
    },
    look: (wanted) => read(() => known.look(wanted)),
    entry: (seq) => read(() => readEntry(db, tenant, seq)),
    entries: (from) => walkEntries((seq) => read(() => readEntries(db, tenant, seq)), turns, from),
    entriesOf: (subject) => read(() => readEntriesOf(db, tenant, subject)),
    entryPage: (page) => read(() => readEntryPage(db, tenant, page)),
    adopt: async ({ entries = [], objects = null }) => {
      requireWritable();
      await group.answered();
      adoptEntries(db, tenant, known, openForeign(tenant.name, origin(), entries), objects);
    },
    rebuild: async (options) => {
      if (options.write) requireWritable();
      await group.answered();
      known.forget();
      return rebuildProjections(db, tenant, options);
    },
    close: () => {
      closed ??= end();
      return closed;
    },
  };
}
