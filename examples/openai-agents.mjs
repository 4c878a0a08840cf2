/** Any tool of tools.yaml as a tool for the OpenAI Agents SDK: a call waits until a human has turned the key. */
import { hash } from 'node:crypto';
import { tool } from '@openai/agents';

export function gated(keyturn, thread, name, description, parameters) {
  const execute = async (given, _context, { toolCall, signal }) => {
    const effect = { kind: 'tool', tool: name, arguments: given };
    // Some providers have short ids, and an id is only one within its thread.
    const idempotency_key = hash('sha256', JSON.stringify([thread, toolCall.callId]));
    const asked = { issuer: 'bot', declared_goal: description, effect, idempotency_key };
    const { intent_id, receipt } = await keyturn.intents.propose(asked);
    try {
      const { status_word, reason, run } = await keyturn.intents.waitFor({ intent_id, signal });
      return [status_word, reason, run?.output.stdout, run?.output.stderr].filter(Boolean).join('\n');
    } catch (error) {
      await keyturn.intents.withdraw({ intent_id, receipt, reason: 'The agent was stopped.' });
      throw error;
    }
  };
  return tool({ name, description, parameters, execute });
}
