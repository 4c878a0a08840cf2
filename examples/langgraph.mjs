/** A tool of tools.yaml as one for LangGraph: a call waits for its human. A thread that goes on has the same intent. */
import { hash } from 'node:crypto';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';

export function gated(keyturn, name, description, schema) {
  const call = async (given, { signal, toolCall, configurable }) => {
    const effect = { kind: 'tool', tool: name, arguments: given };
    const idempotency_key = hash('sha256', JSON.stringify([configurable.thread_id, toolCall.id]));
    const asked = { issuer: 'bot', declared_goal: description, effect, idempotency_key };
    const { intent_id, receipt } = await keyturn.intents.propose(asked);
    try {
      const { status_word, reason, run } = await keyturn.intents.waitFor({ intent_id, signal });
      return [status_word, reason, run?.output.stdout, run?.output.stderr].filter(Boolean).join('\n');
    } catch (error) {
      await keyturn.intents.withdraw({ intent_id, receipt, reason: 'The graph was stopped.' });
      throw error;
    }
  };
  return tool(call, { name, description, schema });
}

export const graphOf = (tools) =>
  new StateGraph(MessagesAnnotation).addNode('tools', new ToolNode(tools)).addEdge(START, 'tools').compile();
