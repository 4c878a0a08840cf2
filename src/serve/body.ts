import { type JsonObject, parseJson } from '../canonical/json.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';

const JSON_TYPE = /^application\/json(\s*;\s*charset=("utf-8"|utf-8))?$/i;

/** The JSON object that a request has as its body. Read by our own parser, before any schema looks at it. */
export async function bodyOf(request: Request, most_bytes: number = limits.json_bytes): Promise<JsonObject> {
  const { headers } = request;
  if (!JSON_TYPE.test(headers.get('content-type') ?? '') || headers.has('content-encoding'))
    refuse('MEDIA_TYPE_WRONG');
  const said = Number(headers.get('content-length') ?? 0);
  if (said > most_bytes) refuse('INPUT_TOO_LARGE', `The body has ${said} bytes.`);
  const value = parseJson(await bodyBytes(request, most_bytes));
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    refuse('SHAPE_INVALID', 'The body is not a JSON object.');
  return value as JsonObject;
}

const read = new WeakMap<Request, Promise<Uint8Array>>();

/** Read once: what is signed and what is parsed are the same bytes. */
export function bodyBytes(request: Request, most_bytes: number = limits.json_bytes): Promise<Uint8Array> {
  const bytes = read.get(request) ?? readBytes(request, most_bytes);
  read.set(request, bytes);
  return bytes;
}

/** As much as may come. Where a request says its length, node:http takes no more than that. */
async function readBytes(request: Request, most_bytes: number): Promise<Uint8Array> {
  const said = request.headers.get('content-length');
  if (said !== null && Number(said) <= most_bytes) return new Uint8Array(await request.arrayBuffer());
  return readStream(request, most_bytes);
}

/** A stream costs ten times what a buffer does, and can be stopped. */
async function readStream({ body }: Request, most_bytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > most_bytes) refuse('INPUT_TOO_LARGE', 'The body is longer than it may be.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
