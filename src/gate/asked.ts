import type { Envelope } from '../intent/envelope.ts';
import { isTold } from '../intent/told.ts';
import { refuse } from '../refusal.ts';
import type { IntentState } from './state.ts';

/** What the entry says about an intent is what its envelope says: the hash covers only the envelope. */
export function requireTold(envelope: Envelope, state: IntentState): void {
  if (callOf(envelope, state).digest !== state.effect_digest) refuse('EFFECT_CHANGED');
  if (!isTold(envelope, state))
    refuse('EFFECT_CHANGED', 'The ledger tells of another intent than the envelope.');
}

/** The call of the present attempt: the one that was asked for, or an alternate that a human turned to. */
export function callOf({ effect, alternates }: Envelope, { effect_digest }: IntentState): Envelope['effect'] {
  return alternates.find(({ digest }) => digest === effect_digest) ?? effect;
}
