import { isAbsent, type Keyturn, type Story } from '../../keyturn.ts';
import type { Answer, Call } from '../answer.ts';
import { requireId } from '../operand.ts';
import { reading } from '../project.ts';
import { type Printed, storyLines, storyResult, type View } from '../story.ts';

export function show(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  return reading(call, async (keyturn) => {
    const story = await keyturn.tell(intent_id);
    const printed = call.options.output ? await lastPrinted(keyturn, story) : null;
    const asked = isAbsent(story.asked) ? null : await keyturn.review(intent_id);
    const { shown = null, alternates = [] } = asked ?? {};
    const reports_missing = await missingReports(keyturn, story);
    const view = { now: new Date(), shown, alternates, printed, reports_missing };
    return { result: storyResult(story, view), lines: storyLines(story, view), is_long: true };
  });
}

/** A run is recorded before its reports are written: where it was killed in between, they are not there. */
async function missingReports(keyturn: Keyturn, { intent }: Story): Promise<View['reports_missing']> {
  const missing: { execution_id: string; names: string[] }[] = [];
  for (const { execution_id, reports, result } of intent.runs) {
    const names = reports === null || result === null ? [] : await keyturn.missingReports(reports);
    if (names.length > 0) missing.push({ execution_id, names });
  }
  return missing;
}

async function lastPrinted({ output }: Keyturn, { outputs }: Story): Promise<Printed | null> {
  const last = outputs.at(-1);
  return last ? { stdout: await output(last.stdout), stderr: await output(last.stderr) } : null;
}
