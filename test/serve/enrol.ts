import type { Signer } from '../../src/keyturn.ts';
import { digestOf, type Wish } from '../identity/authenticator.ts';
import { registration, type SoftPasskey, softPasskey, touch } from '../support/passkey.ts';
import { call, type Service, type Shown, type Told } from './service.ts';

/** A passkey in software that is made for, and used at, the address of this service. */
export function passkeyAt({ address }: Pick<Service, 'address'>, label = 'phone'): SoftPasskey {
  return softPasskey({ rp_id: 'localhost', origins: [address], label });
}

export const atService = ({ address }: Pick<Service, 'address'>, more: Wish = {}): Wish => ({
  rp_id: 'localhost',
  ...more,
  client: { origin: address, ...more.client },
});

/** The passkey as a signer of acts. */
export function touching(s: Pick<Service, 'address'>, name: string, passkey: SoftPasskey): Signer {
  const { public_key } = passkey.credential;
  return { name, public_key, sign: async (all) => touch(passkey, all, withList(all, atService(s))) };
}

function withList(statements: readonly Uint8Array[], wish: Wish): Wish {
  return statements.length === 1
    ? wish
    : { ...wish, touch: statements.map((one) => digestOf(Buffer.from(one))) };
}

export async function opened(
  s: Service,
  cookie: Shown,
  asked: object,
): Promise<{ link: string; told: Told }> {
  const told = await call(s, '/v1/enrolments/open', asked, { cookie });
  const link = String(told.body?.link ?? '').split('#link=')[1] ?? '';
  return { link, told };
}

/** The first touch. */
export async function made(s: Service, link: string, passkey: SoftPasskey, other = {}): Promise<Told> {
  const { body } = await call(s, '/v1/enrolments/begin', { link });
  const answer = registration(passkey, body.options.challenge, s.address, other);
  return call(s, '/v1/enrolments/made', { link, answer });
}

/** The second touch: the passkey signs its own enrolment. */
export async function signedOwn(
  s: Service,
  link: string,
  passkey: SoftPasskey,
  wish: Wish = {},
): Promise<Told> {
  const { body } = await call(s, '/v1/enrolments/draft', { link });
  const all = (body.statements as string[]).map((one) => Buffer.from(one));
  const [proof] = touch(passkey, all, withList(all, atService(s, wish)));
  return call(s, '/v1/enrolments/sign', { link, proof });
}

/** The human who vouches signs what waits. */
export async function vouched(
  s: Service,
  cookie: Shown,
  enrolment_id: string,
  signer: Signer,
): Promise<Told> {
  const { body } = await call(s, '/v1/enrolments/list', { enrolment_id }, { cookie });
  const { pending } = body.enrolments[0];
  const statements = (pending?.draft.statements ?? ['{}']) as string[];
  const proofs = await signer.sign(statements.map((one) => Buffer.from(one)));
  return call(s, '/v1/enrolments/finish', { enrolment_id, proofs }, { cookie });
}
