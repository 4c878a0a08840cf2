import * as z from 'zod';
import { DIGEST_FORM, NAME_FORM, RAW_32_FORM, TITLE_FORM, UUID_FORM } from '../canonical/form.ts';
import { spkiAlgorithm } from '../canonical/spki.ts';
import { visible } from '../canonical/visible.ts';
import { fieldLimits, limits, mcpLimits } from '../limits.ts';
import { type ReasonCode, reasonCodes } from '../refusal.ts';

/** The values that the bodies of events are made of. */

export const digest = z.string().regex(DIGEST_FORM);
export const uuid = z.string().regex(UUID_FORM);
export const time = z.iso.datetime({ precision: 3 });
export const name = z.string().regex(NAME_FORM);
/** Of an MCP server. It has no underscore: two of them end it in the name of a tool. */
export const serverName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'not the name of a server: a-z, 0-9, dash');
/** A program in which an agent works, and whose own tools ask `keyturn hook` first. */
export const client = z.enum(['claude-code', 'codex', 'gemini-cli']);
export const title = z.string().regex(TITLE_FORM);
export const key = z.base64().length(44);
export const prose = z.string().min(1).max(limits.prose_chars);
export const attempt = z.int().min(1);
/** 32 bytes that only the proposer of an intent was told. */
export const receipt = z.string().regex(RAW_32_FORM);
/** Made by the first refusal that is read: a list of some hundred words takes longer than all the other shapes. */
export const reason_code = z.lazy(() => z.enum(reasonCodes as [ReasonCode, ...ReasonCode[]]));
/** An abstract action, such as `tool:deploy` or `plan`. */
export const action = z.string().min(1).max(fieldLimits.reference_chars);
export const roles = z.array(name).max(fieldLimits.roles);
/** The stored decision of a policy set: the whole request, the answer, and the policies that gave it. */
export const decision = digest;

/** What an event holds. Made when the first event of its kind is read: a command meets few of the fifty, and one is not cheap to make. */
export const body = <S extends z.ZodRawShape>(shape: () => S) => z.lazy(() => z.strictObject(shape()));

/** Raw bytes as base64url, in the one text that they have. */
function raw(least_bytes: number, most_bytes: number) {
  const fits = (text: string) => {
    if (text.length > Math.ceil((most_bytes * 4) / 3)) return false;
    const bytes = Buffer.from(text, 'base64url');
    return bytes.length >= least_bytes && bytes.toString('base64url') === text;
  };
  return z.string().refine(fits, `is not base64url of ${least_bytes} to ${most_bytes} bytes`);
}

/** Each once. */
function unique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

/** Lower case, and no address: no browser makes a passkey for one. */
const host_name = z
  .string()
  .max(253)
  .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);

/** As a browser writes it, with any port but the usual one. */
const web_origin = z
  .string()
  .max(fieldLimits.origin_chars)
  .refine(isWebOrigin, 'is not an origin of https, nor of http on localhost');

function isWebOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  if (origin !== text || !host_name.safeParse(hostname).success) return false;
  return protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost');
}

export const credential_id = raw(1, limits.credential_id_bytes);
export const client_data = raw(2, limits.client_data_bytes);
export const spki = z
  .string()
  .max(fieldLimits.spki_chars)
  .refine((text) => spkiAlgorithm(text) !== null, 'is not a key for ES256, EdDSA or RS256');

/** What is kept of a passkey. */
export const passkey = z.strictObject({
  credential_id,
  /** SPKI in DER, as base64. */
  public_key: spki,
  rp_id: host_name,
  /** Where it may be used: exact, with the port. The list is signed and follows no header. */
  origins: z.array(web_origin).min(1).max(limits.passkey_origins).refine(unique, 'names an origin twice'),
  /** Whether its maker may copy it to other devices (the flag BE). It never changes. */
  can_sync: z.boolean(),
  /** The model of the authenticator, as it says; zeros where it does not say. */
  aaguid: uuid,
  /** What its owner calls it. */
  label: z
    .string()
    .min(1)
    .max(limits.name_chars)
    .refine((text) => visible(text) === text, 'has characters that cannot be seen'),
});

/** What an authenticator signed, byte for byte. */
export const assertion = z.strictObject({
  authenticator_data: raw(37, limits.authenticator_data_bytes),
  client_data,
  signature: raw(8, limits.passkey_signature_bytes),
  /** The digests of all acts of one touch, in the order in which they were shown; null for one act alone. */
  touch: z.array(digest).min(2).max(limits.touch_acts).refine(unique, 'names an act twice').nullable(),
});

/** What a credential is known by: an Ed25519 key as it is, or the SPKI of a passkey. */
export const public_key = z.union([key, spki]);

/** What its owner calls a credential. */
const label = passkey.shape.label;

/** What a person signs with: an Ed25519 key, as a rule in a file, or a passkey. */
export const credential = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('key'), public_key: key, label }),
  passkey.extend({ kind: z.literal('passkey') }),
]);

export const signature = z.base64().length(88);

/** What bounds a grant: how many uses, the object with the schema of arguments and the pins, and of it only the digest. */
export const grantBounds = z.strictObject({
  uses: z.int().min(1).max(mcpLimits.grant_uses),
  bounds: digest,
});

/** What a fact carries that the control plane states. */
export const by_control = { control_key: key, control_signature: signature };

/**
 * What stands beside an act is the control plane's: its key signs the whole entry. Where a commit has several such entries, the signature is over the
 * list of their digests, and each entry holds the list; null for one alone.
 */
export const beside_control = {
  ...by_control,
  control_covers: z
    .array(digest)
    .min(2)
    .max(limits.control_covers)
    .refine(unique, 'names an entry twice')
    .nullable(),
};

/** What a fact carries that an executor states. */
export const by_executor = { executor_key: key, executor_signature: signature };

/** A signature of an Ed25519 key, or what an authenticator answered to a touch. */
export const proof = z.union([signature, assertion]);

/**
 * What every act carries: who, with which key, when it was drawn up, until when it may be committed, and the signature over what its
 * human saw.
 */
export const signed = { by: name, key: public_key, signed_at: time, deadline: time, signature: proof };

export type ActSignature = z.infer<z.ZodObject<typeof signed>>;
