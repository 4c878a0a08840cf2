import type { Digest } from '../canonical/digest.ts';
import type { Event } from '../event/event.ts';
import { originOf } from '../identity/act.ts';
import { refuse } from '../refusal.ts';
import { type Freeze, nextFreezes } from './freeze.ts';

/** What holds for every intent: which keys sign capabilities, which policies are active, what is frozen. */
export interface System {
  readonly origin: string;
  /** Signs the heads of the ledger. */
  readonly ledger_key: string;
  /** The last one signs; all of them verify. */
  readonly control_keys: readonly string[];
  readonly policy: Digest | null;
  readonly freezes: readonly Freeze[];
}

export const SYSTEM_KINDS = [
  'system.initialised',
  'control_key.added',
  'policy.activated',
  'system.frozen',
  'system.unfrozen',
] as const;

export type SystemEvent = Event<(typeof SYSTEM_KINDS)[number]>;

/** Pure: what holds for every intent of this tenant after the event. */
export function nextSystem(state: System | null, event: SystemEvent, at: string, tenant: string): System {
  if (event.kind === 'system.initialised') {
    const { project_id, ledger_key } = event.body;
    const origin = originOf(project_id, tenant);
    return { origin, ledger_key, control_keys: [], policy: null, freezes: [] };
  }
  if (state === null) refuse('TRANSITION_ILLEGAL', 'There is no ledger yet.');
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
