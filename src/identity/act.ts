import { type KeyObject, randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import {
  generateKeyPair,
  type KeyOf,
  privateKeyOf,
  publicKeyOf,
  sign,
  verifyEd25519,
} from '../canonical/ed25519.ts';
import { canonicalBytesOfParsed } from '../canonical/json.ts';
import { idOfDigest } from '../canonical/made-id.ts';
import {
  type Body,
  besideOf,
  type ControlledKind,
  type ControlProof,
  type Drafted,
  type Event,
  type SignedKind,
} from '../event/event.ts';
import type { ActSignature } from '../event/shape.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { verifyAssertion } from './passkey.ts';
import { unsigned } from './unsigned.ts';

/** What proves who stands behind a statement. */
export type Proof = ActSignature['signature'];

/** Proves that a human, or an agent, stands behind statements. Where the key is, and what opens it, nothing else knows. */
export interface Signer {
  readonly name: string;
  readonly public_key: string;
  /** When the act was drawn up, and the id that it gave, where the proof is for a draft; absent where it is drawn up now. */
  readonly drawn?: Drawn;
  /** Nothing is signed, and what the act would write is only looked at: see `rehearseAct`. */
  readonly is_rehearsal?: true;
  /** What the acts that are rehearsed before it would write: a `Rehearsal` (`store/rehearsal.ts`), which each adds to. */
  readonly earlier?: object;
  /** One proof for each statement, in their order. */
  sign(statements: readonly Uint8Array[]): Promise<readonly Proof[]>;
}

export interface Drawn {
  readonly at: Date;
  readonly id: string;
}

/** A key that is open in this process. */
export interface OpenKey extends Signer {
  readonly key: KeyObject;
}

export function signerOf(name: string, public_key: string, seed: Uint8Array): OpenKey {
  return openKeyOf(name, public_key, privateKeyOf(seed));
}

export function openKeyOf(name: string, public_key: string, key: KeyObject): OpenKey {
  return { name, public_key, key, sign: async (statements) => statements.map((bytes) => sign(bytes, key)) };
}

/** The name of a ledger. Every signature covers it, and its heads are signed under it. */
export function originOf(project_id: string, tenant: string): string {
  return `keyturn/${project_id}/${tenant}`;
}

/** When the act of this signer was drawn up: what it says about time is counted from then. */
export function drawnAt({ drawn }: Signer, now: Date): Date {
  return drawn?.at ?? now;
}

/**
 * The public half of a key that this host makes for an act. A draft changes nothing, so it makes none; for a rehearsal any other key will do,
 * since nothing of it is written.
 */
export function keyMadeFor(
  { drawn, is_rehearsal }: Signer,
  make: () => { readonly public_key: string },
): string {
  if (drawn !== undefined)
    refuse('HOST_ONLY', 'This host has no key for it yet. The same act, done on the host, makes one.');
  if (is_rehearsal) return generateKeyPair().public_key;
  return make().public_key;
}

/**
 * The id of what the act of this signer makes. A draft says what its caller wrote into it, so the id only follows from that: a delegation
 * could otherwise have the id of an intent that another agent proposed.
 */
export function drawnId({ name, drawn }: Signer): string {
  if (drawn === undefined) return randomUUID();
  return idOfDigest(sha256(canonicalBytesOfParsed({ format: 'keyturn-drawn-id/1', name, id: drawn.id })));
}

/** What an act says, without who says it, and without what the control plane adds to prove what stands beside. */
export type ActFacts<K extends SignedKind> = Omit<Body<K>, keyof ActSignature | keyof ControlProof>;

export interface ActDraft<K extends SignedKind = Exclude<SignedKind, ControlledKind>> {
  readonly kind: K;
  readonly subject: string;
  readonly facts: ActFacts<K>;
}

/** An act of a human. `origin` names the project and tenant, so that a signature made in one project says nothing in another. */
export async function signAct<K extends SignedKind>(
  origin: string,
  kind: K,
  subject: string,
  facts: ActFacts<K>,
  signer: Signer,
  now: Date,
): Promise<Drafted<K>> {
  const [act] = await signActs(origin, [{ kind, subject, facts }], signer, now);
  return act as Drafted<K>;
}

/** Several acts at once: a passkey is touched once for all of them. */
export async function signActs<K extends SignedKind>(
  origin: string,
  drafts: readonly ActDraft<K>[],
  signer: Signer,
  now: Date,
): Promise<readonly Drafted<K>[]> {
  const drawn = drafts.map((draft) => drawUp(origin, draft, signer, now));
  const proofs = await signer.sign(drawn.map(({ statement }) => statement));
  if (proofs.length !== drawn.length) refuse('SIGNATURE_INVALID', 'There is not one proof for each act.');
  return drawn.map(({ kind, subject, body }, i) => {
    return { kind, subject, body: { ...body, signature: proofs[i] } } as unknown as Drafted<K>;
  });
}

/** Acts that make a key known. */
type KeyKind = 'key.enrolled' | 'credential.added';

/** The signer signs what makes a key known; then the key itself signs the same statement, in the hand of its holder. */
export async function signKeyAct<K extends KeyKind>(
  origin: string,
  { kind, subject, facts }: { kind: K; subject: string; facts: Omit<ActFacts<K>, 'own'> },
  { signer, holder }: { readonly signer: Signer; readonly holder: Signer },
  now: Date,
): Promise<Event<K>> {
  const said = facts as unknown as ActFacts<K>;
  const act = (await signAct(origin, kind, subject, said, signer, now)) as Event<K>;
  if (!signer.is_rehearsal) return withOwnProof(origin, act, holder);
  const { credential } = act.body as Body<KeyKind>;
  return withOwn(act, unsigned(credential?.kind === 'passkey' ? credential : null));
}

export async function withOwnProof<K extends KeyKind>(
  origin: string,
  act: Event<K>,
  holder: Signer,
): Promise<Event<K>> {
  const { kind, subject, body } = act;
  const [own] = await holder.sign([statementOf(origin, kind, subject, body)]);
  return withOwn(act, own ?? refuse('SIGNATURE_INVALID'));
}

function withOwn<K extends KeyKind>(act: Event<K>, own: Proof): Event<K> {
  return { ...act, body: { ...act.body, own } };
}

/** The act and its statement: what is signed. */
function drawUp<K extends SignedKind>(
  origin: string,
  { kind, subject, facts }: ActDraft<K>,
  signer: Pick<Signer, 'name' | 'public_key' | 'drawn'>,
  now: Date,
) {
  const at = signer.drawn?.at ?? now;
  const deadline = new Date(at.getTime() + limits.act_wait_s * 1000);
  const body = {
    ...facts,
    by: signer.name,
    key: signer.public_key,
    signed_at: at.toISOString(),
    deadline: deadline.toISOString(),
  };
  return { kind, subject, body, statement: statementOf(origin, kind, subject, body) };
}

/** The statement of an event: all that its human saw. What the control plane or an executor added stands beside. */
export function statementOf(origin: string, kind: SignedKind, subject: string, body: object): Uint8Array {
  const beside = besideOf(kind);
  const seen = Object.entries(body).filter(([member]) => member !== 'signature' && !beside.includes(member));
  return canonicalBytesOfParsed({
    format: 'keyturn-act/1',
    origin,
    kind,
    subject,
    body: Object.fromEntries(seen),
  });
}

/** Refuses an act whose proofs are not of the keys that it names. Whose keys those are, the fold asks. */
export function verifyAct(origin: string, act: Event<SignedKind>, keyOf: KeyOf = publicKeyOf): void {
  const { kind, subject, body } = act;
  const statement = statementOf(origin, kind, subject, body);
  const wrong = `The signature of ${body.by} on ${kind} does not verify.`;
  verifyProof(statement, body.key, body.signature, wrong, keyOf);
  if ('own' in body && body.own !== null && body.credential !== null)
    verifyProof(statement, body.credential.public_key, body.own, 'The new key did not sign its enrolment.');
}

/** Refuses a proof that is not one over these bytes by this key. */
export function verifyProof(
  bytes: Uint8Array,
  public_key: string,
  proof: Proof,
  otherwise: string,
  keyOf: KeyOf = publicKeyOf,
): void {
  if (typeof proof !== 'string') verifyAssertion(bytes, public_key, proof);
  else if (!verifyEd25519(bytes, proof, keyOf(public_key))) refuse('SIGNATURE_INVALID', otherwise);
}

/** A proposer's own signature over the hash of what they propose. It says who asks, and allows nothing. */
export async function signProposal(origin: string, hash: string, signer: Signer): Promise<Proof> {
  const [proof] = await signer.sign([proposalOf(origin, hash)]);
  return proof ?? refuse('SIGNATURE_INVALID', 'There is no signature of the proposer.');
}

/** A proposal and the act that goes with it. One call of the signer: a passkey is touched once for both. */
export async function signProposalWith<K extends SignedKind>(
  origin: string,
  hash: string,
  draft: ActDraft<K>,
  signer: Signer,
  now: Date,
): Promise<{ readonly proof: Proof; readonly act: Drafted<K> }> {
  const { kind, subject, body, statement } = drawUp(origin, draft, signer, now);
  const [proof, signature] = await signer.sign([proposalOf(origin, hash), statement]);
  if (!proof || !signature) refuse('SIGNATURE_INVALID', 'There is not one proof for each act.');
  return { proof, act: { kind, subject, body: { ...body, signature } } as unknown as Drafted<K> };
}

export function verifyProposal(
  origin: string,
  hash: string,
  proof: Proof,
  public_key: string,
  keyOf?: KeyOf,
): void {
  verifyProof(proposalOf(origin, hash), public_key, proof, UNPROPOSED, keyOf);
}

const UNPROPOSED = 'The signature of the proposer does not verify.';

/** A proposer's own signature that takes a proposal back. */
export async function signWithdrawal(withdrawal: Withdrawal, signer: Signer): Promise<Proof> {
  const [proof] = await signer.sign([withdrawalOf(withdrawal)]);
  return proof ?? refuse('SIGNATURE_INVALID', 'There is no signature of the proposer.');
}

export function verifyWithdrawal(withdrawal: Withdrawal, proof: Proof, public_key: string): void {
  verifyProof(withdrawalOf(withdrawal), public_key, proof, UNPROPOSED);
}

export interface Withdrawal {
  readonly origin: string;
  readonly intent_id: string;
  readonly hash: string;
  readonly reason: string;
}

export function withdrawalOf({ origin, intent_id, hash, reason }: Withdrawal): Uint8Array {
  return canonicalBytesOfParsed({ format: 'keyturn-withdrawal/1', origin, intent_id, hash, reason });
}

/** What a proposer signs. */
export function proposalOf(origin: string, hash: string): Uint8Array {
  return canonicalBytesOfParsed({ format: 'keyturn-proposal/1', origin, hash });
}
