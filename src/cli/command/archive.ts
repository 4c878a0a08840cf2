import { visible } from '../../canonical/visible.ts';
import { parseDuration } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writingHere } from '../project.ts';

/** The oldest entries go to a file of their own, which a human signs for. */
export function archive(call: Call): Promise<Answer> {
  const { out, reason, olderThan } = call.options;
  const older_than_s = parseDuration(olderThan!);
  return writingHere(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, name, (signer) =>
      keyturn.ledger.archive({ older_than_s, out: out!, reason: reason!, signer }),
    );
    const { from, to, sha256, bytes, key, by } = result;
    const lines = [
      `[OK] ${by} archived entries ${from} to ${to - 1} in ${visible(out!)}: ${bytes} bytes, sha256 ${sha256}`,
      'The entries stay in the store. `keyturn gc` removes old objects from it; the archive keeps them.',
      `It verifies offline: keyturn ledger verify --file ${visible(out!)} --key ${key}`,
    ];
    return { result, lines };
  });
}
