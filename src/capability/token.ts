import type { KeyObject } from 'node:crypto';
import * as z from 'zod';
import type { PublicKey } from '../canonical/ed25519.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import { guardPlain, type JsonObject } from '../canonical/json.ts';
import { isUuid } from '../canonical/uuid.ts';
import { describeIssue } from '../event/event.ts';
import { capabilityLimits, limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Conditions, conditionsSchema } from './conditions.ts';
import { malformed, signJws } from './jws.ts';
import { cnfOf, cnfSchema, holderOf } from './key.ts';
import { type ResourceScope, scopeSchema } from './scope.ts';

/** What a capability says. Times are ISO and whole seconds, because a JWT knows no smaller ones: see `secondOf`. */
export interface CapabilityClaims {
  readonly jti: string;
  readonly issuer: string;
  readonly audience: string;
  readonly intent_id: string;
  readonly intent_hash: string;
  readonly effect_digest: string;
  readonly attempt: number;
  /** The digest of the policy set under which it was issued. */
  readonly policy: string;
  readonly action: string;
  readonly tool_category: string | null;
  readonly scope: ResourceScope;
  readonly conditions: Conditions;
  readonly issued_at: string;
  readonly expires_at: string;
  /** Who has to prove to be the one who presents it; `null` when any bearer may. */
  readonly holder: PublicKey | null;
}

const digest = z.string().regex(DIGEST_FORM, 'is not a digest');
const uuid = z.string().refine(isUuid, 'is not a lower-case UUID');
const time_s = z.int().min(0).max(capabilityLimits.time_s);
const word = (chars: number) =>
  z
    .string()
    .min(1)
    .max(chars)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'has controls');

/** RFC 9396. Exactly one: two could be read as either or as both. */
export const authorizationSchema = z.tuple([
  z.strictObject({
    type: z.literal('keyturn'),
    action: word(128),
    tool_category: word(limits.name_chars).nullable(),
    scope: scopeSchema,
    conditions: conditionsSchema,
  }),
]);

export const rootSchema = z.strictObject({
  iss: word(256),
  aud: word(256),
  sub: uuid,
  jti: uuid,
  iat: time_s,
  nbf: time_s,
  exp: time_s,
  intent_hash: digest,
  effect_digest: digest,
  attempt: z.int().min(1),
  policy: digest,
  authorization_details: authorizationSchema,
  cnf: cnfSchema.optional(),
});

/** The payload as its schema reads it. An unknown claim is refused: its issuer expects an effect. */
export function shaped<S extends z.ZodType>(schema: S, payload: unknown): z.infer<S> {
  const result = schema.safeParse(payload);
  return result.success ? result.data : malformed(describeIssue(result.error));
}

/** A signed capability, or a refusal of what could not be opened again. */
export function mint(
  claims: CapabilityClaims,
  { kid, key }: { readonly kid: string; readonly key: KeyObject },
): string {
  const payload = payloadFor(claims);
  requirePlain(payload);
  rootClaims(payload);
  if (payload.exp - payload.iat > limits.capability_ttl_s)
    refuse('CAPABILITY_TOO_LONG', `A capability lives ${limits.capability_ttl_s} seconds at most.`);
  const text = signJws('keyturn-capability+jwt', kid, payload, key);
  if (text.length > capabilityLimits.block_chars)
    malformed(
      `its scope and conditions have more than ${capabilityLimits.block_chars} characters: name folders`,
    );
  return text;
}

/** Before the schema looks: it passes over a key "__proto__" in silence. */
export function requirePlain(payload: unknown): asserts payload is JsonObject {
  try {
    guardPlain(payload);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    malformed(error.message);
  }
}

function payloadFor(claims: CapabilityClaims) {
  const iat = secondsOf(claims.issued_at);
  return {
    iss: claims.issuer,
    aud: claims.audience,
    sub: claims.intent_id,
    jti: claims.jti,
    iat,
    nbf: notBefore(iat, claims.conditions),
    exp: secondsOf(claims.expires_at),
    intent_hash: claims.intent_hash,
    effect_digest: claims.effect_digest,
    attempt: claims.attempt,
    policy: claims.policy,
    authorization_details: authorizationFor(claims),
    ...(claims.holder === null ? {} : { cnf: cnfOf(claims.holder) }),
  };
}

export function authorizationFor(
  claims: Pick<CapabilityClaims, 'action' | 'tool_category' | 'scope' | 'conditions'>,
) {
  const { action, tool_category, scope } = claims;
  // Absent and undefined are the same to TypeScript's optional keys, but not to JSON.
  const conditions = Object.fromEntries(
    Object.entries(claims.conditions).filter(([, value]) => value !== undefined),
  );
  return [{ type: 'keyturn', action, tool_category, scope, conditions }];
}

/** What other readers of JWTs go by. Ours goes by the conditions, which narrow further down the chain. */
function notBefore(iat: number, { not_before }: Conditions): number {
  return not_before === undefined ? iat : Math.max(iat, Math.floor(Date.parse(not_before) / 1000));
}

/** The claims of a first block, whose signature is the caller's question. */
export function rootClaims(payload: unknown): CapabilityClaims {
  const root = shaped(rootSchema, payload);
  const [{ action, tool_category, scope, conditions }] = root.authorization_details;
  if (root.exp <= root.iat) malformed('it ends before it begins');
  if (root.nbf !== notBefore(root.iat, conditions)) malformed('it says two things about its beginning');
  return {
    jti: root.jti,
    issuer: root.iss,
    audience: root.aud,
    intent_id: root.sub,
    intent_hash: root.intent_hash,
    effect_digest: root.effect_digest,
    attempt: root.attempt,
    policy: root.policy,
    action,
    tool_category,
    scope,
    conditions,
    issued_at: isoOf(root.iat),
    expires_at: isoOf(root.exp),
    holder: root.cnf ? holderOf(root.cnf) : null,
  };
}

/** The whole second in which a moment lies, as `issued_at` and `expires_at` want it. */
export function secondOf(moment: Date): string {
  return isoOf(Math.floor(moment.getTime() / 1000));
}

export function secondsOf(iso: string): number {
  const seconds = Date.parse(iso) / 1000;
  if (!Number.isSafeInteger(seconds) || isoOf(seconds) !== iso) malformed('its times are not whole seconds');
  return seconds;
}

export function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
