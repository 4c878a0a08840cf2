import type { Digest } from '../canonical/digest.ts';
import type { IntentState } from '../gate/state.ts';
import type { Authorities } from '../identity/delegation.ts';
import { PRINCIPAL_KINDS, type Principal } from '../identity/principal.ts';
import { foldedPart } from '../journey/folded.ts';
import { only } from '../journey/prove-agent.ts';
import type { Entry, SealedEntry } from '../ledger/entry.ts';
import type { AgentContext } from './context.ts';
import { intentIdOf, isActiveHuman } from './intent.ts';

/** What the signed entries told at one moment of the past. */
export interface View {
  readonly intent: IntentState | null;
  readonly user: Principal | null;
  readonly authorities: Authorities;
  readonly humans: number;
  readonly policy: Digest | null;
  readonly now: Date;
}

interface Seen {
  readonly record: { readonly idempotency_key: Digest };
  readonly state: { readonly user_id: string };
  readonly entry: Entry;
}

/**
 * The ledger just before the entry, and just before the second in which the decision was made: a decision is written down
 * a moment later, and what a human did in between was not part of it.
 */
export async function viewsAt(context: AgentContext, seen: Seen, epoch_s: number): Promise<readonly View[]> {
  const { journey } = context;
  const intent_id = intentIdOf(seen.record.idempotency_key);
  const { user_id } = seen.state;
  const people = await peopleOf(context);
  const own = await principalEntries(context, user_id);
  const about = [...(await journey.store.entriesOf(intent_id)), ...own, ...people];
  const { seq, at } = seen.entry;
  const made_ms = epoch_s * 1000;
  const view = async (now: Date, isBefore: (entry: Entry) => boolean): Promise<View> => {
    const { state, authorities, system, principals } = await foldedPart(journey, about, isBefore);
    return {
      intent: state('intent', intent_id),
      user: state('principal', user_id),
      authorities,
      humans: principals().filter(isActiveHuman).length,
      policy: system.policy,
      now,
    };
  };
  const views = [await view(new Date(at), (entry) => entry.seq < seq)];
  const isEarly = (entry: Entry) => entry.seq < seq && (entry.seq === 0 || Date.parse(entry.at) < made_ms);
  return made_ms < Date.parse(at) ? [...views, await view(new Date(made_ms), isEarly)] : views;
}

/** A caller may name anybody, also something that is no principal at all. */
async function principalEntries({ journey }: AgentContext, name: string): Promise<SealedEntry[]> {
  return only(journey, await journey.store.entriesOf(name), PRINCIPAL_KINDS);
}

async function peopleOf(context: AgentContext): Promise<SealedEntry[]> {
  const people: SealedEntry[] = [];
  for (const { name, kind } of await context.journey.store.all('principal'))
    if (kind === 'human') people.push(...(await principalEntries(context, name)));
  return people;
}
