import { isDigest } from '../../canonical/digest.ts';
import { isUuid } from '../../canonical/uuid.ts';
import { ELIGIBLE_LINE } from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { controllerLineOf } from '../adapter.ts';
import { type Answer, type Call, denied } from '../answer.ts';
import { reading } from '../project.ts';
import { refusalFrom } from '../tell.ts';

/** The controller of 000: one line, exit 0 or 1. Whatever goes wrong is a no. */
export async function check(call: Call): Promise<Answer> {
  try {
    const [intent_id = '', hash = ''] = call.operands;
    if (!isUuid(intent_id)) refuse('ID_MALFORMED');
    if (!isDigest(hash)) refuse('HASH_MALFORMED');
    return await reading(call, async ({ intents }) => {
      const result = await intents.check({ intent_id, hash });
      if (result.eligible) return { result, lines: [ELIGIBLE_LINE] };
      const { code, words, executed_at } = result;
      const refusal = new Refusal(code, words, executed_at === null ? {} : { executed_at });
      return denied(refusal, [controllerLineOf(refusal)], result);
    });
  } catch (error) {
    const refusal = refusalFrom(error);
    return denied(refusal, [controllerLineOf(refusal)]);
  }
}
