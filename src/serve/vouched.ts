import type * as z from 'zod';
import {
  type Draft,
  type Keyturn,
  keyCredential,
  type NewCredential,
  type Proof,
  requireMadeBy,
  verifyProof,
} from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import { type ActCaller, drawAct, finishAct, keyOf } from './act.ts';
import type { KeptCeremony } from './enrolment.ts';
import type { enrolmentAsked } from './enrolment-shape.ts';
import type { Route } from './route.ts';

type Asked = z.output<typeof enrolmentAsked>;

/** A passkey, or a key, that counts once a credential that counts already has signed for it, too. */
export interface Vouched extends KeptCeremony {
  readonly asked: Asked;
  readonly by: string;
  readonly key: string;
  /** The key that was made elsewhere; null where a passkey is made. */
  readonly public_key: string | null;
  /** What is to be signed by the one who vouches; null until the passkey, or the key, has signed the same. */
  pending(): Draft | null;
  /** The verb that is finished, and what it answered. */
  finish(proofs: readonly Proof[], caller: ActCaller): Promise<{ route: Route; value: unknown }>;
}

interface Drawn {
  readonly draft: Draft;
  readonly credential: NewCredential;
  readonly own: Proof | null;
}

/** All that is kept between two steps. */
interface Kept {
  readonly asked: Asked;
  readonly by: string;
  readonly key: string;
  /** Who opened it. */
  readonly caller: ActCaller;
  drawn: Drawn | null;
  is_enrolled: boolean;
}

/** The human who vouches is named at the beginning: the statement, which both sign, says who that is and by which key. */
export async function vouchedFor(
  keyturn: Keyturn,
  routes: ReadonlyMap<string, Route>,
  asked: Asked,
  caller: ActCaller,
): Promise<Vouched> {
  const { by = asked.name } = asked;
  const key = asked.key ?? (await keyOf(keyturn, by));
  if (caller.name !== null && caller.name !== by) refuse('CALLER_OTHER', `You are not "${by}".`);
  const drawn = drawnElsewhere(asked, by, key);
  return vouchedFrom(keyturn, routes, { asked, by, key, caller, drawn, is_enrolled: false });
}

/** What a terminal drew up for the key that it made. Only who has that key could sign it; the finish draws it up again and compares. */
function drawnElsewhere({ kind, label, made }: Asked, by: string, key: string): Drawn | null {
  if (made === undefined) return null;
  const { public_key, draft, proof: own } = made;
  const [statement, ...others] = draft.statements;
  if (kind !== 'credential' || draft.by !== by || draft.key !== key || others.length > 0)
    refuse('SHAPE_INVALID', 'This is no draft of a further key.');
  verifyProof(Buffer.from(statement!, 'utf8'), public_key, own, 'The new key did not sign its enrolment.');
  return { draft, credential: keyCredential(public_key, label), own };
}

/** The same ceremony, from what was kept of it. */
export function vouchedFrom(keyturn: Keyturn, routes: ReadonlyMap<string, Route>, before: object): Vouched {
  const kept = { ...(before as Kept) };
  const { asked, by, key, caller } = kept;
  const { kind, name, label } = asked;
  const route = routes.get(kind === 'person' ? 'people.enrol' : 'people.addCredential')!;
  const requestFor = (credential: NewCredential) => {
    if (kind !== 'person') return { name, credential, reason: asked.reason };
    const { kind: _, ...passkey } = credential;
    return { name, principal: 'human', passkey, roles: asked.roles ?? [] };
  };
  const holderOf = ({ public_key }: NewCredential) => ({ name, public_key });
  return {
    kept: () => kept,
    asked,
    name,
    label,
    by,
    key,
    public_key: asked.made?.public_key ?? null,
    known: async () => {
      const { principals } = await keyturn.people.list();
      const mine = principals.find((one) => one.name === name)?.credentials ?? [];
      return mine.flatMap((one) => (one.kind === 'passkey' ? [one.credential_id] : []));
    },
    draw: async (passkey) => {
      const credential: NewCredential = { ...passkey, kind: 'passkey' };
      const request = requestFor(credential);
      const made = await drawAct(keyturn, route, { request, by, key, holder: holderOf(credential) }, caller);
      kept.drawn = { draft: made.draft, credential, own: null };
      return made.draft;
    },
    prove: async ([own, ...others]) => {
      const { drawn } = kept;
      if (drawn === null) refuse('ACT_CHANGED', 'Nothing was drawn up to sign.');
      if (own === undefined || others.length > 0)
        refuse('SIGNATURE_INVALID', 'There is one statement to sign.');
      const { draft, credential } = drawn;
      const statement = Buffer.from(draft.statements[0]!, 'utf8');
      verifyProof(statement, credential.public_key, own, 'The new key did not sign its enrolment.');
      requireMadeBy(credential, own);
      kept.drawn = { ...drawn, own };
    },
    status: () => (kept.is_enrolled ? 'enrolled' : kept.drawn?.own ? 'signed' : 'open'),
    pending: () => (!kept.is_enrolled && kept.drawn?.own ? kept.drawn.draft : null),
    finish: async (proofs, finisher) => {
      const { drawn } = kept;
      if (kept.is_enrolled || !drawn?.own) refuse('ENROLMENT_UNKNOWN', 'Nothing waits to be vouched for.');
      const { draft, credential, own } = drawn;
      const holder = { ...holderOf(credential), proofs: [own] };
      const drawn_up = { ...draft, statements: [...draft.statements] };
      const done = { request: requestFor(credential), draft: drawn_up, proofs: [...proofs], holder };
      const value = await finishAct(keyturn, route, done, finisher);
      kept.is_enrolled = true;
      return { route, value };
    },
  };
}
