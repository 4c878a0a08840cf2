import { z } from 'zod';
import { limits } from '../limits.ts';
import { type ReasonCode, reasonCodes } from '../refusal.ts';

/** The values that the bodies of events are made of. */

export const digest = z.string().regex(/^[0-9a-f]{64}$/);
export const uuid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
export const time = z.iso.datetime({ precision: 3 });
export const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);
export const title = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
export const key = z.base64().length(44);
export const prose = z.string().min(1).max(limits.prose_chars);
export const attempt = z.int().min(1);
export const reason_code = z.enum(reasonCodes as [ReasonCode, ...ReasonCode[]]);
/** An abstract action, such as `tool:deploy` or `plan`. */
export const action = z.string().min(1).max(128);
export const roles = z.array(name).max(16);
/** The stored decision of a policy set: the whole request, the answer, and the policies that gave it. */
export const decision = digest;

/** What every act carries: who, with which key, when, and the signature over the whole event. */
export const signed = { by: name, key, signed_at: time, signature: z.base64().length(88) };
