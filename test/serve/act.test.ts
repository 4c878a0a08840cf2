import { describe, expect, it } from 'vitest';
import { human } from '../journey/authority.ts';
import { sizeOf } from '../support/ledger.ts';
import { passkeySigner, softPasskey } from '../support/passkey.ts';
import { acted, call, proved, refusalIn, SAY, type Service, service, session } from './service.ts';

async function proposed(s: Service) {
  const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
  return { intent_id: body.intent_id as string, hash: body.hash as string };
}

const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

describe('an act over HTTP', () => {
  it('is first a draft that changes nothing, with what is signed and until when', async () => {
    const s = await service();
    const cookie = await session(s);
    const size = await sizeOf(s.keyturn);
    const drawn = await call(s, '/v1/system/freeze', { request: FREEZE, by: 'ada' }, { cookie });
    expect(drawn).toMatchObject({
      status: 202,
      body: {
        draft: { by: 'ada', key: s.ada.public_key },
        digests: [expect.stringMatching(/^[0-9a-f]{64}$/)],
      },
    });
    expect(JSON.parse(drawn.body.draft.statements[0]).body.deadline).toBe(drawn.body.deadline);
    expect(await sizeOf(s.keyturn)).toBe(size);
  });

  it('is finished by the proof of a key file, and of a passkey', async () => {
    const s = await service();
    const cookie = await session(s);
    expect((await acted(s, '/v1/system/freeze', FREEZE, s.ada, cookie)).status).toBe(200);
    const passkey = softPasskey();
    const holder = passkeySigner('ada', passkey);
    const request = { name: 'ada', credential: passkey.credential, reason: 'a phone' };
    const at = '/v1/people/addCredential';
    const shown = { name: 'ada', public_key: holder.public_key };
    const drawn = await call(s, at, { request, by: 'ada', holder: shown }, { cookie });
    expect(drawn.status).toBe(202);
    const finished = {
      request,
      draft: drawn.body.draft,
      proofs: await proved(drawn, s.ada),
      holder: { ...shown, proofs: await proved(drawn, holder) },
    };
    expect(await call(s, at, finished, { cookie })).toMatchObject({ status: 200, body: { name: 'ada' } });
    expect((await acted(s, '/v1/system/unfreeze', FREEZE, holder, cookie)).status).toBe(200);
    const intent = await proposed(s);
    expect((await acted(s, '/v1/intents/approve', intent, holder, cookie)).status).toBe(200);
  });

  it('finished twice, with a proof of another draft, of another human or of another request is refused', async () => {
    const s = await service();
    const cookie = await session(s);
    const bo = await human(s, 'bo');
    const draft = async (request: object, path = '/v1/system/freeze') =>
      call(s, path, { request, by: 'ada', key: s.ada.public_key }, { cookie });
    const [one, two] = [await draft(FREEZE), await draft({ ...FREEZE, name: 'wait' })];
    const finish = (request: object, drawn: typeof one, proofs: unknown) =>
      call(s, '/v1/system/freeze', { request, draft: drawn.body.draft, proofs }, { cookie });
    const [proofs, others] = [await proved(one, s.ada), await proved(two, s.ada)];
    expect(refusalIn(await finish(FREEZE, one, others))).toEqual([403, 'SIGNATURE_INVALID']);
    expect(refusalIn(await finish(FREEZE, one, await proved(one, bo)))).toEqual([403, 'SIGNATURE_INVALID']);
    expect(refusalIn(await finish({ ...FREEZE, name: 'wait' }, one, proofs))).toEqual([409, 'ACT_CHANGED']);
    expect((await finish(FREEZE, one, proofs)).status).toBe(200);
    expect(refusalIn(await finish(FREEZE, one, proofs))).toEqual([403, 'FROZEN_ALREADY']);
  });

  it('of a turn is finished once', async () => {
    const s = await service();
    const cookie = await session(s);
    const request = await proposed(s);
    const at = '/v1/intents/turn';
    const drawn = await call(s, at, { request, by: 'ada' }, { cookie });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect((await call(s, at, finished, { cookie })).status).toBe(200);
    expect((await call(s, at, finished, { cookie })).status).toBeGreaterThanOrEqual(400);
    const { capabilities } = await s.keyturn.intents.get({ intent_id: request.intent_id });
    expect(capabilities).toHaveLength(1);
  });

  it('of a turn holds although another human approved meanwhile, who counts with its human', async () => {
    const s = await service();
    const cookie = await session(s);
    const bob = await human(s, 'bob');
    const request = await proposed(s);
    const at = '/v1/intents/turn';
    const drawn = await call(s, at, { request, by: 'ada' }, { cookie });
    await s.keyturn.intents.approve({ ...request, signer: bob });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect((await call(s, at, finished, { cookie })).status).toBe(200);
    const { approvals, capabilities } = await s.keyturn.intents.get({ intent_id: request.intent_id });
    expect(approvals.map(({ by }) => by)).toEqual(['bob', 'ada']);
    expect(capabilities.map(({ approvers }) => approvers.map(({ name }) => name))).toEqual([['ada', 'bob']]);
  });

  it('of an edit signs the proposal and the act together', async () => {
    const s = await service();
    const cookie = await session(s);
    const { intent_id } = await proposed(s);
    const nonce = Buffer.alloc(16, 7).toString('base64');
    const request = { intent_id, arguments: { word: 'bye' }, nonce };
    const drawn = await call(s, '/v1/intents/edit', { request, by: 'ada' }, { cookie });
    expect(drawn).toMatchObject({ status: 202, body: { deadline: expect.any(String) } });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect(await call(s, '/v1/intents/edit', finished, { cookie })).toMatchObject({
      status: 200,
      body: { replaces: intent_id, proposer: 'ada' },
    });
  });

  it('that is late is refused', async () => {
    const s = await service();
    const cookie = await session(s);
    const drawn = await call(s, '/v1/system/freeze', { request: FREEZE, by: 'ada' }, { cookie });
    const late = (text: string) => new Date(Date.parse(text) - 121_000).toISOString();
    const { draft } = drawn.body;
    const statement = JSON.parse(draft.statements[0]);
    const { signed_at, deadline } = statement.body;
    const older = draft.statements[0].replace(signed_at, late(signed_at)).replace(deadline, late(deadline));
    const aged = { ...draft, at: late(draft.at), statements: [older] };
    const proofs = await s.ada.sign([Buffer.from(older)]);
    const told = await call(s, '/v1/system/freeze', { request: FREEZE, draft: aged, proofs }, { cookie });
    expect(refusalIn(told)).toEqual([409, 'ACT_LATE']);
  });

  it('takes nothing that only a program can give', async () => {
    const s = await service();
    const cookie = await session(s);
    const request = { ...FREEZE, signer: { name: 'ada' } };
    expect(refusalIn(await call(s, '/v1/system/freeze', { request, by: 'ada' }, { cookie }))).toEqual([
      400,
      'SHAPE_INVALID',
    ]);
    const unknown = await call(s, '/v1/system/freeze', { request: FREEZE, by: 'eve' }, { cookie });
    expect(refusalIn(unknown)).toEqual([404, 'PRINCIPAL_UNKNOWN']);
  });
});
