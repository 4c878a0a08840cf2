import type { JsonObject } from '../canonical/json.ts';
import { ERRORS, type Message, wrong } from '../mcp/message.ts';
import { namedBy, paramHeaders, textOfHeader } from '../network/message-headers.ts';

/**
 * What a header says is what the message says: something on the way may have looked only at the header. The stateless protocol asks for the
 * headers; a client with a handshake may leave them out.
 */
export function requireHeaders({ method, params, is_modern, id }: Message, headers: Headers): void {
  const is_needed = is_modern && id !== null;
  requireSame('Mcp-Method', headers, method, is_needed);
  requireSame('Mcp-Name', headers, namedBy(method, params), is_needed);
}

function requireSame(header: string, headers: Headers, meant: string | null, is_needed: boolean): void {
  const said = headers.get(header);
  if (said === null && (!is_needed || meant === null)) return;
  if (meant !== null && said !== null && textOfHeader(said) === meant) return;
  // A name where the message has none is ignored: older clients send it.
  if (meant === null && !is_needed) return;
  wrong(ERRORS.header, `The header ${header} does not fit the message.`);
}

/** Arguments that the definition of a tool wants in headers, too: each is there with the same value, or in neither place. */
export function requireParamHeaders(definition: JsonObject, values: JsonObject, headers: Headers): void {
  for (const { header, text } of paramHeaders(definition, values)) {
    const said = headers.get(header);
    if ((said === null ? null : textOfHeader(said)) !== text)
      wrong(ERRORS.header, `The header ${header} does not fit the message.`);
  }
}
