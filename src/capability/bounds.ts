import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import type { Conditions } from './conditions.ts';
import type { ResourceScope } from './scope.ts';

/** What an order is bound to beside its effect. */
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

/** What an order names of its bounds: nothing where it is for just what the effect needs, under no condition. */
export function sealBounds(
  { scope: asked, tool_category: category, conditions: only_if = {} }: BoundsAsked,
  { scope, tool_category, conditions }: Bounds,
  order_id: string,
): { readonly digest: Digest; readonly bytes: Uint8Array } | null {
  if (asked === undefined && category === undefined && Object.keys(only_if).length === 0) return null;
  const format = 'keyturn-bounds/1';
  const bytes = canonicalBytesOfParsed({ format, order_id, scope, tool_category, conditions });
  return { digest: sha256(bytes), bytes };
}
