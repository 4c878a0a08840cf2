import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import type { Conditions } from './conditions.ts';
import type { ResourceScope } from './scope.ts';

/** What an order lets a capability reach, and under which conditions. */
export interface Bounds {
  readonly scope: ResourceScope;
  readonly tool_category: string | null;
  readonly conditions: Conditions;
}

/** What of it was asked for. */
export interface BoundsAsked {
  readonly scope?: ResourceScope | undefined;
  readonly tool_category?: string | undefined;
  readonly conditions?: Conditions | undefined;
}

const FORMAT = 'keyturn-bounds/1';

/** The object that an order names of its bounds. The id makes it one of its own, which says nothing about another order. */
export function boundsBytes(order_id: string, { scope, tool_category, conditions }: Bounds): Uint8Array {
  return canonicalBytesOfParsed({ format: FORMAT, order_id, scope, tool_category, conditions });
}

/** What an order names of its bounds: nothing where it is for just what the effect needs, under no condition. */
export function sealBounds(
  { scope, tool_category, conditions = {} }: BoundsAsked,
  bounds: Bounds,
  order_id: string,
): { readonly digest: Digest; readonly bytes: Uint8Array } | null {
  if (scope === undefined && tool_category === undefined && Object.keys(conditions).length === 0) return null;
  const bytes = boundsBytes(order_id, bounds);
  return { digest: sha256(bytes), bytes };
}
