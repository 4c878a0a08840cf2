import type { Digest } from '../canonical/digest.ts';
import type { SimulationStatus } from '../event/agent.ts';
import type { Event } from '../event/event.ts';
import { type Authorities, covers, requireHolds } from '../identity/delegation.ts';
import { isMadeLater } from '../identity/made.ts';
import { requireSeen } from '../identity/seen.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/** A simulation as the ledger tells it: one status for the tenant, in one version. */
export interface Simulation {
  readonly simulation: string;
  readonly version: number;
  readonly status: SimulationStatus;
  readonly definition: Digest;
  readonly proof: Digest;
  /** What the activation binds. Null unless it is active. */
  readonly bound: Digest | null;
  readonly own_delegation: string | null;
  readonly expires_at: string | null;
  readonly by: string;
  readonly registered_at: string;
  readonly changed_at: string;
}

/**
 * What a human may make of a version. To activate an active one again renews its delegation. What was disabled goes
 * back to the start, so that it is looked at again before it is active.
 */
const SIMULATION_MOVES: Readonly<Record<SimulationStatus, readonly SimulationStatus[]>> = {
  Draft: ['Active', 'Disabled'],
  Active: ['Active', 'Deprecated', 'Disabled'],
  Deprecated: ['Active', 'Disabled'],
  Disabled: ['Draft'],
};

export type SimulationEvent = Event<'simulation.changed'>;

/** Pure: the simulation after this event. A version starts as a draft and never changes what it does. */
export function nextSimulation(state: Simulation | null, event: SimulationEvent, at: string): Simulation {
  const { simulation, version, status, definition, proof, bound } = event.body;
  const { own_delegation, expires_at, by } = event.body;
  if (event.subject !== `simulation:${simulation}`)
    refuse('SHAPE_INVALID', `"${event.subject}" is not the simulation "${simulation}".`);
  if (status !== 'Active' && (own_delegation !== null || expires_at !== null))
    refuse('SIMULATION_CHANGE_ILLEGAL', 'Only an active simulation has a delegation or an end.');
  if ((status === 'Active') !== (bound !== null))
    refuse('SIMULATION_CHANGE_ILLEGAL', 'An activation, and nothing else, binds what runs.');
  if (own_delegation !== null && expires_at === null)
    refuse('SIMULATION_CHANGE_ILLEGAL', 'What is delegated ends.');
  requireMove(state, event.body);
  // Otherwise, of two activations at once, the delegation of the first would outlive every later change.
  const changed = 'Another human changed it meanwhile. Look at it again.';
  requireSeen(event.body.replaces, state?.own_delegation ?? null, changed, 'SIMULATION_CHANGE_ILLEGAL');
  requireSeen(event.body.from, state && fromNow(state), changed);
  return {
    simulation,
    version,
    status,
    definition,
    proof,
    bound,
    own_delegation,
    expires_at,
    by,
    registered_at: state?.registered_at ?? at,
    changed_at: at,
  };
}

/** How a registration stands, for the act that changes it. */
export function fromNow({ status, bound, expires_at }: Pick<Simulation, 'status' | 'bound' | 'expires_at'>) {
  return { status, bound, expires_at };
}

function requireMove(state: Simulation | null, body: SimulationEvent['body']): void {
  const { version, status, definition } = body;
  if (state === null || version > state.version) {
    if (status !== 'Draft') refuse('SIMULATION_CHANGE_ILLEGAL', 'A new version starts as a draft.');
    return;
  }
  if (version < state.version)
    refuse('SIMULATION_CHANGE_ILLEGAL', `Version ${state.version} took its place.`, { version });
  if (definition !== state.definition)
    refuse('SIMULATION_CHANGE_ILLEGAL', 'A version never changes its definition. Give it a new number.');
  if (!SIMULATION_MOVES[state.status].includes(status))
    refuse('SIMULATION_CHANGE_ILLEGAL', `Nothing leads from ${state.status} to ${status}.`);
}

/** The delegation that an activation names holds now, covers this version, and does not end before it. */
export function requireActivation(authorities: Authorities, { body }: SimulationEvent, at: string): void {
  const { simulation, version, own_delegation, expires_at } = body;
  if (own_delegation === null) {
    requireBounded(expires_at, at);
    return;
  }
  const held = requireHolds(authorities, own_delegation, at);
  if (!covers(held, [`simulation:${simulation}@${version}`])) refuse('DELEGATION_OUT_OF_SCOPE');
  if (expires_at !== null && Date.parse(expires_at) > Date.parse(held.expires_at))
    refuse('DELEGATION_WIDENED', 'The activation would outlive its delegation.');
}

/** A template has no delegation that would end it. */
function requireBounded(expires_at: string | null, at: string): void {
  const life_ms = expires_at === null ? 0 : Date.parse(expires_at) - Date.parse(at);
  if (life_ms > limits.delegation_ttl_s * 1000)
    refuse('TIME_MALFORMED', `An activation holds ${limits.delegation_ttl_s / 86_400} days at most.`);
}

/** Which simulation is meant. Where only its name is known, it is the version that is registered. */
export interface MeantSimulation {
  readonly version?: number;
  readonly definition?: Digest;
}

/** Why this simulation does not serve now; null where it is active. */
export function notActive(
  known: Simulation | null,
  { version, definition }: MeantSimulation,
  at: string,
): 'SIMULATION_NOT_REGISTERED' | 'MADE_IN_FUTURE' | 'SIMULATION_NOT_ACTIVE' | null {
  if (known === null) return 'SIMULATION_NOT_REGISTERED';
  if (isMadeLater(known.changed_at, at)) return 'MADE_IN_FUTURE';
  const is_over = known.expires_at !== null && Date.parse(known.expires_at) <= Date.parse(at);
  const is_same =
    (version ?? known.version) === known.version && (definition ?? known.definition) === known.definition;
  return known.status === 'Active' && is_same && !is_over ? null : 'SIMULATION_NOT_ACTIVE';
}

/** No simulation, no execution: registered, active now, and in this version. */
export function requireActive(
  state: Simulation | null,
  { simulation, version }: Pick<Simulation, 'simulation' | 'version'>,
  at: string,
): Simulation {
  const code = notActive(state, { version }, at);
  if (code === null) return state!;
  return refuse(code, undefined, { simulation, version, ...(state && { status: state.status }) });
}

/** No user is told that something exists which does not. */
export function requireServed(state: Simulation | null, { body }: Event<'intake.told'>, at: string): void {
  requireActive(state, { simulation: body.simulation, version: state?.version ?? 0 }, at);
}
