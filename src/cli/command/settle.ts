import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { unlock, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { type Opened, writing } from '../project.ts';
import { atTerminal } from '../terminal.ts';

export function retry(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  const { alternate } = call.options;
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, call.options.as);
    if (alternate !== undefined) await requireNamed(keyturn, intent_id, alternate);
    const result = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, name);
      return keyturn.runs.retry({
        intent_id,
        reason,
        signer,
        ...(alternate === undefined ? {} : { alternate }),
      });
    });
    const { attempt, tool, by } = result;
    const line = `[OK] ${by} authorised attempt ${attempt} of ${intent_id}`;
    const turned = alternate === undefined ? '' : `, with ${tool}`;
    return { result, lines: [`${line}${turned}`, `Next: keyturn grant ${intent_id}`] };
  });
}

/** Before a passphrase is typed: a fallback is only one that a human approved with the rest. */
async function requireNamed(keyturn: Opened, intent_id: string, alternate: string): Promise<void> {
  const { choices } = await keyturn.intents.get({ intent_id });
  if (!choices.some(({ tool }) => tool === alternate)) refuse('ALTERNATE_NOT_NAMED');
}

export function resolve(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  const outcome = call.options.outcome === 'happened' ? 'happened' : 'did_not_happen';
  const host_is_dead = call.options.hostIsDead ?? false;
  return writing(call, async (keyturn) => {
    const execution_id = await meantBy(keyturn, 'execution', typed);
    const name = await whoActs(keyturn, call.options.as);
    const result = await atTerminal(async (terminal) => {
      const signer = await unlock(keyturn, terminal, name);
      return keyturn.runs.resolve({ execution_id, outcome, reason, signer, host_is_dead });
    });
    const word = outcome === 'happened' ? 'happened' : 'did not happen';
    return { result, lines: [`[OK] ${result.by} settled ${execution_id}: it ${word}`] };
  });
}
