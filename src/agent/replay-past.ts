import { FoldedLedger, type ReadEntry } from '../fold/ledger.ts';
import { PRINCIPAL_KINDS } from '../identity/principal.ts';
import type { Context } from '../journey/context.ts';
import { withSigners } from '../journey/folded.ts';
import { only } from '../journey/prove-agent.ts';
import type { Entry } from '../ledger/entry.ts';
import { refuse } from '../refusal.ts';
import { agentPlans } from './contracts.ts';
import { intentIdOf } from './intent.ts';
import { idempotencyKey } from './plan.ts';

/** Everything that a conversation rests on, and the ledger as it was just before one of its entries. */
export interface Past {
  readonly entries: readonly PastEntry[];
  readonly folded: FoldedLedger;
}

type PastEntry = ReturnType<Context['read_entry']>;

/** In their order: its own entries, those of its simulations, intents, user and people, and those of all signers. */
export async function pastEntries(journey: Context, subject: string): Promise<readonly PastEntry[]> {
  const { store, read_entry } = journey;
  const about = [...(await store.entriesOf(subject))];
  const people = new Set((await store.all('principal')).filter(isHuman).map(({ name }) => name));
  const subjects = new Set<string>();
  for (const { event } of about.map(({ bytes }) => read_entry(bytes))) {
    if (event.kind === 'agent.received') people.add(event.body.user_id);
    if (event.kind !== 'agent.planned') continue;
    const { correlation_id, simulation_id, ordered_steps } = agentPlans.open(
      await store.object(event.body.plan),
    );
    subjects.add(`simulation:${simulation_id}`);
    for (const step of ordered_steps)
      subjects.add(`simulation:${step.simulation_id}`).add(intentIdOf(idempotencyKey(correlation_id, step)));
  }
  for (const one of subjects) about.push(...(await store.entriesOf(one)));
  // A caller may name any subject, also one that is no principal.
  for (const name of people) about.push(...only(journey, await store.entriesOf(name), PRINCIPAL_KINDS));
  return (await withSigners(journey, about)).map(({ bytes }) => read_entry(bytes));
}

const isHuman = ({ kind }: { readonly kind: string }) => kind === 'human';

export function foldedFrom({ verified }: Context, entries: readonly PastEntry[]): FoldedLedger {
  const folded = new FoldedLedger({ is_whole: false, verified });
  for (const read of entries) folded.takeRead(read);
  return folded;
}

/** What the signed entries told at one moment. */
export interface Then {
  readonly ledger: FoldedLedger;
  readonly now: Date;
}

/**
 * Just before the entry, and just before the second in which its decision was made: it is written down a moment later, and what
 * a human did in between was not part of it.
 */
export function* momentsOf(
  journey: Context,
  { entries, folded }: Past,
  { seq, at }: Entry,
  made: Date,
): Generator<Then> {
  yield { ledger: folded, now: new Date(at) };
  const isEarly = ({ entry }: ReadEntry) => entry.seq === 0 || Date.parse(entry.at) < made.getTime();
  const early = entries.filter((read) => read.entry.seq < seq && isEarly(read));
  yield { ledger: foldedFrom(journey, early), now: made };
}

export function differs(seq: number, message: string): never {
  return refuse('AGENT_REPLAY_DIFFERS', `Entry ${seq}: ${message}`, { seq });
}
