import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { nextAt, writing } from '../project.ts';

export function retry(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  const { alternate } = call.options;
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, call.options.as);
    const asked = { intent_id, reason, ...(alternate === undefined ? {} : { alternate }) };
    const result = await actAs(keyturn, name, (signer) => keyturn.runs.retry({ ...asked, signer }));
    const { attempt, tool, by } = result;
    const line = `[OK] ${by} authorised attempt ${attempt} of ${intent_id}`;
    const turned = alternate === undefined ? '' : `, with ${tool}`;
    return { result, lines: [`${line}${turned}`, `Next: ${nextAt(keyturn, `keyturn grant ${intent_id}`)}`] };
  });
}

export function resolve(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  const outcome = call.options.outcome === 'happened' ? 'happened' : 'did_not_happen';
  const host_is_dead = call.options.hostIsDead ?? false;
  return writing(call, async (keyturn) => {
    const execution_id = await meantBy(keyturn, 'execution', typed);
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(keyturn, name, (signer) =>
      keyturn.runs.resolve({ execution_id, outcome, reason, signer, host_is_dead }),
    );
    const word = outcome === 'happened' ? 'happened' : 'did not happen';
    return { result, lines: [`[OK] ${result.by} settled ${execution_id}: it ${word}`] };
  });
}
