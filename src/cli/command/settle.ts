import type { Answer, Call } from '../answer.ts';
import { unlock, whoActs } from '../human.ts';
import { requireId } from '../operand.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { atTerminal } from '../terminal.ts';

export function retry(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { body } = await atTerminal(async (terminal) =>
      keyturn.retry({ intent_id, reason, signer: await unlock(keyturn, terminal, name) }),
    );
    const { attempt, hash, by } = body;
    const result: Result<'retry'> = { intent_id, hash, attempt, by, reason };
    const line = `[OK] ${by} authorised attempt ${attempt} of ${intent_id}`;
    return { result, lines: [line, `Next: keyturn run ${intent_id} ${hash}`] };
  });
}

export function resolve(call: Call): Promise<Answer> {
  const execution_id = requireId(call);
  const reason = call.options.reason!;
  const outcome = call.options.outcome === 'happened' ? 'happened' : 'did_not_happen';
  const host_is_dead = call.options.hostIsDead ?? false;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { subject, body } = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, name);
      return keyturn.resolve({ execution_id, outcome, reason, signer, host_is_dead });
    });
    const result: Result<'resolve'> = { execution_id, intent_id: subject, outcome, by: body.by, reason };
    const word = outcome === 'happened' ? 'happened' : 'did not happen';
    return { result, lines: [`[OK] ${body.by} settled ${execution_id}: it ${word}`] };
  });
}
