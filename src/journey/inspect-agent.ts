import type { Event } from '../event/event.ts';
import { type AgentEvent, movesAgent, nextAgent } from '../gate/agent.ts';
import type { AgentState, Dispatch } from '../gate/agent-state.ts';
import { nextDispatch, requireDispatchGrounds } from '../gate/dispatch.ts';
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

/** What the facts of the agent core are judged by, besides one another. */
export interface Around {
  readonly authorities: Authorities;
  intent(intent_id: string): IntentState | null;
}

/**
 * The part of a deep verification about the agent core: every plan and step went the way of its state machine, every
 * dispatch was of a simulation that was active at that moment, and every step ended as its run did.
 */
export class AgentInspector {
  readonly #agents = new Map<string, AgentState>();
  readonly #dispatches = new Map<string, Dispatch>();
  readonly #simulations = new Map<string, Simulation>();
  readonly #intakes = new Map<string, Intake>();
  readonly #around: Around;

  constructor(around: Around) {
    this.#around = around;
  }

  inspect(event: Event, at: string): void {
    if (movesAgent(event)) this.#inspectAgent(event, at);
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
      });
    const state = nextAgent(before, event, at);
    this.#agents.set(event.subject, state);
    if (event.kind === 'agent.moved') this.#inspectDispatch(event, state);
  }

  #inspectDispatch(event: Event<'agent.moved'>, state: AgentState): void {
    const { idempotency_key } = event.body;
    if (idempotency_key === null) return;
    const dispatch = nextDispatch(this.#dispatches.get(idempotency_key) ?? null, event, state);
    if (dispatch) this.#dispatches.set(idempotency_key, dispatch);
  }
}
