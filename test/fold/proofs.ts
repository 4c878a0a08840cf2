import { auditProof } from '../../src/audit/proof.ts';
import type { Event } from '../../src/event/event.ts';
import type { SealedEntry } from '../../src/ledger/entry.ts';
import { keyFingerprint, signHead } from '../../src/ledger/head.ts';
import { append, EMPTY_TREE, rootOf } from '../../src/ledger/merkle.ts';
import { verifierKey } from '../../src/ledger/note.ts';
import { makeBundle } from '../../src/ledger/prove.ts';
import { Refusal } from '../../src/refusal.ts';
import { keyOf, ORIGIN, seedOf } from '../store/facts.ts';
import { sealed, type Times } from './judges.ts';

/** What every story rests on, beside all that is about the system: people, their credentials and roles, and delegations. */
const OF_ALL = /^(key|credential|role|delegation)\./;

export const isAboutIntent = ({ kind }: Event) =>
  /^(intent|approval|order|capability|break_glass|execution|violation|retry|rollback)\./.test(kind);

/** The intents that these events are about. */
export function intentsIn(events: readonly Event[]): string[] {
  return [...new Set(events.filter(isAboutIntent).map(({ subject }) => subject))];
}

export const isInProof = ({ kind, subject }: Event, intent_id: string) =>
  subject === intent_id || subject === 'system' || OF_ALL.test(kind);

/** As `prove` chooses them: what replaced the intent is in its proof with its proposal, which may have come at any time before. */
export function inProof(events: readonly Event[], intent_id: string): (event: Event) => boolean {
  const replacements = events.flatMap(({ kind, subject, body }) =>
    kind === 'intent.replaced' && subject === intent_id ? [body.replacement] : [],
  );
  return (event) =>
    isInProof(event, intent_id) || (event.kind === 'intent.proposed' && replacements.includes(event.subject));
}

/** What the verifier of a proof of this intent says, made by one who has the ledger key: a reason code, or null. */
export async function proofOf(
  events: readonly Event[],
  intent_id: string,
  times?: Times,
): Promise<string | null> {
  const key = verifierKey(ORIGIN, keyOf('ledger'));
  const ledger = sealed(events, times);
  const tree = ledger.reduce((grown, { hash }) => append(grown, hash), EMPTY_TREE);
  const head = signHead({ origin: ORIGIN, size: tree.size, root: rootOf(tree) }, seedOf('ledger'));
  const isWanted = inProof(events, intent_id);
  const entries = ledger.filter((_, i) => isWanted(events[i]!));
  const batches = async function* (): AsyncGenerator<readonly SealedEntry[]> {
    yield ledger;
  };
  const request = { subject: intent_id, key, head, entries, seed: seedOf('ledger'), ledger: batches() };
  try {
    auditProof(await makeBundle(request), { key: keyFingerprint(keyOf('ledger')) });
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.code;
  }
}
