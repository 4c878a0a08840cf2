import { visible } from '../../canonical/visible.ts';
import type { Answer, Call } from '../answer.ts';
import { requireId } from '../operand.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';

/** Makes every decision on the way to an execution again. One that differs fails the replay. */
export function replay(call: Call): Promise<Answer> {
  const execution_id = requireId(call);
  return reading(call, async (keyturn) => {
    const { intent_id, steps } = await keyturn.replay(execution_id);
    const result: Result<'replay'> = { execution_id, intent_id, steps: [...steps] };
    const lines = steps.map(({ seq, what, outcome }) => visible(`${seq}  ${what}: ${outcome}`));
    return { result, lines: [...lines, `[OK] Replayed ${steps.length} decisions: all the same`] };
  });
}
