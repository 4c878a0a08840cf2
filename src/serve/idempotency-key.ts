import type { JsonObject } from '../canonical/json.ts';
import { refuse } from '../refusal.ts';
import type { Route } from './route.ts';

/** Of an act only what is signed counts, and a header is not: passed over, it would let the same be done twice. */
export function requireNoKeyBeside({ headers }: Request): void {
  if (headers.has('idempotency-key'))
    refuse('SHAPE_INVALID', 'An act takes no Idempotency-Key: its request has idempotency_key.');
}

/** The header is the member of the request that has the same meaning, for every verb that has it. */
export function withIdempotencyKey({ members }: Route, { headers }: Request, body: JsonObject): JsonObject {
  const key = headers.get('idempotency-key');
  if (key === null) return body;
  if (!Object.hasOwn(members(), 'idempotency_key'))
    refuse('SHAPE_INVALID', 'This request takes no Idempotency-Key.');
  if (Object.hasOwn(body, 'idempotency_key') && body.idempotency_key !== key)
    refuse('SHAPE_INVALID', 'The header Idempotency-Key and idempotency_key differ.');
  return { ...body, idempotency_key: key };
}
