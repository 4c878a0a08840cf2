import type { Json, JsonObject } from '../canonical/json.ts';
import { isDeeperThan, memberText } from '../canonical/scan.ts';
import { mcpLimits } from '../limits.ts';
import type { ReasonCode } from '../refusal.ts';

/** How one request to a server ended. Whatever is not an answer leaves it unknown what the server did. */
export type Reply =
  | { readonly kind: 'result'; readonly result: Json; readonly line: Buffer; readonly id: number }
  | { readonly kind: 'error'; readonly error: Json; readonly line: Buffer }
  | { readonly kind: 'lost'; readonly code: ReasonCode };

/**
 * A message of JSON-RPC; null where the line is none. Of an answer that is nested too deep only its id is taken: with neither a result nor an
 * error it is malformed. Any other message that deep is none.
 */
export function serverMessageIn(line: Buffer): Record<string, Json | undefined> | null {
  const text = line.toString('utf8');
  try {
    if (isDeeperThan(text, mcpLimits.message_depth)) return deepAnswerIn(text);
    const value: unknown = JSON.parse(text);
    const is_message = typeof value === 'object' && value !== null && !Array.isArray(value);
    return is_message && (value as { jsonrpc?: unknown }).jsonrpc === '2.0'
      ? (value as Record<string, Json | undefined>)
      : null;
  } catch {
    return null;
  }
}

function deepAnswerIn(text: string): Record<string, Json | undefined> | null {
  const id = memberText(text, 'id');
  return id === null || !/^[0-9]+$/.test(id) || memberText(text, 'method') !== null
    ? null
    : { jsonrpc: '2.0', id: Number(id) };
}

/** A result or an error, each an object. Whatever else names this request is no answer, and what the server did is not known. A member that is null says nothing. */
export function replyIn(
  { result, error }: Record<string, Json | undefined>,
  line: Buffer,
  id: number,
): Reply {
  const has_result = isObject(result) && (error ?? null) === null;
  const has_error = isObject(error) && (result ?? null) === null;
  if (has_result) return { kind: 'result', result, line, id };
  return has_error ? { kind: 'error', error, line } : { kind: 'lost', code: 'MCP_ANSWER_MALFORMED' };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value as Json | undefined) ? (value as JsonObject) : {};
}

export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
