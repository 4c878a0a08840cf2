import { createHash } from 'node:crypto';
import { refuse } from '../refusal.ts';

/** HTTP Message Signatures (RFC 9421), as much of them as a caller of this service needs: one signature, Ed25519, fixed components. */

/** What a request says about its signature. Nothing of it was verified. */
export interface MessageSignature {
  /** The name of the signer. */
  readonly keyid: string;
  /** In seconds. */
  readonly created: number;
  /** When it ends, in seconds, where its signer says so. */
  readonly expires: number | null;
  readonly nonce: string;
  /** The ledger that it is for. */
  readonly tag: string;
  readonly covered: readonly string[];
  /** As the request has them. They are part of what is signed. */
  readonly params: string;
  /** As base64. */
  readonly signature: string;
}

/** What every signature covers: to whom, what, and where. */
const ALWAYS = ['@method', '@authority', '@path', '@query'];
/** Headers that change what a request means. Each is covered where it is there. */
const HEADERS = ['content-digest', 'content-type', 'idempotency-key', 'prefer', 'last-event-id'];

const TEXT = '"[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*"';
const INPUT = new RegExp(
  `^([a-z*][a-z0-9_.*-]{0,31})=(\\(("[@a-z-]+"(?: "[@a-z-]+")*)\\)((?:;(?:created|expires)=[0-9]{1,12}|;(?:nonce|keyid|alg|tag)=${TEXT})*))$`,
);

/** Null where a request has no signature. One that is not understood is refused. */
export function messageSignatureIn({ headers }: Pick<Request, 'headers'>): MessageSignature | null {
  const input = headers.get('signature-input');
  const given = headers.get('signature');
  if (input === null && given === null) return null;
  const [, label, params, components, parameters] = INPUT.exec(input ?? '') ?? wrong('Signature-Input');
  const [, same, signature] = /^([a-z*][a-z0-9_.*-]{0,31})=:([A-Za-z0-9+/=]{88}):$/.exec(given ?? '') ?? [];
  if (same !== label) wrong('Signature');
  const covered = components!.split(' ').map((one) => one.slice(1, -1));
  if (new Set(covered).size !== covered.length) wrong('Signature-Input');
  const found = parametersIn(parameters!);
  const { created = '', nonce = '', keyid = '', alg = '', tag = '', expires } = found;
  if (alg !== 'ed25519') refuse('MESSAGE_SIGNATURE_INVALID', 'The signature has another alg than "ed25519".');
  if (!/^[!-~]{16,128}$/.test(nonce))
    refuse('MESSAGE_SIGNATURE_INVALID', 'The nonce has 16 to 128 characters.');
  if (created === '' || Number(expires ?? created) < Number(created)) wrong('Signature-Input');
  requireCovered(covered, headers);
  return {
    keyid,
    nonce,
    tag,
    covered,
    created: Number(created),
    expires: expires === undefined ? null : Number(expires),
    params: params!,
    signature: signature!,
  };
}

function wrong(header: string): never {
  return refuse('MESSAGE_SIGNATURE_INVALID', `The header ${header} is not one that is understood here.`);
}

function parametersIn(text: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const [, name, quoted, plain] of text.matchAll(/;([a-z]+)=(?:"([^"]*)"|([0-9]+))/g)) {
    if (name! in found) wrong('Signature-Input');
    found[name!] = quoted ?? plain!;
  }
  return found;
}

function requireCovered(covered: readonly string[], headers: Headers): void {
  const needed = [...ALWAYS, ...HEADERS.filter((name) => headers.has(name))];
  const missing = needed.find((name) => !covered.includes(name));
  if (missing !== undefined)
    refuse('MESSAGE_SIGNATURE_INVALID', `The signature does not cover "${missing}".`);
  const unknown = covered.find((name) => !needed.includes(name));
  if (unknown !== undefined)
    refuse(
      'MESSAGE_SIGNATURE_INVALID',
      `The signature covers "${unknown}", which is not there or not understood.`,
    );
}

/** What is signed, as RFC 9421 writes it. */
export function signatureBase(
  { method, url, headers }: Pick<Request, 'method' | 'url' | 'headers'>,
  { covered, params }: Pick<MessageSignature, 'covered' | 'params'>,
): Uint8Array {
  const { pathname, search } = new URL(url);
  const derived: Readonly<Record<string, string>> = {
    '@method': method,
    '@authority': (headers.get('host') ?? '').toLowerCase().replace(/:443$/, ''),
    '@path': pathname,
    '@query': search === '' ? '?' : search,
  };
  const lines = covered.map((name) => `"${name}": ${derived[name] ?? (headers.get(name) ?? '').trim()}`);
  return Buffer.from([...lines, `"@signature-params": ${params}`].join('\n'), 'utf8');
}

/** Refuses a body that is not the one that the signature covers. */
export function requireContentDigest(headers: Headers, body: Uint8Array): void {
  const said = headers.get('content-digest');
  if (said === null && body.length === 0) return;
  if (said !== `sha-256=:${createHash('sha256').update(body).digest('base64')}:`)
    refuse('MESSAGE_SIGNATURE_INVALID', 'Content-Digest is not the sha-256 of the body.');
}
