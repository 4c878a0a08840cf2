import * as z from 'zod';
import { once } from '../canonical/once.ts';
import type { Ordered } from '../journey/grant.ts';
import { askedHash, askedId, digest, id, name, publicKey, time } from './parts.ts';

/** What a human orders: one run of one attempt, within bounds. */

const paths = z.array(z.string()).readonly();
/** What a run may reach. Absolute paths are of the machine (tools), the others of the project (plans). */
export const capabilityScope = z
  .strictObject({
    unconfined: z.boolean(),
    network: z.boolean(),
    read: paths,
    write: paths,
    pipelines: paths,
  })
  .readonly()
  .meta({ id: 'scope' });

/** What must hold when it runs. What is not named is not asked. */
export const conditions = z
  .strictObject({
    not_before: time.optional(),
    environment: z.string().optional(),
    host: z.string().optional(),
    hours: z.strictObject({ from: z.int(), to: z.int() }).readonly().optional(),
    /** What each file must be: its SHA-256, or `null` where there must be none. */
    files: z.record(z.string(), digest.nullable()).readonly().optional(),
  })
  .readonly()
  .meta({ id: 'conditions' });

const asked = {
  intent_id: askedId,
  hash: askedHash,
  /** May be left out where the intent requests only one. */
  action: z.string().optional(),
  /** Without it exactly what the effect needs. */
  scope: capabilityScope.optional(),
  tool_category: z.string().optional(),
  conditions: conditions.optional(),
  ttl_s: z.number().optional(),
  audience: z.string().optional(),
};
/** What its human was shown. Another attempt, or an alternate in its place, is refused. */
const shown = z.strictObject({ attempt: z.int(), effect_digest: digest }).readonly().optional();
const issuing = {
  /** The key of who must present it. Then it is issued at once. */
  holder: publicKey.optional(),
  /** Issued at once, to be taken elsewhere. Otherwise it is issued when the run is claimed. */
  is_issued: z.boolean().optional(),
};

export const orderAsked = once(() => z.strictObject({ ...asked, shown }));
export const grantAsked = once(() =>
  z.strictObject({
    ...asked,
    ...issuing,
    shown,
    /** Where a delegate signs, in the place of a human. */
    delegation: id.optional(),
  }),
);
export const offerAsked = once(() => z.strictObject({ ...asked, ...issuing, by: name }));

export const order = once(() =>
  z
    .strictObject({
      intent_id: id,
      hash: digest,
      capability_id: id,
      attempt: z.int(),
      action: z.string(),
      scope: capabilityScope,
      tool_category: z.string().nullable(),
      conditions,
      audience: z.string(),
      holder: publicKey.nullable(),
      by: name,
      delegation: id.nullable(),
      /** Until when the run may be claimed. */
      lapses_at: time,
      expires_at: time,
      /** For `runs.run`: who signed the order saw what it is for. */
      seen: digest,
    })
    .meta({ id: 'order' }),
);

export function orderOf({ ordered, terms, seen }: Ordered): z.output<ReturnType<typeof order>> {
  const { subject: intent_id, body } = ordered;
  const { hash, order_id: capability_id, attempt, action, audience, holder } = body;
  const { by, delegation, lapses_at, expires_at } = body;
  const { scope, tool_category, conditions } = terms;
  return {
    intent_id,
    hash,
    capability_id,
    attempt,
    action,
    scope,
    tool_category,
    conditions,
    audience,
    holder,
    by,
    delegation,
    lapses_at,
    expires_at,
    seen,
  };
}
