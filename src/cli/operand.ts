import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { refuse } from '../refusal.ts';
import type { Call } from './answer.ts';

/** The first operand, as an id. Checked before anything is opened: malformed input leaves no trace. */
export function requireId({ operands: [id = ''] }: Call): string {
  if (!isUuid(id)) refuse('ID_MALFORMED');
  return id;
}

export function requireDigest({ operands: [digest = ''] }: Call): string {
  if (!isDigest(digest)) refuse('HASH_MALFORMED', 'The digest is not 64 lower-case hexadecimal characters.');
  return digest;
}
