import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sizeOf } from '../support/ledger.ts';
import { acted, call, proved, received, refusalIn, SAY, type Service, service, session } from './service.ts';

async function proposed(s: Service) {
  const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
  return { intent_id: body.intent_id as string, hash: body.hash as string };
}

const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };

describe('who has a session and no proof', () => {
  it('writes nothing by drafts, not even what is refused', async () => {
    const s = await service();
    const cookie = await session(s);
    const intent = await proposed(s);
    const size = await sizeOf(s.keyturn);
    const files = () => readdirSync(join(s.root, '.keyturn', 'keys'));
    const before = files();
    const rows: readonly (readonly [string, object, string])[] = [
      ['/v1/intents/grant', intent, 'APPROVAL_MISSING'],
      ['/v1/intents/approve', { ...intent, hash: '0'.repeat(64) }, 'HASH_MISMATCH'],
      ['/v1/intents/turn', { ...intent, hash: '0'.repeat(64) }, 'HASH_MISMATCH'],
      ['/v1/runs/breakGlass', { ...intent, reason: 'now' }, 'BREAK_GLASS_FORBIDDEN'],
      ['/v1/system/rotateControlKey', { reason: 'a look' }, 'ROUTE_UNKNOWN'],
      ['/v1/ledger/archive', { older_than_s: 0, out: join(s.root, 'a'), reason: 'a look' }, 'ROUTE_UNKNOWN'],
      ['/v1/system/gc', { runs: [], objects: [], reason: 'a look' }, 'ROUTE_UNKNOWN'],
    ];
    for (const [path, request, code] of rows) {
      expect((await call(s, path, { request, by: 'ada' }, { cookie })).body.code, path).toBe(code);
      const draft = {
        ...{ by: 'ada', key: s.ada.public_key, id: intent.intent_id, statements: ['{}'] },
        at: new Date().toISOString(),
      };
      const finished = { request, draft, proofs: ['AAAA'] };
      expect((await call(s, path, finished, { cookie })).body.code, path).toBe(code);
    }
    expect(await sizeOf(s.keyturn)).toBe(size);
    expect(files()).toEqual(before);
  });

  it('does no act again whose proof it read: a freeze stays', async () => {
    const s = await service();
    const cookie = await session(s);
    await s.keyturn.system.freeze({ ...FREEZE, scope: 'tool', signer: s.ada });
    const at = '/v1/system/unfreeze';
    const drawn = await call(s, at, { request: FREEZE, by: 'ada' }, { cookie });
    const finished = { request: FREEZE, draft: drawn.body.draft, proofs: await proved(drawn, s.ada) };
    expect((await call(s, at, finished, { cookie })).status).toBe(200);
    await s.keyturn.system.freeze({ ...FREEZE, scope: 'tool', signer: s.ada });
    expect(refusalIn(await call(s, at, finished, { cookie }))).toEqual([409, 'ACT_CHANGED']);
    expect((await s.keyturn.system.get()).freezes).toHaveLength(1);
  });

  it('is told what to sign also where a proposal is signed', async () => {
    const s = await service();
    const cookie = await session(s);
    const { intent_id } = await proposed(s);
    const nonce = Buffer.alloc(16, 7).toString('base64');
    const edited = { intent_id, arguments: { word: 'goodbye' }, nonce };
    expect((await acted(s, '/v1/intents/edit', edited, s.ada, cookie)).status).toBe(200);
    const own = await s.keyturn.intents.propose({ ...SAY, signer: s.ada });
    const withdrawn = { intent_id: own.intent_id, reason: 'no' };
    expect((await acted(s, '/v1/intents/withdraw', withdrawn, s.ada, cookie)).status).toBe(200);
  });
});

describe('whose token was revoked', () => {
  const revoked = ({ keyturn, token_id, ada }: Service) =>
    keyturn.agents.revokeToken({ name: 'bot', token_id, reason: 'lost', signer: ada });

  it('hears no more events on a stream that is open', async () => {
    const s = await service();
    const headers = { authorization: `Bearer ${s.token}` };
    const reader = (await fetch(`${s.address}/v1/events`, { headers })).body!.getReader();
    const intent = await proposed(s);
    await revoked(s);
    await s.keyturn.intents.reject({ ...intent, reason: 'not for bot', signer: s.ada });
    let heard = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      heard += Buffer.from(part.value).toString();
    expect(heard).toContain('intent.proposed');
    expect(heard).not.toContain('not for bot');
  });

  it('is not answered what it waits for', async () => {
    const s = await service();
    const intent = await proposed(s);
    const path = `/v1/intents/waitFor?intent_id=${intent.intent_id}`;
    const asked = received(path);
    const waiting = call(s, path, undefined, { token: s.token });
    await asked;
    // One that came later was answered, so this one was let in.
    expect(
      (await call(s, '/v1/intents/get', { intent_id: intent.intent_id }, { token: s.token })).status,
    ).toBe(200);
    await revoked(s);
    await s.keyturn.intents.reject({ ...intent, reason: 'not for bot', signer: s.ada });
    expect(refusalIn(await waiting)).toEqual([401, 'TOKEN_INVALID']);
  });

  it('leaves no stream behind that nobody reads', async () => {
    const s = await service();
    const headers = { authorization: `Bearer ${s.token}` };
    expect((await fetch(`${s.address}/v1/events`, { method: 'HEAD', headers })).status).toBe(405);
  });
});
