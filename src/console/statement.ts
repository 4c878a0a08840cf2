import { codeOf } from '../canonical/code.ts';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText, type Json } from '../canonical/json.ts';

/** What a page expects to be signed, from what it drew. */
export interface Expected {
  readonly kind: string;
  /** Null where the act itself gives the id that it is about. */
  readonly subject: string | null;
  /** Members that the page knows, each with its value. */
  readonly fixed: Readonly<Record<string, Json>>;
  /** Members that the service chooses: ids and times. They are drawn beside the button once they are known. */
  readonly free: readonly string[];
}

export interface Signing {
  readonly origin: string;
  readonly by: string;
  readonly key: string;
  readonly at: string;
  readonly deadline: string;
}

export interface Rebuilt {
  readonly text: string;
  readonly digest: Digest;
  readonly free: Readonly<Record<string, Json>>;
}

/** The service drew up another act than the page shows. Nothing is signed. */
export class Mismatch extends Error {
  constructor(what: string) {
    super(`The service asks for a signature on something else than this page shows: ${what}.`);
    this.name = 'Mismatch';
  }
}

/**
 * The statement, made again from what the page drew. Of the text that came from the service only ids and times that the page
 * cannot know are taken over; every other difference is refused. The digest is of the text that was made here.
 */
export function rebuilt(theirs: string, expected: Expected, signing: Signing): Rebuilt {
  const parsed = objectIn(theirs);
  const told = objectOf(parsed.body);
  const free = Object.fromEntries(expected.free.map((name) => [name, freeValue(told, name)]));
  const { by, key, at, deadline, origin } = signing;
  const body = { ...expected.fixed, ...free, by, key, signed_at: at, deadline };
  const subject = expected.subject ?? String(parsed.subject);
  const text = canonicalText({ format: 'keyturn-act/1', origin, kind: expected.kind, subject, body });
  if (text !== theirs)
    throw new Mismatch(firstDifference(parsed, { origin, kind: expected.kind, subject, body }));
  return { text, digest: sha256(text), free };
}

function freeValue(told: Readonly<Record<string, Json>>, name: string): Json {
  const value = told[name];
  if (value === undefined) throw new Mismatch(`${name} is missing`);
  return value;
}

function objectIn(text: string): Readonly<Record<string, Json>> {
  return objectOf(JSON.parse(text) as Json);
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Mismatch('it is no object');
  return value as Readonly<Record<string, Json>>;
}

/** In one word, for the person who asks what is wrong. */
function firstDifference(
  theirs: Readonly<Record<string, Json>>,
  ours: { readonly body: object } & Readonly<Record<string, unknown>>,
): string {
  for (const name of ['origin', 'kind', 'subject']) if (theirs[name] !== ours[name]) return name;
  const [a, b] = [objectOf(theirs.body), ours.body as Readonly<Record<string, Json>>];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const isSame = (name: string) =>
    name in a && name in b && canonicalText(a[name]!) === canonicalText(b[name]!);
  return names.find((name) => !isSame(name)) ?? 'its form';
}

/** What a passkey is asked to sign for one act or several, as `challengeOf` of `identity/passkey.ts` has it. */
export function challengeFor(digests: readonly Digest[]): {
  readonly challenge: Uint8Array;
  readonly touch: readonly Digest[] | null;
} {
  const touch = digests.length === 1 ? null : digests;
  const digest =
    touch === null ? digests[0]! : sha256(canonicalBytes({ format: 'keyturn-touch/1', acts: touch }));
  return { challenge: Buffer.from(digest, 'hex'), touch };
}

export interface Sealed {
  readonly hash: Digest;
  readonly effect_digest: Digest;
  /** What a person compares with `keyturn show`. */
  readonly code: string;
}

/** Hash and digest of what the page draws, computed here. */
export function sealed(envelope: { readonly nonce: string }, effect: object): Sealed {
  const hash = sha256(canonicalBytes(envelope));
  return {
    hash,
    effect_digest: sha256(canonicalBytes({ effect, nonce: envelope.nonce })),
    code: codeOf(hash),
  };
}
