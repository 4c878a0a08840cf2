import type { Answer, Call } from '../answer.ts';
import { meantBy, requireId } from '../operand.ts';
import { reading } from '../project.ts';
import { storyLines } from '../story.ts';

export function show(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const with_output = call.options.output === true;
  return reading(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const result = await keyturn.intents.story({ intent_id, with_output });
    return { result, lines: storyLines(result, new Date()), is_long: true };
  });
}
