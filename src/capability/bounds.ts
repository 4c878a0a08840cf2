import { canonicalBytesOfParsed } from '../canonical/json.ts';
import type { CapabilityClaims } from './token.ts';

/** What an order lets a capability reach, and under which conditions. */
export type Bounds = Pick<CapabilityClaims, 'scope' | 'tool_category' | 'conditions'>;

const FORMAT = 'keyturn-bounds/1';

/** The object that an order names of its bounds. The id makes it one of its own, which says nothing about another order. */
export function boundsBytes(order_id: string, { scope, tool_category, conditions }: Bounds): Uint8Array {
  return canonicalBytesOfParsed({ format: FORMAT, order_id, scope, tool_category, conditions });
}
