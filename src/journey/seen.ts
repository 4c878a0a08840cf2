import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import type { Body } from '../event/event.ts';

type Shown = Pick<Body<'order.given'>, 'order_id' | 'attempt' | 'hash' | 'effect_digest' | 'bounds'>;

/**
 * The digest of what was shown before a run: one attempt at one effect, within the bounds of one order, or of the narrower
 * capability that was presented for it. A run names what its human saw, and is refused where it would do something else.
 */
export function seenOf(
  { order_id, attempt, hash, effect_digest, bounds }: Shown,
  presented: Digest | null = null,
): Digest {
  const shown = { order_id, attempt, hash, effect_digest, bounds, presented };
  return sha256(canonicalBytesOfParsed({ format: 'keyturn-seen/1', ...shown }));
}
