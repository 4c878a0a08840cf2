import type { Json } from '../canonical/json.ts';
import type { ExpectedAct, ExpectedOfProposer, RebuiltAct } from '../display/signed.ts';
import type { Assertion, Draft } from '../keyturn.ts';
import type { App, Me } from './app.ts';
import { Refusal } from './refusal.ts';
import { challengeFor, rebuilt, refuseOther } from './statement.ts';

/** One act that a person is about to sign: the verb, what it is asked with, and what the page expects to be signed. */
export interface SignatureAsked {
  readonly verb: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly expected: ExpectedAct | ExpectedOfProposer;
  /** The key that signs it, where the person chose one. */
  readonly key?: string;
}

export interface DrawnAct {
  readonly asked: SignatureAsked;
  /** What was asked for, with the nonce that the service chose where it needs one. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly draft: Draft;
  readonly statement: RebuiltAct;
}

/** Acts that were drawn up, and that one touch signs. */
export interface Gesture {
  readonly acts: readonly DrawnAct[];
  /** What the service would not draw up, with its reason: each is left out alone. */
  readonly refused: readonly { readonly asked: SignatureAsked; readonly error: unknown }[];
  readonly challenge: Uint8Array;
  readonly touch: readonly string[] | null;
}

interface AnyAct {
  draft(asked: object): Promise<{
    draft: Draft;
    digests: readonly string[];
    challenge: string;
    request?: Readonly<Record<string, unknown>>;
  }>;
  finish(asked: object): Promise<unknown>;
}

export function actOf({ api }: App, verb: string): AnyAct {
  const [namespace, name] = verb.split('.') as [string, string];
  return (api as unknown as Record<string, Record<string, AnyAct>>)[namespace]![name]!;
}

/** Draws acts up, makes each statement again from what the page shows, and refuses any difference. */
export async function drawUp(app: App, me: Me, asks: readonly SignatureAsked[]): Promise<Gesture> {
  const drawn = await Promise.allSettled(asks.map((asked) => drawOne(app, me, asked)));
  const acts = drawn.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = drawn.flatMap((one, i) =>
    one.status === 'rejected' ? [{ asked: asks[i]!, error: one.reason as unknown }] : [],
  );
  const mismatch = refused.find(({ error }) => error instanceof Refusal && error.code === 'ACT_OTHER');
  // A service that has one other act signed is not trusted with the others.
  if (mismatch) throw mismatch.error;
  if (acts.length === 0) throw refused[0]!.error;
  return { acts, refused, ...challengeFor(acts.map(({ statement }) => statement.digest)) };
}

async function drawOne(app: App, me: Me, asked: SignatureAsked): Promise<DrawnAct> {
  const { verb, request, expected, key = me.key } = asked;
  const drawn = await actOf(app, verb).draft({ request, by: me.name, key });
  const { draft, digests } = drawn;
  if (draft.statements.length !== 1 || draft.by !== me.name || draft.key !== key) refuseOther('who signs it');
  const signing = { origin: app.world.get().origin, by: me.name, key, at: draft.at };
  const statement = rebuilt(draft.statements[0]!, expected, signing);
  if (digests[0] !== statement.digest) refuseOther('its digest');
  const { nonce } = drawn.request ?? {};
  return { asked, request: { ...request, ...(nonce !== undefined && { nonce }) }, draft, statement };
}

export interface FinishedAct {
  readonly asked: SignatureAsked;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Gives the service the proof of each act. One that is refused now is refused alone. */
export async function finish(app: App, { acts }: Gesture, proof: Assertion): Promise<readonly FinishedAct[]> {
  const done = await Promise.allSettled(
    acts.map(({ asked: { verb }, request, draft }) =>
      actOf(app, verb).finish({ request, draft, proofs: [proof] }),
    ),
  );
  return done.map((one, i) => {
    const { asked } = acts[i]!;
    return one.status === 'fulfilled'
      ? { asked, result: one.value }
      : { asked, error: one.reason as unknown };
  });
}

const base64url = (bytes: ArrayBuffer) => Buffer.from(new Uint8Array(bytes)).toString('base64url');

/** Asks the browser for one touch. Rejects where the person cancels. */
export async function touched(
  me: Me,
  gesture: Pick<Gesture, 'challenge' | 'touch'>,
  signal: AbortSignal,
): Promise<Assertion> {
  const got = await navigator.credentials.get({
    publicKey: {
      rpId: me.rp_id,
      challenge: gesture.challenge as BufferSource,
      allowCredentials: [
        { type: 'public-key', id: Buffer.from(me.credential_id, 'base64url') as BufferSource },
      ],
      userVerification: 'required',
    },
    signal,
  });
  const { authenticatorData, clientDataJSON, signature } = (got as PublicKeyCredential)
    .response as AuthenticatorAssertionResponse;
  return {
    authenticator_data: base64url(authenticatorData),
    client_data: base64url(clientDataJSON),
    signature: base64url(signature),
    touch: gesture.touch === null ? null : [...gesture.touch],
  };
}

/** The act of a human with a reason, about something that has an id or a name. */
export function reasoned(
  verb: string,
  kind: string,
  subject: string | null,
  request: Readonly<Record<string, Json>>,
  more: Partial<ExpectedAct> & { readonly leave?: readonly string[] } = {},
): SignatureAsked {
  const leave = new Set(more.leave ?? []);
  const fixed = Object.fromEntries(Object.entries(request).filter(([name]) => !leave.has(name)));
  return {
    verb,
    request,
    expected: { kind, subject, fixed: { ...fixed, ...more.fixed }, free: more.free ?? [] },
  };
}
