import { visible } from '../../canonical/visible.ts';
import type { Answer, Call } from '../answer.ts';
import { meantBy, requireId } from '../operand.ts';
import { reading } from '../project.ts';

/** Makes every decision on the way to an execution again. One that differs fails the replay. */
export function replay(call: Call): Promise<Answer> {
  const typed = requireId(call);
  return reading(call, async (keyturn) => {
    const execution_id = await meantBy(keyturn, 'execution', typed);
    const result = await keyturn.runs.replay({ execution_id });
    const { steps } = result;
    const lines = steps.map(({ seq, what, outcome }) => visible(`${seq}  ${what}: ${outcome}`));
    return { result, lines: [...lines, `[OK] Replayed ${steps.length} decisions: all the same`] };
  });
}
