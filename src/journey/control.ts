import { type Drafted, type Event, isControlled } from '../event/event.ts';
import { issuingKeys, type System } from '../gate/system.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { type MachineKey, signDecided } from '../identity/fact.ts';
import { refuse } from '../refusal.ts';
import type { Context } from './context.ts';

/** The newest key of this host that may decide and issue. */
export function currentControlKey({ control_key }: Context, system: System): MachineKey {
  return control_key(issuingKeys(system)) ?? refuse('CONTROL_KEY_ELSEWHERE');
}

/** The events of a commit, with what this control plane decided beside the acts of its signer. A rehearsal signs nothing. */
export function decidedHere(
  context: Context,
  { is_rehearsal }: Signer,
  system: System,
  drafted: readonly Drafted[],
): readonly Event[] {
  if (!drafted.some(isControlled)) return drafted as readonly Event[];
  const { public_key, key } = currentControlKey(context, system);
  return signDecided(context.origin, drafted, { public_key, key: is_rehearsal ? null : key });
}

export interface AddControlKeyRequest {
  readonly public_key: string;
  /** The one of this host that issues no more from then on. */
  readonly replaces: string | null;
  /** Keeps its private half, once the act is signed and before it is written. */
  readonly keep: () => void;
  readonly reason: string;
  readonly signer: Signer;
}

/** From now on this key issues capabilities, beside those of other hosts. */
export async function addControlKey(
  context: Context,
  { public_key, replaces, keep, reason, signer }: AddControlKeyRequest,
): Promise<Event<'control_key.added'>> {
  const facts = { public_key, replaces, reason };
  const added = await signAct(context.origin, 'control_key.added', 'system', facts, signer, context.clock());
  if (!signer.is_rehearsal) keep();
  await context.store.commit({ events: [added] });
  return added;
}

/** It decides and issues nothing from now on, and what it issued and was not claimed yet is not run. */
export async function revokeControlKey(
  context: Context,
  { public_key, reason, signer }: Omit<AddControlKeyRequest, 'replaces' | 'keep'>,
): Promise<Event<'control_key.revoked'>> {
  const facts = { public_key, reason };
  const { origin, clock } = context;
  const revoked = await signAct(origin, 'control_key.revoked', 'system', facts, signer, clock());
  await context.store.commit({ events: [revoked] });
  return revoked;
}
