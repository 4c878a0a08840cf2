import type { Body, Event } from '../event/event.ts';
import { correlationOf } from '../gate/agent.ts';

/**
 * The tables of 003 section 10.1, which people query under these names, each described once: its columns with their types and
 * where their values come from, its key and its indexes. Both databases make, write, read and compare them by this. Each row
 * follows from one ledger entry and from nothing else.
 */

export type Value = string | number | null;

interface Column<S, V extends Value = Value> {
  readonly type: 'text' | 'number';
  readonly is_optional: boolean;
  readonly of: (told: S) => V;
}

export interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  /** Only these rows, each of them unique. */
  readonly unique_where?: string;
}

interface Table<C> {
  /** What an entry has to tell to add a row. */
  readonly about: keyof Sources;
  readonly columns: C;
  /** What makes a row unique, and the order of a ledger: time never goes back, so its rows are appended to the last page. */
  readonly key: readonly (keyof C & string)[];
  readonly indexes: readonly Index[];
  /** The columns of the ledger whose newest row of each key it holds. All other tables are ledgers: no row is ever changed or deleted. */
  readonly newest_of: Readonly<Record<string, unknown>> | null;
}

/** An entry, or one of the parts that it tells. */
interface Told<B> {
  readonly tenant: string;
  readonly seq: number;
  readonly part: number;
  readonly at: string;
  readonly correlation_id: string;
  readonly body: B;
}

/** `from` is empty where the plan or step comes into being. */
type Move = Omit<Body<'agent.moved'>, 'from'> & { readonly from: string };

interface Sources {
  readonly move: Told<Move>;
  readonly answer: Told<Body<'agent.confirmed'>>;
  readonly access: Told<Body<'agent.access'>>;
}

function columnsFrom<S>() {
  return {
    text: (of: (told: S) => string): Column<S, string> => ({ type: 'text', is_optional: false, of }),
    textOrNull: (of: (told: S) => string | null): Column<S, string | null> => ({
      type: 'text',
      is_optional: true,
      of,
    }),
    number: (of: (told: S) => number): Column<S, number> => ({ type: 'number', is_optional: false, of }),
    numberOrNull: (of: (told: S) => number | null): Column<S, number | null> => ({
      type: 'number',
      is_optional: true,
      of,
    }),
  };
}

/** Of which plan and step the row is. The step is empty where the plan itself moves. */
function stepColumns<S extends Told<{ readonly plan_id: string; readonly step_id: string | null }>>() {
  const { text } = columnsFrom<S>();
  return {
    tenant_id: text(({ tenant }) => tenant),
    correlation_id: text(({ correlation_id }) => correlation_id),
    plan_id: text(({ body }) => body.plan_id),
    step_id: text(({ body }) => body.step_id ?? ''),
  };
}

function table<A extends keyof Sources, C extends Readonly<Record<string, Column<Sources[A]>>>>(
  about: A,
  columns: C,
  more: Pick<Table<C>, 'key'> & Partial<Table<C>>,
): Table<C> {
  return { about, columns, indexes: [], newest_of: null, ...more };
}

const move = columnsFrom<Sources['move']>();
const answer = columnsFrom<Sources['answer']>();
const access = columnsFrom<Sources['access']>();

