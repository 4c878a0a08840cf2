import type { Keyturn, Story } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { requireId } from '../operand.ts';
import { reading } from '../project.ts';
import { type Printed, storyLines, storyResult } from '../story.ts';

export function show(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  return reading(call, async (keyturn) => {
    const story = await keyturn.tell(intent_id);
    const printed = call.options.output ? await lastPrinted(keyturn, story) : null;
    const asked = typeof story.asked === 'string' ? null : await keyturn.review(intent_id);
    const { shown = null, alternates = [] } = asked ?? {};
    const view = { now: new Date(), shown, alternates, printed };
    return { result: storyResult(story, view), lines: storyLines(story, view) };
  });
}

async function lastPrinted({ output }: Keyturn, { outputs }: Story): Promise<Printed | null> {
  const last = outputs.at(-1);
  return last ? { stdout: await output(last.stdout), stderr: await output(last.stderr) } : null;
}
