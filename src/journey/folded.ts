import { isSigned } from '../event/event.ts';
import { delegationOf } from '../identity/authority.ts';
import type { SealedEntry } from '../ledger/entry.ts';
import type { Context } from './context.ts';

/**
 * Adds the proposal of what replaced an intent, what holds for every intent, and the keys and delegations of the signers, back to the
 * first human.
 */
export async function withSigners(context: Context, told: readonly SealedEntry[]): Promise<SealedEntry[]> {
  const { store } = context;
  const about = [...told, ...(await replacementsOf(context, told))];
  const system = await store.entriesOf('system');
  const found = new Map([...about, ...system].map((sealed) => [sealed.seq, sealed]));
  const asked = new Set<string>();
  let waiting = signersOf(context, [...about, ...system]);
  while (waiting.length > 0) {
    const name = waiting.pop()!;
    if (asked.has(name)) continue;
    asked.add(name);
    const keys = await store.entriesOf(name);
    for (const sealed of keys) found.set(sealed.seq, sealed);
    waiting = [...waiting, ...signersOf(context, keys)];
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq);
}

/** An intent is only ended by a proposal in its place, so who judges the end is shown that proposal. */
async function replacementsOf(
  { store, read_entry }: Context,
  told: readonly SealedEntry[],
): Promise<SealedEntry[]> {
  const found: SealedEntry[] = [];
  for (const { bytes } of told) {
    const { event } = read_entry(bytes);
    if (event.kind !== 'intent.replaced') continue;
    const entries = await store.entriesOf(event.body.replacement);
    found.push(...entries.filter((one) => read_entry(one.bytes).event.kind === 'intent.proposed'));
  }
  return found;
}

function signersOf({ read_entry }: Context, entries: readonly SealedEntry[]): string[] {
  return entries.flatMap(({ bytes }) => {
    const { event } = read_entry(bytes);
    const proposer = event.kind === 'intent.proposed' && event.body.proposer_signature !== null;
    if (event.kind === 'intent.withdrawn' && event.body.proposer_signature !== null) return [event.body.by];
    const delegate = event.kind === 'delegation.granted' ? [event.body.delegate] : [];
    const own = event.kind === 'simulation.changed' ? (event.body.own_delegation ?? []) : [];
    if (proposer) return [event.body.proposer];
    return isSigned(event)
      ? [event.body.by, delegationOf(event) ?? event.body.by, ...delegate].concat(own)
      : [];
  });
}
