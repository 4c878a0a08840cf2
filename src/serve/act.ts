import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { sha256 } from '../canonical/digest.ts';
import { DIGEST_FORM } from '../canonical/form.ts';
import type { JsonObject } from '../canonical/json.ts';
import {
  accountAtService,
  challengeOf,
  type Draft,
  type Keyturn,
  onlyKeyOf,
  type Proof,
  Rehearsal,
  type Signer,
} from '../keyturn.ts';
import { fieldLimits, limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { answerWith } from './answer.ts';
import type { Route } from './route.ts';

export const actTime = z.iso.datetime({ precision: 3 });
export const actDigest = z.string().regex(DIGEST_FORM);
/** What a passkey answered to a touch. */
export const webAssertion = z.strictObject({
  authenticator_data: z.string(),
  client_data: z.string(),
  signature: z.string(),
  touch: z.array(actDigest).max(limits.touch_acts).nullable(),
});
/** An Ed25519 signature in base64, or what a passkey answered. What it is worth is verified with the act. */
export const webProof = z.union([z.string().max(fieldLimits.proof_chars), webAssertion]);
/** A new key signs what makes it known, too. */
const holder = z.strictObject({
  name: z.string(),
  public_key: z.string(),
  /** With a finished act only. */
  proofs: z.array(webProof).max(limits.touch_acts).optional(),
});

export const actRequest = z.record(z.string(), z.unknown());
export const drawnAct = z.strictObject({
  by: z.string(),
  key: z.string(),
  at: actTime,
  id: z.string(),
  /** What is signed: each is a text of canonical JSON. */
  statements: z.array(z.string()).min(1).max(limits.touch_acts),
});

/** What an act is asked with: first who would sign it, then the draft with the proofs of its statements. */
export const actAsked = z.union([
  z.strictObject({
    request: actRequest,
    by: z.string(),
    /** Which of their keys; needed where they have several. */
    key: z.string().optional(),
    holder: holder.optional(),
  }),
  z.strictObject({
    request: actRequest,
    draft: drawnAct,
    proofs: z.array(webProof).min(1).max(limits.touch_acts),
    holder: holder.optional(),
  }),
]);

/** An act up to its signature. Nothing was written. */
export const actDraft = z.strictObject({
  draft: drawnAct,
  /** SHA-256 of each statement. */
  digests: z.array(actDigest),
  /** What a passkey signs for all of them, as base64url. */
  challenge: z.string(),
  /** Until when it can be finished. */
  deadline: actTime,
  /** The request with what the service chose: it is finished with this one. Absent where nothing was to be chosen. */
  request: actRequest.optional(),
});

export type ActAsked = z.output<typeof actAsked>;

/** Who asks for an act. A named caller cannot ask for an act of another human; the session of a link says who signs. */
export type ActCaller = { readonly name: string | null; readonly is_agent?: true };

/** A human act over HTTP is a draft, and then the same with a proof. Nothing else speaks for a human here. */
export async function answerAct(
  keyturn: Keyturn,
  route: Route,
  body: JsonObject,
  caller: ActCaller,
): Promise<Response> {
  const parsed = actAsked.safeParse(body);
  if (!parsed.success)
    refuse(
      'SHAPE_INVALID',
      'An act is {request, by}; or, to finish it, {request, draft, proofs}. See /openapi.json.',
    );
  const asked = parsed.data;
  if ('draft' in asked)
    return answerWith(route.verb.output(), await finishAct(keyturn, route, asked, caller));
  return answerWith(actDraft, await drawAct(keyturn, route, asked, caller), 202);
}

/** Up to its signature, after what is drawn up before it, `earlier`. Nothing is written. */
export async function drawAct(
  keyturn: Keyturn,
  route: Route,
  asked: Extract<ActAsked, { by: string }>,
  caller: ActCaller,
  earlier = new Rehearsal(),
): Promise<z.output<typeof actDraft>> {
  requireOwn(caller, asked.by);
  const key = asked.key ?? (await keyOf(keyturn, asked.by));
  const request = withNonce(route, asked.request);
  const who = { name: asked.by, public_key: key, earlier };
  const draft = await keyturn.draft(who, acting(keyturn, route, { ...asked, request }, asked.by, caller));
  return {
    draft: { ...draft, statements: [...draft.statements] },
    ...signingOf(draft),
    ...(request !== asked.request && { request }),
  };
}

export function finishAct(
  keyturn: Keyturn,
  route: Route,
  asked: Extract<ActAsked, { draft: object }>,
  caller: ActCaller,
): Promise<unknown> {
  const { draft, proofs } = asked;
  requireOwn(caller, draft.by);
  return keyturn.finish(draft, proofs as Proof[], acting(keyturn, route, asked, draft.by, caller));
}

function requireOwn({ name }: ActCaller, by: string): void {
  if (name !== null && name !== by) refuse('CALLER_OTHER', `"${name}" asks for no act of "${by}".`);
}

/** What makes a proposal its own is chosen here where the caller did not, and told with the draft. */
function withNonce({ members }: Route, request: ActAsked['request']): ActAsked['request'] {
  if (!Object.hasOwn(members(), 'nonce') || Object.hasOwn(request, 'nonce')) return request;
  return { ...request, nonce: randomBytes(16).toString('base64') };
}

/** The act of the table, as this human may ask for it. Their account is not known here. */
function acting(
  keyturn: Keyturn,
  { namespace, name, verb }: Route,
  { request, holder }: ActAsked,
  by: string,
  { is_agent }: ActCaller,
) {
  const takes_holder = (verb.here as readonly string[]).includes('holder');
  if (holder && !takes_holder) refuse('SHAPE_INVALID', 'This act takes no holder.');
  let is_proven = false;
  const mayWrite = () => is_proven;
  const account = accountAtService(is_agent ? 'key' : 'human', by);
  const face = keyturn.as({ name: by, account, mayWrite }) as unknown as Record<
    string,
    Record<string, (request: object) => Promise<unknown>>
  >;
  const given = holder && { holder: { ...holder, sign: async () => (holder.proofs ?? []) as Proof[] } };
  const proving = (signer: Signer): Signer => ({
    ...signer,
    sign: async (statements) => {
      const proofs = await signer.sign(statements);
      is_proven = !signer.is_rehearsal;
      return proofs;
    },
  });
  return (signer: Signer) =>
    face[namespace]![name]!({ ...plain(request, verb.here), signer: proving(signer), ...given });
}

/** What only the service gives cannot be given in the request. */
function plain(request: Readonly<Record<string, unknown>>, here: readonly string[]): object {
  if (here.some((member) => Object.hasOwn(request, member)))
    refuse('SHAPE_INVALID', 'The request has a member that no request has.');
  return request;
}

/** Which key is meant where none is named. */
export async function keyOf(keyturn: Keyturn, by: string): Promise<string> {
  const { principals } = await keyturn.people.list();
  const found = principals.find(({ name }) => name === by);
  return onlyKeyOf(found ?? refuse('PRINCIPAL_UNKNOWN', `"${by}" is not enrolled.`));
}

/** The signature of a proposer says no deadline, also where an act stands beside it: each is counted from when it was drawn up. */
export function signingOf(...drafts: readonly Pick<Draft, 'statements' | 'at'>[]) {
  const statements = drafts.flatMap((one) => one.statements);
  const at = drafts.map((one) => one.at).sort()[0]!;
  const digests = statements.map((one) => sha256(Buffer.from(one, 'utf8')));
  const challenge = challengeOf(digests[0]!, digests.length === 1 ? null : digests);
  const deadline = new Date(Date.parse(at) + limits.act_wait_s * 1000).toISOString();
  return { digests, challenge, deadline };
}
