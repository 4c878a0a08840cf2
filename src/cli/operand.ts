import { isDigest, isDigestBeginning } from '../canonical/digest.ts';
import { isIdBeginning, isUuid } from '../canonical/uuid.ts';
import type { Request } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Call } from './answer.ts';
import type { Opened } from './project.ts';
import { other } from './remote-other.ts';

/** The first operand, as an id or its beginning. Checked before anything is opened: malformed input leaves no trace. */
export function requireId({ operands: [id = ''] }: Call): string {
  return requireTyped(id);
}

export function requireTyped(id: string): string {
  if (!isIdBeginning(id))
    refuse(
      'ID_MALFORMED',
      'An id is a lower-case UUID of 36 characters. At least its first 4 have to be typed.',
    );
  return id;
}

/** The whole id that was meant by what was typed. */
export async function meantBy(
  keyturn: Opened,
  of: Request<'ids.find'>['of'],
  typed: string,
): Promise<string> {
  if (isUuid(typed) || isDigest(typed)) return typed;
  const { id } = await keyturn.ids.find({ of, id: typed });
  // A service elsewhere could name what was never meant.
  return id.startsWith(typed) ? id : other('which id was meant');
}

/** A public key, or its first characters. The keys of one kind begin alike: what follows that tells them apart. */
export function isKeyBeginning(public_key: string, typed: string): boolean {
  return typed.length >= 4 && public_key.startsWith(typed);
}

/** The first operand, as the digest of an object or its beginning. */
export function requireDigest({ operands: [digest = ''] }: Call): string {
  if (!isDigestBeginning(digest))
    refuse(
      'HASH_MALFORMED',
      'A digest is lower-case hexadecimal: all 64 characters, or at least the first 4.',
    );
  return digest;
}
