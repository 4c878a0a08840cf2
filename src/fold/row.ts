import type { AgentState, Dispatch } from '../gate/agent-state.ts';
import type { DispatchedIntent } from '../gate/dispatched.ts';
import type { Execution } from '../gate/execution.ts';
import type { Intake } from '../gate/intake.ts';
import type { Order } from '../gate/order.ts';
import type { AcceptedServer } from '../gate/server.ts';
import type { Simulation } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import type { System } from '../gate/system.ts';
import type { Undoing } from '../gate/undoing.ts';
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
  /** How many humans can act: they are active, have a credential that is, and are no auditors. */
  readonly census: { readonly humans: number };
  readonly delegation: Delegation;
  readonly capability: Order;
  /** How many capabilities were issued for what a principal proposed, or under a delegation to it. */
  readonly pace: Pace;
  readonly system: System;
  readonly agent: AgentState;
  readonly dispatch: Dispatch;
  readonly dispatched: DispatchedIntent;
  readonly simulation: Simulation;
  readonly intake: Intake;
  readonly quota: Quota;
  readonly server: AcceptedServer;
  /** How often a bounded delegation was used. */
  readonly grant: { readonly used: number };
  /** Which intent undoes the run of another one, by the id of that one. */
  readonly undo: Undoing;
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
   * Whether they follow from every entry of the ledger. Those of a proof follow from the entries about one intent, the proposal of
   * what replaced it, and those about its signers: what only other entries could tell is not asked there.
   */
  readonly is_whole: boolean;
  /** They show what holds for all and one subject alone. What another intent says, such as one that replaced it, is not asked there. */
  readonly is_one_subject?: boolean;
  row<N extends RowName>(name: N, key: string): Row<N> | null;
}

export function authoritiesOf(rows: Rows): Authorities {
  return {
    principal: (name) => rows.row('principal', name)?.state ?? null,
    delegation: (id) => rows.row('delegation', id)?.state ?? null,
  };
}

/** The same rows with changes laid over them, for the later events of one commit. One is made for each event that is folded. */
export class RowOverlay implements Rows {
  readonly tenant: string;
  readonly is_whole: boolean;
  readonly #below: Rows;
  readonly #changes = new Map<string, Row>();

  constructor(below: Rows) {
    this.tenant = below.tenant;
    this.is_whole = below.is_whole;
    this.#below = below;
  }

  row<N extends RowName>(name: N, key: string): Row<N> | null {
    if (this.#changes.size === 0) return this.#below.row(name, key);
    return (this.#changes.get(`${name} ${key}`) as Row<N> | undefined) ?? this.#below.row(name, key);
  }

  put(row: Row): void {
    this.#changes.set(`${row.name} ${row.key}`, row);
  }

  changed(): Iterable<Row> {
    return this.#changes.values();
  }
}

/** How many humans can act, of those whom these rows know. */
export function humansIn(rows: Rows): number {
  return rows.row('census', 'humans')?.state.humans ?? 0;
}
