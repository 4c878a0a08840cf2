import type { JsonObject } from '../canonical/json.ts';
import { memberText } from '../canonical/scan.ts';
import { limits } from '../limits.ts';
import { headerOf, paramHeaders } from '../network/message-headers.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { pinOf, type ToolDefinition } from './definition.ts';
import type { CallInput, McpEffect } from './effect.ts';
import type { Reply } from './reply.ts';
import type { Upstream } from './upstreams.ts';

/** Refuses where the server that runs defines the tool in another way than the effect says. */
export async function requireDefinition(
  upstream: Upstream,
  { tool, pin, server }: McpEffect,
  since_ms?: number,
): Promise<{ readonly changes: number }> {
  const changes = upstream.changes();
  const now = (await upstream.definitions(since_ms)).get(tool) as ToolDefinition | undefined;
  if (now === undefined)
    refuse('MCP_DEFINITION_CHANGED', `The server "${server}" no longer has the tool "${tool}".`);
  if (pinOf(now) !== pin) refuse('MCP_DEFINITION_CHANGED');
  return { changes };
}

/**
 * Whether the tool is still what the claim went by. A server that says meanwhile that its list changed may mean another tool, or nothing: it is
 * asked once more, and whatever else it says then counts as a change.
 */
export async function isStillDefined(
  upstream: Upstream,
  effect: McpEffect,
  changes: number,
  abort?: AbortSignal,
): Promise<boolean> {
  if (upstream.changes() === changes) return true;
  try {
    const again = await requireDefinition(upstream, effect);
    // The server chooses how long that took: a run that was stopped meanwhile sends nothing.
    return upstream.changes() === again.changes && !abort?.aborted;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

export interface CallEnd {
  readonly result: 'success' | 'failure' | 'partial';
  readonly reason_code: ReasonCode | null;
  /** The whole result as JSON, or the error. */
  readonly answer: Uint8Array;
}

export interface SendOptions {
  readonly abort?: AbortSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
}

/** Where the definition is no longer the same, nothing is sent. The run is claimed by then, so this is an outcome. */
export const NOT_SENT: CallEnd = {
  result: 'failure',
  reason_code: 'MCP_DEFINITION_CHANGED',
  answer: new Uint8Array(),
};

/** Sends the call, once. Whatever is no answer may have happened: that is `partial`, and blocks until a human looks. */
export async function sendCall(
  { connection }: Upstream,
  { tool, arguments: values, timeout_ms, input, definition }: McpEffect,
  { abort, onProgress }: SendOptions,
): Promise<CallEnd> {
  const params = { name: tool, arguments: values, ...answersIn(input) };
  const options = {
    timeout_ms,
    abort,
    onProgress,
    capabilities: input?.capabilities as JsonObject | undefined,
    headers: headersOf(definition, values),
  };
  return judged(await connection.ask('tools/call', params, options));
}

/** By the definition that was approved, and by the code that checks them where we are the server. */
function headersOf(definition: JsonObject, values: JsonObject): Record<string, string> {
  const given = paramHeaders(definition, values).flatMap(({ header, text }) =>
    typeof text === 'string' ? [[header.toLowerCase(), headerOf(text)]] : [],
  );
  return Object.fromEntries(given);
}

function answersIn({ responses = null, state = null }: Partial<CallInput> = {}): JsonObject {
  return {
    ...(responses !== null && { inputResponses: responses }),
    ...(state !== null && { requestState: state }),
  };
}

function judged(reply: Reply): CallEnd {
  if (reply.kind === 'lost') return ended('partial', reply.code);
  if (reply.kind === 'error') return ended('failure', 'MCP_CALL_REFUSED', ownBytes(reply.line, 'error'));
  const result = reply.result as JsonObject;
  const answer = ended('success', null, ownBytes(reply.line, 'result'));
  if (answer.answer.length > limits.output_bytes) return ended('partial', 'MCP_ANSWER_TOO_LARGE');
  // The server wants something of its caller first. What answers it is another call, which a human approves: this one did nothing.
  if (result.resultType === 'input_required')
    return { ...answer, result: 'failure', reason_code: 'MCP_CALL_REFUSED' };
  if (!isComplete(result)) return { ...answer, result: 'partial', reason_code: 'MCP_ANSWER_MALFORMED' };
  return result.isError === true ? { ...answer, result: 'failure', reason_code: 'MCP_TOOL_FAILED' } : answer;
}

/** Whether the server says that it is done. One that promises a task, or answers in a way that we do not know, may be at it still. */
function isComplete({ resultType = 'complete', task, content, structuredContent }: JsonObject): boolean {
  const is_promise = task !== undefined && content === undefined && structuredContent === undefined;
  return resultType === 'complete' && !is_promise;
}

/** As the server wrote it: a number with many digits is another one once it was parsed. */
function ownBytes(line: Buffer, member: 'result' | 'error'): Uint8Array {
  return Buffer.from(memberText(line.toString('utf8'), member) ?? '');
}

function ended(
  result: CallEnd['result'],
  reason_code: ReasonCode | null,
  answer: Uint8Array = new Uint8Array(),
): CallEnd {
  return { result, reason_code, answer };
}
