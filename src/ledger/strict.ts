import { canonicalBytes, type JsonObject, parseJson } from '../canonical/json.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';

/** Runs a step of reading a file; whatever it refuses means that the file is not what it claims to be. */
export function refuseAs<T>(code: ReasonCode, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal) refuse(code, error.message, { reason_code: error.code });
    throw error;
  }
}

/** Reads an object with exactly these fields from its canonical bytes. Other bytes that mean the same are refused. */
export function readCanonical(
  bytes: Uint8Array,
  fields: readonly string[],
  code: ReasonCode,
  max_bytes?: number,
): JsonObject {
  const value = refuseAs(code, () => parseJson(bytes, max_bytes));
  if (!isObjectOf(value, fields)) refuse(code, `Expected the fields ${fields.join(', ')}.`);
  if (!canonicalForm(value, bytes)) refuse(code, 'The JSON is not in its canonical form.');
  return value;
}

function canonicalForm(value: unknown, bytes: Uint8Array): boolean {
  return Buffer.compare(canonicalBytes(value), bytes) === 0;
}

export function isObjectOf(value: unknown, fields: readonly string[]): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}
