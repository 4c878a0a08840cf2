import { describe, expect, it, vi } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { human } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { sizeOf } from '../support/ledger.ts';
import { registration } from '../support/passkey.ts';
import { made, opened, passkeyAt, signedOwn, touching, vouched } from './enrol.ts';
import { acted, call, refusalIn, type Service, type Shown, service, session, shownIn } from './service.ts';
import { callSigned } from './signed.ts';

vi.setConfig({ testTimeout: 100_000 });

const PHONE = { name: 'ada', label: 'phone', reason: 'a new phone' };
const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

/** A passkey that has signed and waits for a human to vouch for it. */
async function pending(s: Service, cookie: Shown, asked: object = PHONE) {
  const { link, told } = await opened(s, cookie, asked);
  const passkey = passkeyAt(s);
  expect((await made(s, link, passkey)).status).toBe(200);
  expect((await signedOwn(s, link, passkey)).body).toEqual({ status: 'signed' });
  return { link, passkey, enrolment_id: told.body.enrolment_id as string };
}

describe('the enrolment of a passkey over HTTP', () => {
  it('is two touches, and counts once an existing credential has signed', async () => {
    const s = await service();
    const cookie = await session(s);
    const size = await sizeOf(s.keyturn);
    const { link, passkey, enrolment_id } = await pending(s, cookie);
    expect(await sizeOf(s.keyturn)).toBe(size);
    const phone = touching(s, 'ada', passkey);
    const early = await acted(s, '/v1/system/freeze', FREEZE, phone, cookie);
    expect(refusalIn(early)).toEqual([403, 'KEY_FILE_INVALID']);
    expect(await vouched(s, cookie, enrolment_id, s.ada)).toMatchObject({
      status: 200,
      body: { name: 'ada', label: 'phone', by: 'ada', reason: 'a new phone' },
    });
    expect((await call(s, '/v1/enrolments/status', { link })).body).toEqual({ status: 'enrolled' });
    expect((await acted(s, '/v1/system/freeze', FREEZE, phone, cookie)).status).toBe(200);
    const { body } = await call(s, '/v1/people/credentials', { name: 'ada' }, { cookie });
    expect(body.credentials).toMatchObject([
      { label: 'key file' },
      { label: 'phone', passkey: { rp_id: 'localhost', origins: [s.address] } },
    ]);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('is vouched for by another passkey as well, and the phone is revoked by it', async () => {
    const s = await service();
    const cookie = await session(s);
    const first = await pending(s, cookie);
    await vouched(s, cookie, first.enrolment_id, s.ada);
    const phone = touching(s, 'ada', first.passkey);
    const second = await pending(s, cookie, { ...PHONE, label: 'laptop', key: phone.public_key });
    expect((await vouched(s, cookie, second.enrolment_id, phone)).status).toBe(200);
    const laptop = touching(s, 'ada', second.passkey);
    const revoked = { name: 'ada', public_key: phone.public_key, reason: 'lost' };
    expect((await acted(s, '/v1/people/revokeCredential', revoked, laptop, cookie)).status).toBe(200);
    expect(refusalIn(await acted(s, '/v1/system/freeze', FREEZE, phone, cookie))).toEqual([
      403,
      'KEY_REVOKED',
    ]);
  });

  it('brings a new human, whom another one vouches for', async () => {
    const s = await service();
    const cookie = await session(s);
    const asked = { kind: 'person', name: 'bo', label: 'phone', by: 'ada', roles: ['ops'] };
    const { passkey, enrolment_id } = await pending(s, cookie, asked);
    expect(await vouched(s, cookie, enrolment_id, s.ada)).toMatchObject({
      status: 200,
      body: { name: 'bo', kind: 'human', roles: ['ops'], by: 'ada' },
    });
    const bo = touching(s, 'bo', passkey);
    expect((await acted(s, '/v1/system/freeze', FREEZE, bo, cookie)).status).toBe(200);
  });

  it('is finished by nobody but the credential that it names, and once', async () => {
    const s = await service();
    const cookie = await session(s);
    const bo = await human(s, 'bo');
    const one = await pending(s, cookie);
    const two = await pending(s, cookie, { ...PHONE, label: 'laptop' });
    expect(refusalIn(await vouched(s, cookie, one.enrolment_id, bo))).toEqual([403, 'SIGNATURE_INVALID']);
    const itself = touching(s, 'ada', one.passkey);
    expect(refusalIn(await vouched(s, cookie, one.enrolment_id, itself))).toEqual([403, 'SIGNATURE_INVALID']);
    const { body } = await call(s, '/v1/enrolments/list', { enrolment_id: two.enrolment_id }, { cookie });
    const proofs = await s.ada.sign([Buffer.from(body.enrolments[0].pending.draft.statements[0])]);
    const crossed = { enrolment_id: one.enrolment_id, proofs };
    expect(refusalIn(await call(s, '/v1/enrolments/finish', crossed, { cookie }))).toEqual([
      403,
      'SIGNATURE_INVALID',
    ]);
    const finish = { enrolment_id: two.enrolment_id, proofs };
    expect((await call(s, '/v1/enrolments/finish', finish, { cookie })).status).toBe(200);
    expect(refusalIn(await call(s, '/v1/enrolments/finish', finish, { cookie }))).toEqual([
      404,
      'ENROLMENT_UNKNOWN',
    ]);
  });

  it('takes no touch for another enrolment, in another place, or by another key', async () => {
    const s = await service();
    const cookie = await session(s);
    const { link } = await opened(s, cookie, PHONE);
    const other = await opened(s, cookie, PHONE);
    const passkey = passkeyAt(s);
    const foreign = await call(s, '/v1/enrolments/begin', { link: other.link });
    const answer = registration(passkey, foreign.body.options.challenge, s.address);
    const post = (step: string, more: object) => call(s, `/v1/enrolments/${step}`, { link, ...more });
    expect(refusalIn(await post('made', { answer }))).toEqual([403, 'PASSKEY_INVALID']);
    expect(refusalIn(await made(s, link, passkey, { origin: 'http://localhost:1' }))).toEqual([
      403,
      'PASSKEY_ORIGIN',
    ]);
    expect(refusalIn(await made(s, link, passkey, { crossOrigin: true }))).toEqual([403, 'PASSKEY_ORIGIN']);
    expect(refusalIn(await post('draft', {}))).toEqual([403, 'PASSKEY_INVALID']);
    expect((await made(s, link, passkey)).status).toBe(200);
    expect(refusalIn(await post('begin', {}))).toEqual([403, 'PASSKEY_INVALID']);
    const proof = { authenticator_data: 'AAAA', client_data: 'AAAA', signature: 'AAAA', touch: null };
    expect(refusalIn(await post('sign', { proof }))).toEqual([409, 'ACT_CHANGED']);
    expect(refusalIn(await signedOwn(s, link, passkeyAt(s)))).toEqual([403, 'SIGNATURE_INVALID']);
    const elsewhere = { client: { origin: 'http://localhost:1' } };
    expect(refusalIn(await signedOwn(s, link, passkey, elsewhere))).toEqual([403, 'PASSKEY_ORIGIN']);
    expect((await signedOwn(s, link, passkey)).body).toEqual({ status: 'signed' });
    // A statement that is drawn up again has not been signed.
    await post('draft', {});
    expect((await post('status', {})).body).toEqual({ status: 'open' });
  });

  it('is begun by a human alone, and its link is of no other use', async () => {
    const s = await service();
    const cookie = await session(s);
    const { token } = s;
    expect(refusalIn(await call(s, '/v1/enrolments/open', PHONE, { token }))).toEqual([
      403,
      'NOT_FOR_AGENTS',
    ]);
    expect(refusalIn(await call(s, '/v1/enrolments/open', PHONE))).toEqual([401, 'CALLER_UNPROVEN']);
    const { link, told } = await opened(s, cookie, PHONE);
    expect(refusalIn(await call(s, '/v1/session', { link }))).toEqual([401, 'LINK_SPENT']);
    const page = { headers: { origin: 'http://localhost:1' } };
    expect(refusalIn(await call(s, '/v1/enrolments/begin', { link }, page))).toEqual([403, 'ORIGIN_FOREIGN']);
    const { enrolment_id } = told.body;
    expect((await call(s, '/v1/enrolments/drop', { enrolment_id }, { cookie })).status).toBe(200);
    for (const [step, body] of [
      ['begin', { link }],
      ['begin', { link: 'x' }],
    ] as const)
      expect(refusalIn(await call(s, `/v1/enrolments/${step}`, body))).toEqual([404, 'ENROLMENT_UNKNOWN']);
    const nobody = { ...PHONE, name: 'eve' };
    expect(refusalIn((await opened(s, cookie, nobody)).told)).toEqual([404, 'PRINCIPAL_UNKNOWN']);
    expect(refusalIn((await opened(s, cookie, { ...PHONE, more: 1 })).told)).toEqual([400, 'SHAPE_INVALID']);
  });

  it('is ended by the two whom it names and by who opened the link of the service, and by no other human', async () => {
    const s = await service();
    const bo = await human(s, 'bo');
    const { told } = await opened(s, await session(s), PHONE);
    const { enrolment_id } = told.body;
    const drop = (key: OpenKey) => callSigned(s, key, '/v1/enrolments/drop', { enrolment_id });
    expect(refusalIn(await drop(bo))).toEqual([403, 'CALLER_OTHER']);
    expect((await drop(s.ada as OpenKey)).status).toBe(200);
    expect(refusalIn(await drop(s.ada as OpenKey))).toEqual([404, 'ENROLMENT_UNKNOWN']);
  });

  it('is also that of a key in a file, which signed before, and counts once it is vouched for', async () => {
    const s = await service();
    const cookie = await session(s);
    const key = freshSigner('ada');
    const { public_key } = key;
    const asked = {
      name: 'ada',
      label: 'laptop',
      reason: 'for the terminal',
      by: 'ada',
      key: s.ada.public_key,
    };
    const credential = { kind: 'key' as const, public_key, label: 'laptop' };
    const draft = await s.keyturn.draft(s.ada, (signer) =>
      s.keyturn.people.addCredential({
        name: 'ada',
        credential,
        reason: asked.reason,
        signer,
        holder: key,
      }),
    );
    const [proof] = await key.sign(draft.statements.map((one) => Buffer.from(one)));
    const [foreign] = await s.ada.sign(draft.statements.map((one) => Buffer.from(one)));
    const good = { public_key, draft, proof };
    const open = async (made: object, more = {}) =>
      (await opened(s, cookie, { ...asked, ...more, made })).told;
    expect(refusalIn(await open({ ...good, proof: foreign }))).toEqual([403, 'SIGNATURE_INVALID']);
    expect((await open({ ...good, public_key: 'x' })).status).toBeLessThan(500);
    for (const wrong of [
      { ...good, draft: { ...draft, by: 'bo' } },
      { ...good, draft: { ...draft, key: public_key } },
      { ...good, draft: { ...draft, statements: [...draft.statements, '{}'] } },
    ])
      expect(refusalIn(await open(wrong))).toEqual([400, 'SHAPE_INVALID']);
    expect(refusalIn(await open(good, { kind: 'person' }))).toEqual([400, 'SHAPE_INVALID']);
    // What was signed is compared with what would be signed now.
    const other = await open(good, { reason: 'for something else' });
    expect(refusalIn(await vouched(s, cookie, other.body.enrolment_id, s.ada))).toEqual([409, 'ACT_CHANGED']);
    const { body } = await open(good);
    // A session opens no other session, which could outlive it and the key that opened it.
    expect(body.link).toBe(`${s.address}/#/people`);
    const made = { ...asked, made: good };
    const bySigner = await callSigned(s, s.ada as OpenKey, '/v1/enrolments/open', made);
    const [, link] = /\/#link=(\S+)&to=people$/.exec(bySigner.body.link)!;
    const shown = shownIn(await call(s, '/v1/session', { link }));
    expect((await call(s, '/v1/people/list', {}, { cookie: shown })).status).toBe(200);
    expect((await vouched(s, cookie, body.enrolment_id, s.ada)).status).toBe(200);
    const told = await call(s, '/v1/people/credentials', { name: 'ada' }, { cookie });
    expect(told.body.credentials).toMatchObject([{ label: 'key file' }, { label: 'laptop', public_key }]);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('adds nothing to the name of another human who can act', async () => {
    const s = await service();
    await human(s, 'bo');
    const cookie = await session(s);
    const { link } = await opened(s, cookie, { ...PHONE, by: 'bo' });
    await made(s, link, passkeyAt(s));
    expect(refusalIn(await call(s, '/v1/enrolments/draft', { link }))).toEqual([403, 'CREDENTIAL_FOREIGN']);
  });
});
