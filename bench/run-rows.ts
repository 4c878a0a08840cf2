import { randomUUID } from 'node:crypto';
import { connect } from '../src/store/sqlite/database.ts';
import { replaceLists } from '../src/store/sqlite/lists.ts';
import { rowIdOf } from '../src/store/sqlite/schema.ts';
import { type Project, turnedIntent } from './project.ts';

const TENANT = 1;
/** What one that ran adds: the intent, its run and its capability. */
const ROWS = 3;

/**
 * The rows of many intents that ran, as that of one which really did: lists read rows and no entries, and a million signed journeys
 * would take an hour.
 */
export async function addRunRows(project: Project, count: number): Promise<void> {
  const { keyturn } = project;
  const { intent_id, hash, seen } = await turnedIntent(project);
  await keyturn.runs.run({ intent_id, hash, seen });
  const { status_word: _, ...intent } = await keyturn.intents.get({ intent_id });
  const { execution_id, capability_id } = intent.runs[0]!;
  const db = await connect(keyturn.layout.store, 'write');
  const made = new Map<string, Model>();
  for (const [name, key] of [
    ['intent', intent_id],
    ['execution', execution_id],
    ['capability', capability_id],
  ] as const)
    made.set(name, db.sql(MODEL).get(name, key) as unknown as Model);
  const [insert, find] = [db.sql(INSERT), db.sql(LOOKUP)];
  const size = (await keyturn.ledger.head()).size;
  db.exec('BEGIN IMMEDIATE');
  for (let i = 0; i < count; i++) {
    const ids = new Map([intent_id, execution_id, capability_id].map((id) => [id, randomUUID() as string]));
    for (const [j, name] of (['intent', 'execution', 'capability'] as const).entries()) {
      const { key, status, tool, proposer, actor, due, state } = made.get(name)!;
      const text = [...ids].reduce((so_far, [id, other]) => so_far.replaceAll(id, other), state);
      const seq = size + ROWS * i + j;
      insert.run(
        rowIdOf(TENANT, name, seq),
        TENANT,
        name,
        ids.get(key)!,
        status,
        tool,
        proposer,
        actor,
        due,
        text,
      );
      find.run(TENANT, ids.get(key)!, name, '', seq);
    }
  }
  replaceLists(db, { id: TENANT, name: 'default' }, size + ROWS * count);
  db.exec('COMMIT');
  db.close();
}

interface Model {
  readonly key: string;
  readonly status: string;
  readonly tool: string;
  readonly proposer: string;
  readonly actor: string | null;
  readonly due: string | null;
  readonly state: string;
}

const MODEL =
  'SELECT key, status, tool, proposer, actor, due, state FROM projection WHERE name = ? AND key = ?';
const INSERT =
  'INSERT INTO projection (id, tenant, name, key, status, tool, proposer, actor, due, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
const LOOKUP = 'INSERT INTO lookup (tenant, near, kind, key, seq) VALUES (?, ?, ?, ?, ?)';
