import { describe, expect, it, vi } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { human } from '../journey/authority.ts';
import { softPasskey, touch } from '../support/passkey.ts';
import { call, refusalIn, SAY, type Service, service, session } from './service.ts';
import { callSigned } from './signed.ts';

vi.setConfig({ testTimeout: 100_000 });

async function proposed(s: Service, word: string) {
  const effect = { ...SAY.effect, arguments: { word } };
  const { body } = await call(s, '/v1/intents/propose', { ...SAY, effect }, { token: s.token });
  return { intent_id: body.intent_id as string, hash: body.hash as string };
}

/** Ada with a passkey that was enrolled in this process. */
async function withPasskey(s: Service) {
  const passkey = softPasskey();
  const { credential } = passkey;
  const holder = {
    name: 'ada',
    public_key: credential.public_key,
    sign: async (all: readonly Uint8Array[]) => touch(passkey, all),
  };
  const asked = { name: 'ada', credential, reason: 'a phone', signer: s.ada, holder };
  await s.keyturn.people.addCredential(asked);
  return { passkey, key: credential.public_key };
}

type Drawn = { verb: string; request: object; draft: { statements: string[] } };

const bytesIn = (drawn: readonly Drawn[]) =>
  drawn.flatMap(({ draft }) => draft.statements).map((one) => Buffer.from(one));

describe('several acts in one touch', () => {
  it('are one finish with one assertion, and each entry verifies alone', async () => {
    const s = await service();
    const cookie = await session(s);
    const { passkey, key } = await withPasskey(s);
    const [one, two] = [await proposed(s, 'one'), await proposed(s, 'two')];
    const acts = [
      { verb: 'intents.approve', request: one },
      { verb: 'intents.reject', request: { ...two, reason: 'not this one' } },
      { verb: 'system.freeze', request: { scope: 'tool', name: 'wait', reason: 'a look' } },
    ];
    const { status, body } = await call(s, '/v1/acts/draft', { by: 'ada', key, acts }, { cookie });
    expect([status, body.digests.length, body.drawn.length]).toEqual([202, 3, 3]);
    const statements = bytesIn(body.drawn);
    const [proof] = touch(passkey, statements);
    expect(JSON.parse(Buffer.from(proof!.client_data, 'base64url').toString()).challenge).toBe(
      body.challenge,
    );
    const done = await call(s, '/v1/acts/finish', { acts: body.drawn, proofs: proof }, { cookie });
    expect(done.body.results).toMatchObject([
      { verb: 'intents.approve', ok: true, result: { by: 'ada', intent_id: one.intent_id } },
      { verb: 'intents.reject', ok: true, result: { reason: 'not this one' } },
      { verb: 'system.freeze', ok: true },
    ]);
    const again = await call(s, '/v1/acts/finish', { acts: body.drawn, proofs: proof }, { cookie });
    expect(again.body.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, false, false]);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('are refused alone: what went stale, and what nobody may, keeps no other back', async () => {
    const s = await service();
    const cookie = await session(s);
    const { passkey, key } = await withPasskey(s);
    const [one, two] = [await proposed(s, 'one'), await proposed(s, 'two')];
    const unknown = { intent_id: '00000000-0000-4000-8000-000000000000', hash: one.hash };
    const acts = [one, unknown, two].map((request) => ({ verb: 'intents.approve', request }));
    const { body } = await call(s, '/v1/acts/draft', { by: 'ada', key, acts }, { cookie });
    expect(body.drawn[1].problem.code).toBe('INTENT_NOT_FOUND');
    const drawn = (body.drawn as Drawn[]).filter((each) => each.draft);
    const [proof] = touch(passkey, bytesIn(drawn));
    await s.keyturn.intents.reject({ ...one, reason: 'meanwhile', signer: s.ada });
    const done = await call(s, '/v1/acts/finish', { acts: drawn, proofs: proof }, { cookie });
    expect(done.body.results).toMatchObject([
      { ok: false, problem: { code: 'INTENT_REJECTED' } },
      { ok: true, result: { intent_id: two.intent_id } },
    ]);
  });

  it('take no proof of another list, order or human', async () => {
    const s = await service();
    const cookie = await session(s);
    const { passkey, key } = await withPasskey(s);
    const [one, two] = [await proposed(s, 'one'), await proposed(s, 'two')];
    const acts = [one, two].map((request) => ({ verb: 'intents.approve', request }));
    const { body } = await call(s, '/v1/acts/draft', { by: 'ada', key, acts }, { cookie });
    const statements = bytesIn(body.drawn);
    const [reversed] = touch(passkey, statements.toReversed());
    const other = softPasskey();
    const wrong = [{ ...reversed!, touch: reversed!.touch!.toReversed() }, touch(other, statements)[0]!];
    for (const proofs of wrong) {
      const told = await call(s, '/v1/acts/finish', { acts: body.drawn, proofs }, { cookie });
      expect(told.body.results).toMatchObject([1, 2].map(() => ({ problem: { code: 'SIGNATURE_INVALID' } })));
    }
    const [first] = touch(passkey, [statements[0]!]);
    const told = await call(s, '/v1/acts/finish', { acts: body.drawn, proofs: first }, { cookie });
    expect(told.body.results).toMatchObject([{ ok: true }, { problem: { code: 'SIGNATURE_INVALID' } }]);
  });

  it('are signed by a key file one by one, and asked for in the own name', async () => {
    const s = await service();
    const bo = (await human(s, 'bo')) as OpenKey;
    const [one, two] = [await proposed(s, 'one'), await proposed(s, 'two')];
    const acts = [one, two].map((request) => ({ verb: 'intents.approve', request }));
    const { body } = await callSigned(s, bo, '/v1/acts/draft', { by: 'bo', acts });
    const proofs = await bo.sign(bytesIn(body.drawn));
    const short = { acts: body.drawn, proofs: proofs.slice(1) };
    expect(refusalIn(await callSigned(s, bo, '/v1/acts/finish', short))).toEqual([403, 'SIGNATURE_INVALID']);
    const done = await callSigned(s, bo, '/v1/acts/finish', { acts: body.drawn, proofs });
    expect(done.body.results).toMatchObject([{ ok: true }, { ok: true }]);
    const named = await callSigned(s, bo, '/v1/acts/draft', { by: 'ada', acts });
    expect(named.body.drawn).toMatchObject([1, 2].map(() => ({ problem: { code: 'CALLER_OTHER' } })));
  });

  it('are acts, each once, and not of an agent', async () => {
    const s = await service();
    const cookie = await session(s);
    const one = await proposed(s, 'one');
    const post = (acts: object[], shown: object = { cookie }) =>
      call(s, '/v1/acts/draft', { by: 'ada', acts }, shown);
    const approve = { verb: 'intents.approve', request: one };
    expect(refusalIn(await post([approve, approve]))).toEqual([400, 'SHAPE_INVALID']);
    expect(refusalIn(await post([approve], { token: s.token }))).toEqual([403, 'NOT_FOR_AGENTS']);
    expect(refusalIn(await post([]))).toEqual([400, 'SHAPE_INVALID']);
    for (const verb of ['intents.list', 'system.gc', 'no.such'])
      expect((await post([{ verb, request: {} }])).body).toMatchObject({
        drawn: [{ problem: { code: 'ROUTE_UNKNOWN' } }],
        challenge: '',
        deadline: null,
      });
    const many = Array.from({ length: 101 }, () => approve);
    expect(refusalIn(await post(many))).toEqual([400, 'SHAPE_INVALID']);
  });
});
