import { type Event, parseEvent } from '../event/event.ts';
import { type Signer, signAct } from '../identity/act.ts';
import { requireHuman } from '../identity/principal.ts';
import { openEntry } from '../ledger/entry.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import type { Context } from './context.ts';
import { decisionOf } from './decision.ts';

export interface EraseRequest {
  readonly digest: string;
  readonly reason: string;
  readonly signer: Signer;
}

/** Removes the bytes of one object. The ledger keeps its digest and still verifies. */
export async function erase(context: Context, request: EraseRequest): Promise<Event<'object.erased'>> {
  const { digest, reason, signer } = request;
  requireHuman(await context.store.principal(signer.name), signer.public_key);
  await context.store.object(digest);
  const digests = [...new Set([digest, ...(await sameWords(context, digest))])];
  const events = digests.map((each) =>
    signAct(context.origin, 'object.erased', each, { reason }, signer, context.clock()),
  );
  await context.store.commit({ events, erase: digests });
  return events[0]!;
}

/** An envelope, its effects and what policies were asked about it hold the same words: who erases the one means all. */
async function sameWords({ store }: Context, hash: string): Promise<string[]> {
  const proposed = await proposalOf(store, hash);
  if (!proposed) return [];
  const { hash: envelope, effect_digest, alternates } = proposed.body;
  const story = (await store.entriesOf(proposed.subject)).map(({ bytes }) => parseEvent(openEntry(bytes)));
  const decisions = story.map(decisionOf).filter((digest) => digest !== null);
  const reports = story.flatMap((event) =>
    event.kind === 'execution.finished' ? Object.values(event.body.reports) : [],
  );
  const named = [
    envelope,
    effect_digest,
    ...alternates.map((one) => one.effect_digest),
    ...decisions,
    ...reports,
  ];
  const held: string[] = [];
  for (const digest of new Set(named)) if (await holds(store, digest)) held.push(digest);
  return held;
}

async function proposalOf(store: Store, hash: string): Promise<Event<'intent.proposed'> | null> {
  for await (const batch of store.entries()) {
    for (const { bytes } of batch) {
      const event = parseEvent(openEntry(bytes));
      if (event.kind !== 'intent.proposed') continue;
      const { effect_digest, alternates } = event.body;
      const words = [event.body.hash, effect_digest, ...alternates.map((one) => one.effect_digest)];
      if (words.includes(hash)) return event;
    }
  }
  return null;
}

async function holds(store: Store, digest: string): Promise<boolean> {
  try {
    await store.object(digest);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return false;
    throw error;
  }
}
