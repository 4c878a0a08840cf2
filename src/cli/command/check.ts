import { type Answer, type Call, denied } from '../answer.ts';
import { askController } from '../controller.ts';
import { folderOf } from '../project.ts';
import type { Result } from '../schema.ts';

/** The controller of 000: one line, exit 0 or 1. */
export async function check(call: Call): Promise<Answer> {
  const [intent_id = '', hash = ''] = call.operands;
  const { line, refusal } = await askController(folderOf(call), intent_id, hash);
  if (refusal) return denied(refusal, [line]);
  const result: Result<'check'> = { intent_id, hash, eligible: true };
  return { result, lines: [line] };
}
