import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import { type Freeze, type FreezeEvent, movesFreeze, nextFreezes } from './freeze.ts';

/** What holds for every intent: which keys sign capabilities, which policies are active, what is frozen. */
export interface System {
  readonly origin: string;
  /** The last one signs; all of them verify. */
  readonly control_keys: readonly string[];
  readonly policy: Digest | null;
  readonly freezes: readonly Freeze[];
}

export type SystemEvent = FreezeEvent | Event<'control_key.added' | 'policy.activated'>;

export function movesSystem(event: Event): event is SystemEvent {
  return movesFreeze(event) || event.kind === 'control_key.added' || event.kind === 'policy.activated';
}

export function newSystem(origin: string): System {
  return { origin, control_keys: [], policy: null, freezes: [] };
}

export function nextSystem(state: System, event: SystemEvent, at: string): System {
  switch (event.kind) {
    case 'control_key.added':
      if (state.control_keys.includes(event.body.public_key)) refuse('KEY_ENROLLED_TWICE');
      return { ...state, control_keys: [...state.control_keys, event.body.public_key] };
    case 'policy.activated':
      if (event.body.replaces !== state.policy) refuse('POLICY_REPLACED');
      return { ...state, policy: event.body.snapshot };
    default:
      return { ...state, freezes: nextFreezes(state.freezes, event, at) };
  }
}
