import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';

/** A new key signs capabilities from now on. */
export function rotate(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { body } = await actAs(keyturn, name, (signer) => keyturn.rotateControlKey({ reason, signer }));
    const keys = (await keyturn.system()).control_keys.length;
    const { public_key, by } = body;
    const result: Result<'control rotate'> = { public_key, keys, by, reason };
    return {
      result,
      lines: [
        `[OK] ${by} rotated the control key. What the older ones signed still verifies`,
        `Control key: ${public_key}`,
      ],
    };
  });
}
