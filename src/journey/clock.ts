import type { Event } from '../event/event.ts';
import { drawnAt, type Signer, signAct } from '../identity/act.ts';
import { type Context, requireClock } from './context.ts';

export interface AcceptClockRequest {
  readonly reason: string;
  readonly signer: Signer;
}

/** A human says that the clock of this machine is right. From this entry on, time in the ledger is what the clock says. */
export async function acceptClock(
  { store, origin, clock }: Context,
  { reason, signer }: AcceptClockRequest,
): Promise<Event<'clock.accepted'>> {
  const { size: seq } = await store.tip();
  const now = clock();
  const facts = { seq, now: drawnAt(signer, now).toISOString(), reason };
  const accepted = await signAct(origin, 'clock.accepted', 'system', facts, signer, now);
  await store.commit({ events: [accepted] });
  return accepted;
}

/** Refuses a clock that is behind the newest entry, or that was set ahead. Returns the time of the newest entry. */
export async function checkClock(context: Context): Promise<string | null> {
  await requireClock(context);
  context.requireSteadyClock();
  return (await context.store.tip()).at;
}
