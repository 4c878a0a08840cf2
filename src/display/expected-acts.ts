import type { Json } from '../canonical/json.ts';
import { type ActKnown, expectedAct } from './expected.ts';
import { activatedActs, registeredActs, withdrawnActs } from './expected-simulation.ts';
import type { ExpectedAct, ExpectedOfProposer } from './signed.ts';

type Expected = ExpectedAct | ExpectedOfProposer;

/** Everything that one call of a verb has signed, in its order, where it is `acts` statements; null where that cannot be told without the service. */
export function expectedActs(verb: string, known: ActKnown): readonly Expected[] | null {
  if (Object.hasOwn(SEVERAL, verb)) return SEVERAL[verb]!(known);
  const act = expectedAct(verb, known);
  return act && [act];
}

/** Which hash a proposal has, only the service knows: it allows nothing. */
const PROPOSED: ExpectedOfProposer = { format: 'keyturn-proposal/1', fixed: {}, free: ['hash'] };

/** What a proposer signs, and what is signed more than once. */
const SEVERAL: Readonly<Record<string, (known: ActKnown) => readonly Expected[] | null>> = {
  'intents.propose': () => [PROPOSED],
  'intents.undo': () => [PROPOSED],
  'intents.withdraw': ({ intent_id, reason }) => [
    { format: 'keyturn-withdrawal/1', fixed: { intent_id: intent_id!, reason: reason! }, free: ['hash'] },
  ],
  // What ends is what was shown, and what stands in its place is what the same hand proposes.
  'intents.edit': ({ intent_id, hash }) =>
    hash === undefined
      ? null
      : [
          PROPOSED,
          {
            kind: 'intent.replaced',
            subject: String(intent_id),
            fixed: { hash },
            free: ['replacement'],
            follows: (_, before) => ({ replacement_hash: before.hash! }),
          },
        ],
  'ledger.erase': ({ objects, reason }) =>
    objects === undefined
      ? null
      : (objects as { digest: string; needed_by: Json }[]).map(({ digest, needed_by }) => ({
          kind: 'object.erased',
          subject: digest,
          fixed: { needed_by, reason: reason! },
          free: [],
        })),
  'simulations.register': registeredActs,
  'simulations.activate': activatedActs,
  'simulations.deprecate': (known) => withdrawnActs(known, 'Deprecated'),
  'simulations.disable': (known) => withdrawnActs(known, 'Disabled'),
};
