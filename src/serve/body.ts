import { type JsonObject, parseJson } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

const JSON_TYPE = /^application\/json(\s*;\s*charset=("utf-8"|utf-8))?$/i;

/** The JSON object that a request has as its body. Read by our own parser, before any schema looks at it. */
export async function bodyOf(request: Request): Promise<JsonObject> {
  const { headers } = request;
  if (!JSON_TYPE.test(headers.get('content-type') ?? '') || headers.has('content-encoding'))
    refuse('MEDIA_TYPE_WRONG');
  const said = Number(headers.get('content-length') ?? 0);
  if (said > limits.json_bytes) refuse('INPUT_TOO_LARGE', `The body has ${said} bytes.`);
  const value = parseJson(await bodyBytes(request));
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    refuse('SHAPE_INVALID', 'The body is not a JSON object.');
  return value as JsonObject;
}

/** As much as may come, whatever the header said. */
export async function bodyBytes({ body }: Request): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > limits.json_bytes) refuse('INPUT_TOO_LARGE', 'The body is longer than it may be.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
