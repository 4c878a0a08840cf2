import type { Event, SignedKind } from '../event/event.ts';
import { isSigned } from '../event/event.ts';
import { type IntentEvent, movesIntent, next } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import { originOf, verifyAct } from '../identity/act.ts';
import {
  isLive,
  movesPrincipal,
  nextPrincipal,
  type Principal,
  type PrincipalEvent,
  requireHuman,
} from '../identity/principal.ts';
import { refuse } from '../refusal.ts';
import type { Execution } from './store.ts';

/** What each projection holds. All of it follows from the ledger, so all of it can be thrown away and folded again. */
export interface States {
  readonly intent: IntentState;
  readonly execution: Execution;
  readonly principal: Principal;
  readonly system: { readonly origin: string };
}

export type RowName = keyof States;

export interface Row<N extends RowName = RowName> {
  readonly name: N;
  readonly key: string;
  /** The entry that brought this row into being. An entry brings at most one, so this names the row, too. */
  readonly seq: number;
  readonly state: States[N];
}

/** What the fold may look at: the rows as they are just before the event. */
export interface Rows {
  readonly tenant: string;
  row<N extends RowName>(name: N, key: string): Row<N> | null;
  principals(): readonly Principal[];
}

/** Pure: the rows that this event changes, or a refusal. Commit and rebuild use this one function. */
export function fold(rows: Rows, event: Event, seq: number, at: string): readonly Row[] {
  if (isSigned(event)) requireSigner(rows, event);
  if (event.kind === 'execution.claimed') requireLiveApprovals(rows, event);
  if (event.kind === 'system.initialised') return [systemOf(rows, event, seq)];
  if (movesIntent(event)) return foldIntent(rows, event, seq, at);
  if (movesPrincipal(event)) return [foldPrincipal(rows, event, seq, at)];
  return [];
}

/**
 * Only an enrolled, active human acts, and the signature is verified here: whoever can call the store is not yet the human
 * they name. The first key of a ledger has nobody to vouch for it and signs for itself.
 */
function requireSigner(rows: Rows, event: Event<SignedKind>): void {
  const { by, key } = event.body;
  const founding = isSelfSigned(event) && rows.principals().length === 0;
  if (!founding) requireHuman(rows.row('principal', by)?.state ?? null, key);
  verifyAct(rows.row('system', 'system')?.state.origin ?? originOf('none', rows.tenant), event);
}

function systemOf(rows: Rows, { body }: Event<'system.initialised'>, seq: number): Row {
  if (rows.row('system', 'system')) refuse('TRANSITION_ILLEGAL', 'The ledger was initialised before.');
  return { name: 'system', key: 'system', seq, state: { origin: originOf(body.project_id, rows.tenant) } };
}

/** An approval dies with its key: whoever stole one must not profit from what it signed before it was revoked. */
function requireLiveApprovals(rows: Rows, { subject }: Event<'execution.claimed'>): void {
  const intent = rows.row('intent', subject)?.state;
  if (!intent) return;
  const live = intent.approvals.filter(({ by, key }) =>
    isLive(rows.row('principal', by)?.state ?? null, key),
  );
  if (new Set(live.map(({ by }) => by)).size < intent.approvals_needed) refuse('APPROVER_REVOKED');
}

function isSelfSigned({ kind, subject, body }: Event<SignedKind>): boolean {
  return kind === 'key.enrolled' && body.by === subject && body.key === body.public_key;
}

function foldIntent(rows: Rows, event: IntentEvent, seq: number, at: string): readonly Row[] {
  const before = rows.row('intent', event.subject);
  const state = next(before?.state ?? null, event, at);
  const intent: Row = { name: 'intent', key: event.subject, seq: before?.seq ?? seq, state };
  return event.kind === 'execution.claimed' ? [intent, executionOf(rows, event, seq)] : [intent];
}

function executionOf(rows: Rows, { subject, body }: Event<'execution.claimed'>, seq: number): Row {
  const { execution_id, attempt } = body;
  if (rows.row('execution', execution_id)) refuse('TRANSITION_ILLEGAL', 'This execution id was used before.');
  return { name: 'execution', key: execution_id, seq, state: { execution_id, intent_id: subject, attempt } };
}

function foldPrincipal(rows: Rows, event: PrincipalEvent, seq: number, at: string): Row {
  const before = rows.row('principal', event.subject);
  const state = nextPrincipal(before?.state ?? null, event, at);
  if (event.kind === 'key.revoked' && isLastHuman(rows, event.subject)) refuse('LAST_HUMAN');
  return { name: 'principal', key: event.subject, seq: before?.seq ?? seq, state };
}

/** Judged here and not only by callers: two humans who revoke each other at the same moment would leave nobody. */
function isLastHuman(rows: Rows, name: string): boolean {
  const humans = rows.principals().filter(({ kind, status }) => kind === 'human' && status === 'active');
  return humans.length === 1 && humans[0]!.name === name;
}

/** The same rows with changes laid over them, for the later events of one commit. */
export function overlay(rows: Rows): Rows & { put(row: Row): void; changed(): Iterable<Row> } {
  const changes = new Map<string, Row>();
  return {
    tenant: rows.tenant,
    row: <N extends RowName>(name: N, key: string) =>
      (changes.get(`${name} ${key}`) as Row<N> | undefined) ?? rows.row(name, key),
    principals: () => {
      const names = new Map(rows.principals().map((principal) => [principal.name, principal]));
      for (const { name, key, state } of changes.values())
        if (name === 'principal') names.set(key, state as Principal);
      return [...names.values()];
    },
    put: (row) => void changes.set(`${row.name} ${row.key}`, row),
    changed: () => changes.values(),
  };
}
