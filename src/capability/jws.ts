import { type KeyObject, sign, verify } from 'node:crypto';
import { RAW_32_FORM } from '../canonical/form.ts';
import { canonicalBytesOfParsed, type JsonObject, parseJson } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import { capabilityLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/**
 * A strict reading of the compact form of RFC 7515, with Ed25519 only. Whatever is not exactly what Keyturn writes is
 * refused before its signature is looked at: no header but the three, one spelling of the base64url, no key taken from the
 * token.
 */

export type JwsType = 'keyturn-capability+jwt' | 'keyturn-attenuation+jwt' | 'keyturn-proof+jwt';

export interface Jws {
  readonly text: string;
  readonly kid: string;
  readonly payload: Buffer;
}

export function signJws(typ: JwsType, kid: string, payload: JsonObject, key: KeyObject): string {
  const header = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ, kid })).toString('base64url');
  const signed = `${header}.${Buffer.from(canonicalBytesOfParsed(payload)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)$/;
const SIGNATURE_BYTES = 64;

/** Everything that can be said about a token without its key. The header comes first: it says what the rest should be. */
export function readJws(text: string, typ: JwsType): Jws {
  if (text.length > capabilityLimits.block_chars)
    malformed(`it has a block of more than ${capabilityLimits.block_chars} characters`);
  const [, header, payload, signature] = COMPACT.exec(text) ?? malformed('it is not a compact JWS');
  const kid = requireHeader(header!, typ);
  if (decoded(signature!).length !== SIGNATURE_BYTES) malformed('its signature has another length');
  return { text, kid, payload: decoded(payload!) };
}

/** Base64url has spare bits and node passes over what it does not know: only what comes back as it was is accepted. */
function decoded(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) malformed('it is not in its one base64url form');
  return bytes;
}

function requireHeader(text: string, typ: JwsType): string {
  const header = parsed(decoded(text), capabilityLimits.header_bytes);
  if (typeof header.alg !== 'string') malformed('its header names no algorithm');
  if (header.alg !== 'EdDSA')
    refuse(
      'CAPABILITY_ALGORITHM',
      `It says ${visible(JSON.stringify(header.alg.slice(0, 32)))}, and only EdDSA is accepted.`,
    );
  // jwk, jku, x5u, x5c would let the token choose its own judge; crit and b64 would change what is signed.
  if (Object.keys(header).length !== 3) malformed('its header is not alg, typ and kid');
  if (header.typ !== typ) malformed(`its type is not ${typ}`);
  const { kid } = header;
  // A thumbprint. Never a path, an address or anything else that could be looked up elsewhere.
  return typeof kid === 'string' && RAW_32_FORM.test(kid) ? kid : malformed('its header names no key');
}

/** Nothing of the payload has been looked at before. */
export function verifyJws({ text }: Jws, key: KeyObject): void {
  const end = text.lastIndexOf('.');
  const signature = Buffer.from(text.slice(end + 1), 'base64url');
  if (!verify(null, Buffer.from(text.slice(0, end)), key, signature)) refuse('CAPABILITY_FORGED');
}

export function payloadOf({ payload }: Jws): JsonObject {
  return parsed(payload, capabilityLimits.block_chars);
}

/** The plain object in these bytes, with each key once. */
function parsed(bytes: Buffer, max_bytes: number): JsonObject {
  try {
    const value = parseJson(bytes, max_bytes);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) malformed('it is not an object');
    return value as JsonObject;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return malformed(error.message);
  }
}

export function malformed(what: string): never {
  return refuse('CAPABILITY_MALFORMED', `This is not a capability: ${visible(what)}`);
}
