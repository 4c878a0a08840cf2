import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import type { JsonObject } from '../canonical/json.ts';
import { challengeOf, type Draft, type Keyturn, onlyKeyOf, type Proof, type Signer } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { answerWith } from './answer.ts';
import type { Route } from './route.ts';

const time = z.iso.datetime({ precision: 3 });
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** An Ed25519 signature in base64, or what a passkey answered. What it is worth is verified with the act. */
const proof = z.union([
  z.string().max(1_024),
  z.strictObject({
    authenticator_data: z.string(),
    client_data: z.string(),
    signature: z.string(),
    touch: z.array(digest).nullable(),
  }),
]);
/** A new key signs what makes it known, too. */
const holder = z.strictObject({
  name: z.string(),
  public_key: z.string(),
  /** With a finished act only. */
  proofs: z.array(proof).max(100).optional(),
});

const request = z.record(z.string(), z.unknown());
const drawn = z.strictObject({
  by: z.string(),
  key: z.string(),
  at: time,
  id: z.string(),
  /** What is signed: each is a text of canonical JSON. */
  statements: z.array(z.string()).min(1).max(100),
});

/** What an act is asked with: first who would sign it, then the draft with the proofs of its statements. */
export const actAsked = z.union([
  z.strictObject({
    request,
    by: z.string(),
    /** Which of their keys; needed where they have several. */
    key: z.string().optional(),
    holder: holder.optional(),
  }),
  z.strictObject({
    request,
    draft: drawn,
    proofs: z.array(proof).min(1).max(100),
    holder: holder.optional(),
  }),
]);

/** An act up to its signature. Nothing was written. */
export const actDraft = z.strictObject({
  draft: drawn,
  /** SHA-256 of each statement. */
  digests: z.array(digest),
  /** What a passkey signs for all of them, as base64url. */
  challenge: z.string(),
  /** Until when it can be finished. */
  deadline: time,
});

type Asked = z.output<typeof actAsked>;

/** A human act over HTTP is a draft, and then the same with a proof. Nothing else speaks for a human here. */
export async function answerAct(keyturn: Keyturn, route: Route, body: JsonObject): Promise<Response> {
  const parsed = actAsked.safeParse(body);
  if (!parsed.success)
    refuse(
      'SHAPE_INVALID',
      'An act is {request, by}; or, to finish it, {request, draft, proofs}. See /openapi.json.',
    );
  const asked = parsed.data;
  if ('draft' in asked) {
    const done = await keyturn.finish(
      asked.draft,
      asked.proofs as Proof[],
      acting(keyturn, route, asked, asked.draft.by),
    );
    return answerWith(route.verb.output(), done);
  }
  const key = asked.key ?? (await keyOf(keyturn, asked.by));
  const who = { name: asked.by, public_key: key };
  const draft = await keyturn.draft(who, acting(keyturn, route, asked, asked.by));
  return answerWith(actDraft, { draft, ...signingOf(draft) }, 202);
}

/** The act of the table, as this human may ask for it, in the account in which the link of the service was printed. */
function acting(keyturn: Keyturn, { namespace, name, verb }: Route, { request, holder }: Asked, by: string) {
  const takes_holder = (verb.here as readonly string[]).includes('holder');
  if (holder && !takes_holder) refuse('SHAPE_INVALID', 'This act takes no holder.');
  let is_proven = false;
  const mayWrite = () => is_proven;
  const face = keyturn.as({ name: by, account: keyturn.account, mayWrite }) as unknown as Record<
    string,
    Record<string, (request: object) => Promise<unknown>>
  >;
  const given = holder && { holder: { ...holder, sign: async () => (holder.proofs ?? []) as Proof[] } };
  const proving = (signer: Signer): Signer => ({
    ...signer,
    sign: async (statements) => {
      const proofs = await signer.sign(statements);
      is_proven = true;
      return proofs;
    },
  });
  return (signer: Signer) =>
    face[namespace]![name]!({ ...plain(request, verb.here), signer: proving(signer), ...given });
}

/** What only the door gives cannot be given in the request. */
function plain(request: Readonly<Record<string, unknown>>, here: readonly string[]): object {
  if (here.some((member) => Object.hasOwn(request, member)))
    refuse('SHAPE_INVALID', 'The request has a member that no request has.');
  return request;
}

async function keyOf(keyturn: Keyturn, by: string): Promise<string> {
  const { principals } = await keyturn.people.list();
  const found = principals.find(({ name }) => name === by);
  return onlyKeyOf(found ?? refuse('PRINCIPAL_UNKNOWN', `"${by}" is not enrolled.`));
}

/** The signature of a proposer says no deadline, also where an act stands beside it: each is counted from when it was drawn up. */
function signingOf({ statements, at }: Draft) {
  const digests = statements.map((one) => sha256(Buffer.from(one, 'utf8')));
  const challenge = challengeOf(digests[0]!, digests.length === 1 ? null : digests);
  const deadline = new Date(Date.parse(at) + limits.act_wait_s * 1000).toISOString();
  return { digests, challenge, deadline };
}
