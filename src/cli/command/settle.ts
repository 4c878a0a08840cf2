import type { Keyturn } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { unlock, whoActs } from '../human.ts';
import { requireId } from '../operand.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { atTerminal } from '../terminal.ts';

export function retry(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  const reason = call.options.reason!;
  const { alternate } = call.options;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    if (alternate !== undefined) await requireNamed(keyturn, intent_id, alternate);
    const { body } = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, name);
      return keyturn.retry({ intent_id, reason, signer, ...(alternate === undefined ? {} : { alternate }) });
    });
    const { attempt, hash, tool, by } = body;
    const result: Result<'retry'> = { intent_id, hash, attempt, tool, by, reason };
    const line = `[OK] ${by} authorised attempt ${attempt} of ${intent_id}`;
    const turned = alternate === undefined ? '' : `, with ${tool}`;
    return { result, lines: [`${line}${turned}`, `Next: keyturn grant ${intent_id}`] };
  });
}

/** Before a passphrase is typed: a fallback is only one that a human approved with the rest. */
async function requireNamed(keyturn: Keyturn, intent_id: string, alternate: string): Promise<void> {
  const { choices } = await keyturn.intent(intent_id);
  if (!choices.some(({ tool }) => tool === alternate)) refuse('ALTERNATE_NOT_NAMED');
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
