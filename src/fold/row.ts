import type { AgentState, Dispatch } from '../gate/agent-state.ts';
import type { DispatchedIntent } from '../gate/dispatched.ts';
import type { Intake } from '../gate/intake.ts';
import type { Simulation } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Authorities, Delegation } from '../identity/delegation.ts';
import type { Pace } from '../identity/pace.ts';
import type { Principal } from '../identity/principal.ts';
import type { Quota } from '../identity/quota.ts';

/** What each projection holds. All of it follows from the ledger, so all of it can be thrown away and folded again. */
export interface States {
  readonly intent: IntentState;
  readonly execution: Execution;
  readonly principal: Principal;
  /** Whose key it is, for good: one key speaks for one name. */
  readonly key: { readonly name: string };
  /** How many humans are active. */
  readonly census: { readonly humans: number };
  readonly delegation: Delegation;
  readonly capability: IssuedCapability;
  /** How many capabilities were issued for what a principal proposed, or under a delegation to it. */
  readonly pace: Pace;
  readonly system: System;
  readonly agent: AgentState;
  readonly dispatch: Dispatch;
  readonly dispatched: DispatchedIntent;
  readonly simulation: Simulation;
  readonly intake: Intake;
  readonly quota: Quota;
}

/** Where a run belongs. Everything else about it is part of its intent. */
export interface Execution {
  readonly execution_id: string;
  readonly intent_id: string;
  readonly attempt: number;
}

/** Where a capability belongs. Everything else about it is part of its intent. */
export interface IssuedCapability {
  readonly capability_id: string;
  readonly intent_id: string;
  readonly control_key: string;
}

export type RowName = keyof States;

export interface Row<N extends RowName = RowName> {
  readonly name: N;
  readonly key: string;
  /** The entry that brought this row into being. */
  readonly seq: number;
  readonly state: States[N];
}

/** What the fold may look at: the rows as they are just before the event. */
export interface Rows {
  readonly tenant: string;
  /**
   * Whether they follow from every entry of the ledger. Those of a proof follow from the entries about one intent and about
   * everybody who signed: what only the others could tell is not asked there.
   */
  readonly is_whole: boolean;
  row<N extends RowName>(name: N, key: string): Row<N> | null;
}

export function authoritiesOf(rows: Rows): Authorities {
  return {
    principal: (name) => rows.row('principal', name)?.state ?? null,
    delegation: (id) => rows.row('delegation', id)?.state ?? null,
  };
}

export interface Overlay extends Rows {
  put(row: Row): void;
  changed(): Iterable<Row>;
}

/** The same rows with changes laid over them, for the later events of one commit. */
export function overlay(rows: Rows): Overlay {
  const changes = new Map<string, Row>();
  return {
    tenant: rows.tenant,
    is_whole: rows.is_whole,
    row: <N extends RowName>(name: N, key: string) =>
      (changes.get(`${name} ${key}`) as Row<N> | undefined) ?? rows.row(name, key),
    put: (row) => void changes.set(`${row.name} ${row.key}`, row),
    changed: () => changes.values(),
  };
}

/** How many humans are active, of those whom these rows know. */
export function humansIn(rows: Rows): number {
  return rows.row('census', 'humans')?.state.humans ?? 0;
}
