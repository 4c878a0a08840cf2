import { isUuid } from '../../canonical/uuid.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';

/** Takes a capability back. A run that uses it is stopped. */
export function revoke(call: Call): Promise<Answer> {
  const [capability_id = ''] = call.operands;
  if (!isUuid(capability_id)) refuse('ID_MALFORMED');
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { intent_id } = (await keyturn.capability(capability_id)) ?? refuse('CAPABILITY_UNKNOWN');
    const { body } = await actAs(
      keyturn,
      name,
      (signer) => keyturn.revokeCapability({ capability_id, reason, signer }),
      () => [`Revoke: ${capability_id}, granted for the intent ${intent_id}`],
    );
    const result: Result<'revoke'> = { capability_id, intent_id, by: body.by, reason };
    return { result, lines: [`[OK] ${body.by} revoked ${capability_id}. A run that uses it is stopped`] };
  });
}
