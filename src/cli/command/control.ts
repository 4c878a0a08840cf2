import { visible } from '../../canonical/visible.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { isKeyBeginning } from '../operand.ts';
import { type Opened, reading, writing, writingHere } from '../project.ts';
import { table } from '../table.ts';

/** A new key of this host issues capabilities from now on. */
export function rotate(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  return writingHere(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, name, (signer) =>
      keyturn.system.rotateControlKey({ reason, signer }),
    );
    const { public_key, by, replaces } = result;
    const done =
      replaces === null
        ? `[OK] ${by} gave this host a control key`
        : `[OK] ${by} rotated the control key of this host. What the older one issued still holds`;
    return { result, lines: [done, `Control key: ${public_key}`] };
  });
}

export function list(call: Call): Promise<Answer> {
  return reading(call, async (keyturn) => {
    const result = await keyturn.system.get();
    const rows = result.control_keys.map((one) => [
      one.is_this_host ? 'this one' : '',
      one.revoked_at !== null ? 'revoked' : one.replaced_at !== null ? 'replaced' : 'issues',
      one.added_at,
      one.added_by,
      one.public_key,
    ]);
    return { result, lines: table(['HOST', 'STATUS', 'ADDED', 'BY', 'PUBLIC KEY'], rows) };
  });
}

/** It issues nothing any more. */
export function revoke(call: Call): Promise<Answer> {
  const [which = ''] = call.operands;
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const by = await whoActs(keyturn, call.options.as);
    const public_key = await controlKeyOf(keyturn, which);
    const result = await actAs(
      keyturn,
      by,
      (signer) => keyturn.system.revokeControlKey({ public_key, reason, signer }),
      () => [`Revoke: the control key ${public_key}; what it issued and was not claimed yet is not run`],
    );
    const lines = ['[OK] The control key is revoked'];
    const none = 'No control key issues now: `keyturn control rotate` on the host of a service makes one';
    return { result, lines: result.keys === 0 ? [...lines, none] : lines };
  });
}

async function controlKeyOf(keyturn: Opened, which: string): Promise<string> {
  const { control_keys } = await keyturn.system.get();
  const keys = control_keys.map(({ public_key }) => public_key);
  const [only, ...others] = keys.filter((one) => isKeyBeginning(one, which));
  if (!only) refuse('CONTROL_KEY_UNKNOWN', `No control key is "${visible(which.slice(0, 60))}".`);
  if (others.length > 0)
    refuse('ID_AMBIGUOUS', `Several keys begin like this: ${[only, ...others].join(', ')}.`);
  return only;
}
