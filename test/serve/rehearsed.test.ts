import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { authority, human } from '../journey/authority.ts';
import { sizeOf } from '../support/ledger.ts';
import { passkeySigner, softPasskey } from '../support/passkey.ts';
import { until } from '../support/processes.ts';
import {
  call,
  proved,
  received,
  refusalIn,
  SAY,
  type Service,
  service,
  serving,
  session,
  withToken,
} from './service.ts';

const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

async function adding(s: Service) {
  const passkey = softPasskey();
  const holder = passkeySigner('ada', passkey);
  const request = { name: 'ada', credential: passkey.credential, reason: 'a phone' };
  return { request, holder, shown: { name: 'ada', public_key: holder.public_key }, signer: s.ada };
}

describe('a draft over HTTP', () => {
  it('is refused for what only the commit looks at, and writes nothing', async () => {
    const s = await service();
    const cookie = await session(s);
    await s.keyturn.system.freeze({ ...FREEZE, scope: 'tool', signer: s.ada });
    const size = await sizeOf(s.keyturn);
    const refused = {
      '/v1/system/freeze': [FREEZE, [403, 'FROZEN_ALREADY']],
      '/v1/people/assign': [{ name: 'eve', roles: ['ops'], reason: 'joined' }, [404, 'PRINCIPAL_UNKNOWN']],
    } as const;
    for (const [path, [request, told]] of Object.entries(refused))
      expect(refusalIn(await call(s, path, { request, by: 'ada' }, { cookie })), path).toEqual(told);
    expect(await sizeOf(s.keyturn)).toBe(size);
  });

  it('with a passkey, and of an act that a new key signs too, is refused in the same way', async () => {
    const s = await service();
    const cookie = await session(s);
    const { request, holder, shown, signer } = await adding(s);
    const at = '/v1/people/addCredential';
    const drawn = await call(s, at, { request, by: 'ada', holder: shown }, { cookie });
    expect(drawn.status).toBe(202);
    const { draft } = drawn.body;
    const own = { holder: { ...shown, proofs: await proved(drawn, holder) } };
    const finished = { request, draft, proofs: await proved(drawn, signer), ...own };
    expect((await call(s, at, finished, { cookie })).status).toBe(200);
    const { public_key: key } = holder;
    const again = await call(s, at, { request, by: 'ada', key, holder: shown }, { cookie });
    expect(refusalIn(again)).toEqual([403, 'KEY_ENROLLED_TWICE']);
    const frozen = { request: FREEZE, by: 'ada', key };
    expect((await call(s, '/v1/system/freeze', frozen, { cookie })).status).toBe(202);
    await s.keyturn.system.freeze({ ...FREEZE, scope: 'tool', signer });
    expect(refusalIn(await call(s, '/v1/system/freeze', frozen, { cookie }))).toEqual([
      403,
      'FROZEN_ALREADY',
    ]);
  });

  it('of a proposal, and of its withdrawal, is rehearsed too', async () => {
    const s = await service();
    const bo = await human(s, 'bo');
    const cookie = await session(s);
    const drawn = await call(s, '/v1/intents/propose', { request: SAY, by: 'bo' }, { cookie });
    expect(drawn.status).toBe(202);
    const { draft, request } = drawn.body;
    const done = await call(
      s,
      '/v1/intents/propose',
      { request, draft, proofs: await proved(drawn, bo) },
      { cookie },
    );
    expect(done.status).toBe(200);
    const { intent_id, hash } = done.body;
    const asked = { request: { intent_id, reason: 'no need' }, by: 'bo' };
    expect((await call(s, '/v1/intents/withdraw', asked, { cookie })).status).toBe(202);
    await s.keyturn.intents.reject({ intent_id, hash, reason: 'no', signer: s.ada });
    expect((await call(s, '/v1/intents/withdraw', asked, { cookie })).status).toBe(403);
  });

  it('of several acts is looked at after those before it', async () => {
    const s = await service();
    const cookie = await session(s);
    const bo = { name: 'bo', principal: 'agent', public_key: null };
    const acts = [
      { verb: 'people.enrol', request: bo },
      { verb: 'people.assign', request: { name: 'bo', roles: ['ops'], reason: 'joined' } },
      { verb: 'system.freeze', request: FREEZE },
      { verb: 'system.freeze', request: { ...FREEZE, reason: 'again' } },
      // Of a freeze that is not written yet, no human has seen when it was.
      { verb: 'system.unfreeze', request: FREEZE },
    ];
    const { body } = await call(s, '/v1/acts/draft', { by: 'ada', acts }, { cookie });
    const codes = body.drawn.map((one: { problem?: { code: string } }) => one.problem?.code ?? null);
    expect(codes).toEqual([null, null, null, 'FROZEN_ALREADY', 'NOT_FROZEN']);
    const drawn = body.drawn.filter((one: { draft?: object }) => one.draft);
    const statements = drawn.flatMap((one: { draft: { statements: string[] } }) => one.draft.statements);
    const proofs = await s.ada.sign(statements.map((one: string) => Buffer.from(one)));
    const done = await call(s, '/v1/acts/finish', { acts: drawn, proofs }, { cookie });
    expect(done.body.results.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, true]);
  });

  it('of many acts keeps no other caller waiting', async () => {
    const s = await service();
    const cookie = await session(s);
    const acts = Array.from({ length: 100 }, (_, i) => {
      return { verb: 'people.enrol', request: { name: `bo${i}`, principal: 'agent', public_key: null } };
    });
    const path = '/v1/acts/draft';
    const heard = received(path);
    const order: string[] = [];
    const drawn = call(s, path, { by: 'ada', acts }, { cookie }).then(({ status }) =>
      order.push(`${status}`),
    );
    await heard;
    await call(s, '/livez').then(() => order.push('livez'));
    await drawn;
    expect(order).toEqual(['livez', '202']);
  });

  it('of several acts counts among the requests that one caller has open', async () => {
    const p = await authority();
    appendFileSync(join(p.root, 'keyturn.yaml'), 'service: { at_once: 1 }\n');
    const { token } = await withToken(p, 'bot');
    const s = await serving(p);
    const cookie = await session(s);
    const { intent_id } = (await call(s, '/v1/intents/propose', SAY, { token })).body;
    const waits = call(s, '/v1/intents/waitFor', { intent_id }, { cookie });
    await until(async () => (await call(s, '/v1/intents/list', {}, { cookie })).status === 429);
    const acts = [{ verb: 'system.freeze', request: FREEZE }];
    const drawn = await call(s, '/v1/acts/draft', { by: 'ada', acts }, { cookie });
    expect(refusalIn(drawn)).toEqual([429, 'CALLER_LIMITED']);
    await s.stop();
    await waits;
  });
});
