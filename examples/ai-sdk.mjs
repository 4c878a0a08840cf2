/** Any tool of tools.yaml as a tool for the AI SDK of Vercel: a call waits until a human has turned the key. */
import { hash } from 'node:crypto';
import { tool } from 'ai';

export function gated(keyturn, thread, name, description, inputSchema) {
  const execute = async (given, { toolCallId, abortSignal }) => {
    const effect = { kind: 'tool', tool: name, arguments: given };
    // Some providers have short ids, and an id is only one within its thread.
    const idempotency_key = hash('sha256', JSON.stringify([thread, toolCallId]));
    const asked = { issuer: 'bot', declared_goal: description, effect, idempotency_key };
    const { intent_id, receipt } = await keyturn.intents.propose(asked);
    try {
      const { status_word, reason, run } = await keyturn.intents.waitFor({ intent_id, signal: abortSignal });
      return [status_word, reason, run?.output.stdout, run?.output.stderr].filter(Boolean).join('\n');
    } catch (error) {
      await keyturn.intents.withdraw({ intent_id, receipt, reason: 'The program was stopped.' });
      throw error;
    }
  };
  return tool({ description, inputSchema, execute });
}
