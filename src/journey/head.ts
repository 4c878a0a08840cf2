import type { Event } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import type { Context } from './context.ts';

export interface AcceptHeadRequest {
  /** How many entries the longest kept head knew; null when none could be read. */
  readonly kept_size: number | null;
  /** Whether a kept head does not fit, or none could be read. */
  readonly forgets: boolean;
  readonly reason: string;
  readonly signer: Signer;
}

/**
 * A human accepts the ledger as it is. The entry says so for good; the kept head goes on from it. Where something is forgotten, a run may be
 * among it: everything is frozen, and no intent that was proposed before ever runs (`gate/system.ts`, `gate/standing.ts`).
 */
export async function acceptHead(
  context: Context,
  { kept_size, forgets, reason, signer }: AcceptHeadRequest,
): Promise<Event<'head.accepted'>> {
  const { store, origin, clock } = context;
  const { size: seq } = await store.tip();
  const accepted = await signAct(
    origin,
    'head.accepted',
    'system',
    { seq, kept_size, forgets, reason },
    signer,
    clock(),
  );
  await store.commit({ events: [accepted] });
  return accepted;
}
