/** Any tool of tools.yaml as a tool for the OpenAI Agents SDK: a call waits until a human has turned the key. */
import { tool } from '@openai/agents';

export function gated(keyturn, name, description, parameters) {
  const execute = async (given, _context, { toolCall, signal }) => {
    const effect = { kind: 'tool', tool: name, arguments: given };
    const asked = { issuer: 'bot', declared_goal: description, effect, idempotency_key: toolCall.callId };
    const { intent_id, receipt } = await keyturn.intents.propose(asked);
    try {
      const { status_word, reason, run } = await keyturn.intents.waitFor({ intent_id, signal });
      return run?.output.stdout || `Not run: ${reason ?? status_word}`;
    } catch (error) {
      await keyturn.intents.withdraw({ intent_id, receipt, reason: 'The agent was stopped.' });
      throw error;
    }
  };
  return tool({ name, description, parameters, execute });
}