const moves = {
  ...stepColumns<Sources['move']>(),
  seq: move.number(({ seq }) => seq),
  part: move.number(({ part }) => part),
  from_state: move.text(({ body }) => body.from),
  to_state: move.text(({ body }) => body.to),
  reason_code: move.text(({ body }) => body.reason_code),
  idempotency_key: move.textOrNull(({ body }) => body.idempotency_key),
  intent_id: move.textOrNull(({ body }) => body.intent_id),
  execution_id: move.textOrNull(({ body }) => body.execution_id),
  finder_packet_ref: move.text(({ body }) => body.refs.finder_packet_ref),
  policy_snapshot_ref: move.text(({ body }) => body.refs.policy_snapshot_ref),
  catalog_snapshot_ref: move.text(({ body }) => body.refs.catalog_snapshot_ref),
  artifact_fingerprint_bundle_ref: move.text(({ body }) => body.refs.artifact_fingerprint_bundle_ref),
  access_decision_ref: move.textOrNull(({ body }) => body.refs.access_decision_ref),
  confirmation_parse_proof_ref: move.textOrNull(({ body }) => body.refs.confirmation_parse_proof_ref),
  rollback_plan_ref: move.textOrNull(({ body }) => body.refs.rollback_plan_ref),
  dispatch_decision_hash: move.textOrNull(({ body }) => body.dispatch_decision_hash),
  dispatch_ms: move.numberOrNull(({ body }) => body.dispatch_ms),
  outcome_ref: move.textOrNull(({ body }) => body.outcome),
  created_at: move.text(({ at }) => at),
};

const { tenant_id, correlation_id, plan_id, step_id, reason_code, seq } = moves;
const { idempotency_key, intent_id, execution_id, outcome_ref } = moves;

export const AGENT_TABLES = {
  agent_execution_ledger: table('move', moves, {
    key: ['tenant_id', 'created_at', 'seq', 'part'],
    indexes: [
      {
        name: 'agent_execution_dispatch',
        columns: ['tenant_id', 'correlation_id', 'step_id', 'idempotency_key'],
        unique_where: "to_state = 'EXECUTING'",
      },
      { name: 'agent_execution_plan', columns: ['tenant_id', 'plan_id', 'step_id'] },
      { name: 'agent_execution_replay', columns: ['tenant_id', 'correlation_id', 'created_at'] },
    ],
  }),
  /** Of each plan and step the newest row of the ledger, without what it rests on. */
  agent_execution_current: table(
    'move',
    {
      ...{ tenant_id, correlation_id, plan_id, step_id, state: moves.to_state, reason_code },
      ...{ idempotency_key, intent_id, execution_id, outcome_ref, seq, updated_at: moves.created_at },
    },
    {
      key: ['tenant_id', 'correlation_id', 'plan_id', 'step_id'],
      indexes: [{ name: 'agent_execution_current_plan', columns: ['tenant_id', 'plan_id', 'step_id'] }],
      newest_of: moves,
    },
  ),
  agent_execution_confirmation_ledger: table(
    'answer',
    {
      ...stepColumns<Sources['answer']>(),
      answer: answer.text(({ body }) => body.answer),
      confirmation_parse_proof_ref: answer.text(({ body }) => body.proof),
      confirm_lexicon_version_ref: answer.text(({ body }) => body.confirm_lexicon_version_ref),
      seq: answer.number(({ seq }) => seq),
      created_at: answer.text(({ at }) => at),
    },
    { key: ['tenant_id', 'created_at', 'seq'] },
  ),
  agent_execution_access_decision_ledger: table(
    'access',
    {
      ...stepColumns<Sources['access']>(),
      user_id: access.text(({ body }) => body.user_id),
      access_action: access.text(({ body }) => body.access_action),
      outcome: access.text(({ body }) => body.outcome),
      access_decision_ref: access.text(({ body }) => body.decision),
      intent_id: access.textOrNull(({ body }) => body.intent_id),
      seq: access.number(({ seq }) => seq),
      created_at: access.text(({ at }) => at),
    },
    { key: ['tenant_id', 'created_at', 'seq'] },
  ),
};

export type AgentTable = keyof typeof AGENT_TABLES;

type RowOf<T> =
  T extends Table<infer C>
    ? { readonly [N in keyof C]: C[N] extends Column<never, infer V> ? V : never }
    : never;
export type AgentLedgerRow = RowOf<typeof AGENT_TABLES.agent_execution_ledger>;
export type AgentCurrentRow = RowOf<typeof AGENT_TABLES.agent_execution_current>;

