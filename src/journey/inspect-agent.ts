import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { type AgentEvent, movesAgent, nextAgent } from '../gate/agent.ts';
import type { AgentState, Dispatch } from '../gate/agent-state.ts';
import { nextDispatch, requireDispatchGrounds } from '../gate/dispatch.ts';
import { type DispatchedIntent, nextDispatched, requireDispatched } from '../gate/dispatched.ts';
import { type Intake, movesIntake, nextIntake } from '../gate/intake.ts';
import {
  movesSimulation,
  nextSimulation,
  requireServed,
  requireStanding,
  type Simulation,
} from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import { requireWaiver } from '../gate/waiver.ts';
import type { Authorities } from '../identity/delegation.ts';
import type { Entry } from '../ledger/entry.ts';

/** What the facts of the agent core are judged by, besides one another. */
export interface Around {
  readonly authorities: Authorities;
  intent(intent_id: string): IntentState | null;
  policy(): Digest | null;
}

/**
 * The part of a deep verification about the agent core: every plan and step went the way of its state machine, every
 * dispatch was of a simulation that was active at that moment, and every step ended as its run did.
 */
export class AgentInspector {
  readonly #agents = new Map<string, AgentState>();
  readonly #dispatches = new Map<string, Dispatch>();
  readonly #dispatched = new Map<string, DispatchedIntent>();
  readonly #simulations = new Map<string, Simulation>();
  readonly #intakes = new Map<string, Intake>();
  readonly #around: Around;
  /** Whether every entry from the first one on was shown, and how many. */
  #is_whole = true;
  #size = 0;

  constructor(around: Around) {
    this.#around = around;
  }

  simulation(id: string): Simulation | null {
    return this.#simulations.get(id) ?? null;
  }

  inspect(event: Event, { seq, at }: Pick<Entry, 'seq' | 'at'>): void {
    this.#is_whole &&= seq === this.#size;
    this.#size += 1;
    if (movesAgent(event)) this.#inspectAgent(event, at);
    if (event.kind === 'execution.claimed') this.#inspectClaim(event);
    if (movesSimulation(event)) {
      requireStanding(this.#around.authorities, event, at);
      const before = this.#simulations.get(event.body.simulation) ?? null;
      this.#simulations.set(event.body.simulation, nextSimulation(before, event, at));
    }
    if (event.kind === 'intake.told')
      requireServed(this.#simulations.get(event.body.simulation) ?? null, event, at);
    if (movesIntake(event)) {
      const before = this.#intakes.get(event.subject) ?? null;
      this.#intakes.set(event.subject, nextIntake(before, event, at));
    }
    if (event.kind === 'slo.waived') requireWaiver(event, at);
  }

  #inspectAgent(event: AgentEvent, at: string): void {
    const before = this.#agents.get(event.subject) ?? null;
    if (event.kind === 'agent.moved')
      requireDispatchGrounds(before, event, at, {
        simulation: (id) => this.#simulations.get(id) ?? null,
        intent: (intent_id) => this.#around.intent(intent_id),
        principal: (name) => this.#around.authorities.principal(name),
        policy: this.#around.policy(),
      });
    const state = nextAgent(before, event, at);
    this.#agents.set(event.subject, state);
    if (event.kind === 'agent.moved') this.#inspectDispatch(event, state);
  }

  /** Only whoever saw every entry can tell that an intent was not dispatched. */
  #inspectClaim({ subject }: Event<'execution.claimed'>): void {
    const intent = this.#around.intent(subject);
    if (this.#is_whole && intent) requireDispatched(intent, () => this.#dispatched.get(subject) ?? null);
  }

  #inspectDispatch(event: Event<'agent.moved'>, state: AgentState): void {
    const { idempotency_key, intent_id } = event.body;
    const dispatched = nextDispatched(this.#dispatched.get(intent_id ?? '') ?? null, event);
    if (dispatched) this.#dispatched.set(dispatched.intent_id, dispatched);
    if (idempotency_key === null) return;
    const dispatch = nextDispatch(this.#dispatches.get(idempotency_key) ?? null, event, state);
    if (dispatch) this.#dispatches.set(idempotency_key, dispatch);
  }
}
