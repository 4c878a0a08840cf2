import type * as z from 'zod';
import {
  type Draft,
  type Keyturn,
  type NewCredential,
  type Passkey,
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

/** A passkey that counts once a credential that counts already has signed for it, too. */
export interface Vouched extends KeptCeremony {
  readonly asked: Asked;
  readonly by: string;
  readonly key: string;
  /** What is to be signed by the one who vouches; null until the passkey has signed the same. */
  pending(): Draft | null;
  /** The verb that is finished, and what it answered. */
  finish(proofs: readonly Proof[], caller: ActCaller): Promise<{ route: Route; value: unknown }>;
}

interface Drawn {
  readonly draft: Draft;
  readonly passkey: Passkey;
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
  return vouchedFrom(keyturn, routes, { asked, by, key, caller, drawn: null, is_enrolled: false });
}

/** The same ceremony, from what was kept of it. */
export function vouchedFrom(keyturn: Keyturn, routes: ReadonlyMap<string, Route>, before: object): Vouched {
  const kept = { ...(before as Kept) };
  const { asked, by, key, caller } = kept;
  const { kind, name, label } = asked;
  const route = routes.get(kind === 'person' ? 'people.enrol' : 'people.addCredential')!;
  const credential = (passkey: Passkey): NewCredential => ({ ...passkey, kind: 'passkey' });
  const requestFor = (passkey: Passkey) =>
    kind === 'person'
      ? { name, principal: 'human', passkey, roles: asked.roles ?? [] }
      : { name, credential: credential(passkey), reason: asked.reason };
  const holderOf = ({ public_key }: Passkey) => ({ name, public_key });
  return {
    kept: () => kept,
    asked,
    name,
    label,
    by,
    key,
    known: async () => {
      const { principals } = await keyturn.people.list();
      const mine = principals.find((one) => one.name === name)?.credentials ?? [];
      return mine.flatMap((one) => (one.kind === 'passkey' ? [one.credential_id] : []));
    },
    draw: async (passkey) => {
      const request = requestFor(passkey);
      const made = await drawAct(keyturn, route, { request, by, key, holder: holderOf(passkey) }, caller);
      kept.drawn = { draft: made.draft, passkey, own: null };
      return made.draft;
    },
    prove: async ([own, ...others]) => {
      const { drawn } = kept;
      if (drawn === null) refuse('ACT_CHANGED', 'Nothing was drawn up to sign.');
      if (own === undefined || others.length > 0)
        refuse('SIGNATURE_INVALID', 'There is one statement to sign.');
      const { draft, passkey } = drawn;
      const statement = Buffer.from(draft.statements[0]!, 'utf8');
      verifyProof(statement, passkey.public_key, own, 'The new key did not sign its enrolment.');
      requireMadeBy(credential(passkey), own);
      kept.drawn = { ...drawn, own };
    },
    status: () => (kept.is_enrolled ? 'enrolled' : kept.drawn?.own ? 'signed' : 'open'),
    pending: () => (!kept.is_enrolled && kept.drawn?.own ? kept.drawn.draft : null),
    finish: async (proofs, finisher) => {
      const { drawn } = kept;
      if (kept.is_enrolled || !drawn?.own) refuse('ENROLMENT_UNKNOWN', 'Nothing waits to be vouched for.');
      const { draft, passkey, own } = drawn;
      const holder = { ...holderOf(passkey), proofs: [own] };
      const drawn_up = { ...draft, statements: [...draft.statements] };
      const done = { request: requestFor(passkey), draft: drawn_up, proofs: [...proofs], holder };
      const value = await finishAct(keyturn, route, done, finisher);
      kept.is_enrolled = true;
      return { route, value };
    },
  };
}
