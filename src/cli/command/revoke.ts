import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { writing } from '../project.ts';

/** Takes a capability back. A run that uses it is stopped. */
export function revoke(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const capability_id = await meantBy(keyturn, 'capability', typed);
    const { intent_id } =
      (await keyturn.runs.capability({ capability_id })).capability ?? refuse('CAPABILITY_UNKNOWN');
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.runs.revokeCapability({ capability_id, reason, signer }),
      () => [`Revoke: ${capability_id}, granted for the intent ${intent_id}`],
    );
    return { result, lines: [`[OK] ${result.by} revoked ${capability_id}. A run that uses it is stopped`] };
  });
}
