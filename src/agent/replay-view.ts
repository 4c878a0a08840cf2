import type { Digest } from '../canonical/digest.ts';
import type { IntentState } from '../gate/state.ts';
import type { Authorities } from '../identity/delegation.ts';
import { movesPrincipal, nextPrincipal, type Principal } from '../identity/principal.ts';
import { toldUntil } from '../journey/prove-agent.ts';
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
  const about = [...(await journey.store.entriesOf(intent_id)), ...own];
  const { seq, at } = seen.entry;
  const made_ms = epoch_s * 1000;
  const view = async (now: Date, isBefore: (entry: Entry) => boolean): Promise<View> => {
    const told = await toldUntil(journey, about, isBefore);
    return {
      intent: told.intent(intent_id),
      user: told.authorities.principal(user_id),
      authorities: told.authorities,
      humans: people.filter((entries) => isHumanIn(readIn(context, entries), isBefore)).length,
      policy: told.system.policy,
      now,
    };
  };
  const views = [await view(new Date(at), (entry) => entry.seq < seq)];
  const isEarly = (entry: Entry) => entry.seq < seq && (entry.seq === 0 || Date.parse(entry.at) < made_ms);
  return made_ms < Date.parse(at) ? [...views, await view(new Date(made_ms), isEarly)] : views;
}

function readIn({ journey }: AgentContext, entries: readonly SealedEntry[]) {
  return entries.map(({ bytes }) => journey.read_entry(bytes));
}

/** A caller may name anybody, also something that is no principal at all. */
async function principalEntries({ journey }: AgentContext, name: string): Promise<SealedEntry[]> {
  const entries = await journey.store.entriesOf(name);
  return entries.filter(({ bytes }) => movesPrincipal(journey.read_entry(bytes).event));
}

async function peopleOf(context: AgentContext): Promise<SealedEntry[][]> {
  const people: SealedEntry[][] = [];
  for (const { name, kind } of await context.journey.store.principals())
    if (kind === 'human') people.push(await principalEntries(context, name));
  return people;
}

function isHumanIn(entries: ReturnType<typeof readIn>, isBefore: (entry: Entry) => boolean): boolean {
  let known: Principal | null = null;
  for (const { entry, event } of entries)
    if (isBefore(entry) && movesPrincipal(event)) known = nextPrincipal(known, event, entry.at);
  return known !== null && isActiveHuman(known);
}