/** A table as what writes, reads and compares rows sees it. */
export interface AgentTableShape {
  readonly name: AgentTable;
  readonly key: readonly string[];
  readonly indexes: readonly Index[];
  readonly columns: readonly string[];
  readonly types: readonly Column<never>['type'][];
  readonly optional: readonly boolean[];
  /** For a table of the present: which column of the ledger each of its columns repeats. */
  readonly repeats: readonly string[] | null;
}

export const TABLES: readonly AgentTableShape[] = (Object.keys(AGENT_TABLES) as AgentTable[]).map((name) => {
  const { key, indexes, newest_of } = AGENT_TABLES[name];
  const described: [string, Column<never>][] = Object.entries(AGENT_TABLES[name].columns);
  const nameIn = (of: object, column: unknown) =>
    Object.entries(of).find(([, known]) => known === column)![0];
  return {
    ...{ name, key, indexes },
    columns: described.map(([column]) => column),
    types: described.map(([, { type }]) => type),
    optional: described.map(([, { is_optional }]) => is_optional),
    repeats: newest_of && described.map(([, column]) => nameIn(newest_of, column)),
  };
});

export const LEDGERS = TABLES.filter(({ repeats }) => repeats === null);
export const [LEDGER] = LEDGERS as [AgentTableShape, ...AgentTableShape[]];
export const CURRENT = TABLES.find(({ repeats }) => repeats !== null)!;

/** One row that an entry adds: its values in the order of the columns. */
export interface AgentRow {
  readonly table: AgentTableShape;
  readonly values: readonly Value[];
}

const SOURCES = new Map(
  LEDGERS.map((table) => {
    const columns: readonly Column<never>[] = Object.values(AGENT_TABLES[table.name].columns);
    return [AGENT_TABLES[table.name].about, { table, sources: columns.map(({ of }) => of) }];
  }),
);

const REPEATED = CURRENT.repeats!.map((column) => LEDGER.columns.indexOf(column));

/** The row of the present that a row of a ledger makes, if it makes one. */
export function currentOf({ table, values }: AgentRow): AgentRow | null {
  return table === LEDGER ? { table: CURRENT, values: REPEATED.map((i) => values[i]!) } : null;
}

interface Place {
  readonly tenant: string;
  readonly seq: number;
  readonly at: string;
}

/** Pure: the rows that this event adds to the ledgers, in their order. */
export function agentRows(event: Event, place: Place): readonly AgentRow[] {
  switch (event.kind) {
    case 'agent.planned':
      return rowsAbout('move', event, place, movesOf(event.body));
    case 'agent.moved':
      return rowsAbout('move', event, place, [event.body]);
    case 'agent.confirmed':
      return rowsAbout('answer', event, place, [event.body]);
    case 'agent.access':
      return rowsAbout('access', event, place, [event.body]);
    default:
      return NONE;
  }
}

const NONE: readonly AgentRow[] = [];

function rowsAbout(
  about: keyof Sources,
  { subject }: Event,
  { tenant, seq, at }: Place,
  bodies: readonly Sources[typeof about]['body'][],
): AgentRow[] {
  const { table, sources } = SOURCES.get(about)!;
  const correlation_id = correlationOf(subject);
  return bodies.map((body, part) => {
    const told = { tenant, seq, part, at, correlation_id, body };
    return { table, values: sources.map((of) => of(told as never)) };
  });
}

/** A plan comes into being, then its steps in their order. */
function movesOf({ plan_id, steps, refs }: Body<'agent.planned'>): Move[] {
  const begins = (step_id: string | null, to: Move['to']): Move => ({
    plan_id,
    step_id,
    from: '',
    to,
    reason_code: 'PLAN_CREATED',
    refs,
    idempotency_key: null,
    intent_id: null,
    execution_id: null,
    dispatch_decision_hash: null,
    dispatch_ms: null,
    outcome: null,
  });
  return [begins(null, 'CREATED'), ...steps.map(({ step_id }) => begins(step_id, 'PENDING'))];
}
