import { visible } from '../../canonical/visible.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { painter } from '../paint.ts';
import { writing } from '../project.ts';

/** A wrong clock wrote to the ledger, or the clock was set: a human says that it is right now. */
export function accept(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const { words } = (await keyturn.system.status()).clock ?? refuse('CLOCK_FITS');
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.system.acceptClock({ reason, signer }),
      () => [
        painter(true)('alarm', visible(words)),
        ...(keyturn.service === undefined ? QUESTION : ELSEWHERE),
      ],
    );
    const { now, by } = result;
    return { result, lines: [`[OK] ${by} accepted the clock: it is ${now}. ${LATER}`] };
  });
}

const QUESTION = [
  'Look at another clock. If this one is wrong, set it and accept nothing.',
  'If it is right, the passphrase signs that it is this time now.',
];
/** The clock of this machine is another one: what is signed is refused where it differs by more than a minute. */
const ELSEWHERE = [
  'It is the clock of the service. The passphrase signs that it is right, if it agrees with the clock of this machine.',
];
const LATER = 'What was made at a later time stays refused; make it again';
