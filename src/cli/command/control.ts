import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writingHere } from '../project.ts';

/** A new key signs capabilities from now on. */
export function rotate(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  return writingHere(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, name, (signer) =>
      keyturn.system.rotateControlKey({ reason, signer }),
    );
    const { public_key, by } = result;
    return {
      result,
      lines: [
        `[OK] ${by} rotated the control key. What the older ones signed still verifies`,
        `Control key: ${public_key}`,
      ],
    };
  });
}
