import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { human } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  acted,
  call,
  callRaw,
  proved,
  refusalIn,
  SAY,
  type Service,
  service,
  serving,
  session,
} from './service.ts';
import { callSigned, keyed, signatureOf } from './signed.ts';

vi.setConfig({ testTimeout: 100_000 });

const LIST = '/v1/intents/list';

describe('a signed request', () => {
  it('keeps its stream at /mcp while its key counts, and is taken once', async () => {
    const s = await service({ most: 1 });
    const scout = await keyed(s);
    const headers = { accept: 'text/event-stream', 'mcp-session-id': 'one' };
    const answer = await fetch(`${s.address}/mcp`, {
      headers: { ...headers, ...signatureOf(s, scout, { path: '/mcp' }) },
    });
    expect(answer.status).toBe(200);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe(': still here\n\n');
    await s.keyturn.people.revoke({ name: 'scout', reason: 'a test', signer: s.ada });
    expect(await reader.read()).toMatchObject({ done: true });
  });

  it('is that of the agent whose key signed it, and proposes what is proven in the ledger', async () => {
    const s = await service({ most: 1 });
    const scout = await keyed(s);
    const asked = { request: { ...SAY }, by: 'scout' };
    const drawn = await callSigned(s, scout, '/v1/intents/propose', asked);
    expect(drawn.status).toBe(202);
    const { draft, request } = drawn.body;
    expect(request).toMatchObject({ ...SAY, nonce: expect.any(String) });
    const finished = { request, draft, proofs: await proved(drawn, scout) };
    const told = await callSigned(s, scout, '/v1/intents/propose', finished);
    expect(told).toMatchObject({ status: 200, body: { proposer: 'scout', signed: true } });
    const { intent_id, hash } = told.body;
    expect(await s.keyturn.intents.get({ intent_id })).toMatchObject({ proposer_verified: true });
    expect(refusalIn(await callSigned(s, scout, '/v1/intents/propose', finished))).toEqual([
      400,
      'INTENT_EXISTS',
    ]);
    const turned = await acted(s, '/v1/intents/turn', { intent_id, hash }, s.ada, await session(s));
    expect(turned.status).toBe(200);
    const waited = await callSigned(s, scout, `/v1/intents/waitFor?intent_id=${intent_id}`);
    expect(waited.body).toMatchObject({ status: 'succeeded' });
    const list = await callSigned(s, scout, `${LIST}?limit=5`);
    expect(list.body.intents).toMatchObject([{ intent_id }]);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('of keyturn/client is one that the service takes', async () => {
    const s = await service();
    const scout = await keyed(s);
    const sign = async (bytes: Uint8Array) => (await scout.sign([bytes]))[0] as string;
    const { intents } = createClient({
      address: s.address,
      signer: { name: 'scout', ledger: s.keyturn.host.origin, sign },
    });
    const { draft, request } = await intents.propose.draft({ request: SAY, by: 'scout' });
    const proofs = await scout.sign(draft.statements.map((one) => Buffer.from(one)));
    const done = await intents.propose.finish({ request: request as typeof SAY, draft, proofs });
    expect(done).toMatchObject({ proposer: 'scout', signed: true });
    expect((await intents.list({ limit: 1 })).intents).toHaveLength(1);
  });

  it('of a human reads as that human, and acts in no other name', async () => {
    const s = await service();
    const bo = (await human(s, 'bo')) as OpenKey;
    const ada = s.ada as OpenKey;
    const FREEZE = { scope: 'tool', name: 'say', reason: 'a look' };
    expect((await callSigned(s, bo, '/v1/people/list')).status).toBe(200);
    const drawn = await callSigned(s, bo, '/v1/system/freeze', { request: FREEZE, by: 'bo' });
    const finished = { request: FREEZE, draft: drawn.body.draft, proofs: await proved(drawn, bo) };
    expect(refusalIn(await callSigned(s, ada, '/v1/system/freeze', finished))).toEqual([403, 'CALLER_OTHER']);
    const other = await callSigned(s, bo, '/v1/system/freeze', { request: FREEZE, by: 'ada' });
    expect(refusalIn(other)).toEqual([403, 'CALLER_OTHER']);
    expect((await callSigned(s, bo, '/v1/system/freeze', finished)).status).toBe(200);
    expect(refusalIn(await callSigned(s, bo, '/v1/tools/pass', {}))).toEqual([403, 'SESSION_READS']);
  });

  it('of a human says words to the agent core in their own name, which no session does', async () => {
    const s = await service();
    const bo = (await human(s, 'bo')) as OpenKey;
    const words = { user_id: 'bo', utterance: 'polish the brass bell' };
    const said = await callSigned(s, bo, '/v1/conversations/ask', words);
    expect([said.status, said.body.kind]).toEqual([200, 'MISSING_SIMULATION']);
    for (const { user_id } of (await s.keyturn.conversations.list()).conversations)
      expect(user_id).toBe('bo');
    const other = await callSigned(s, bo, '/v1/conversations/ask', { ...words, user_id: 'ada' });
    expect(refusalIn(other)).toEqual([403, 'CALLER_OTHER']);
    const { correlation_id } = said.body;
    for (const verb of ['answer', 'confirm', 'resume', 'undo'])
      expect(
        refusalIn(await callSigned(s, bo, `/v1/conversations/${verb}`, { correlation_id, user_id: 'ada' })),
      ).toEqual([403, 'CALLER_OTHER']);
    const cookie = await session(s);
    expect(refusalIn(await call(s, '/v1/conversations/ask', words, { cookie }))).toEqual([
      403,
      'SESSION_READS',
    ]);
  });

  it('is taken once, also by the service that comes next', async () => {
    const s = await service();
    const scout = await keyed(s);
    const headers = signatureOf(s, scout, {});
    expect((await call(s, LIST, undefined, { headers })).status).toBe(200);
    expect(refusalIn(await call(s, LIST, undefined, { headers }))).toEqual([401, 'MESSAGE_REPLAYED']);
    const { port } = new URL(s.address);
    await s.stop();
    const again = await serving(s, { port: Number(port) });
    expect(refusalIn(await call(again, LIST, undefined, { headers }))).toEqual([401, 'MESSAGE_REPLAYED']);
    expect((await callSigned(s, scout, LIST)).status).toBe(200);
  });

  it('is for this ledger, this address, this request and this minute', async () => {
    const s = await service();
    const scout = await keyed(s);
    const now = Math.floor(Date.now() / 1000);
    const body = JSON.stringify({});
    const INVALID = 'MESSAGE_SIGNATURE_INVALID';
    const rows = [
      ['another ledger', { tag: 'keyturn/00000000-0000-4000-8000-000000000000/default' }, INVALID],
      ['another address', { authority: 'localhost:1' }, INVALID],
      ['another path', { path: '/v1/intents/next' }, INVALID],
      ['another query', { path: `${LIST}?limit=1` }, INVALID],
      ['another method', { method: 'POST' }, INVALID],
      ['an old one', { created: now - 70 }, 'MESSAGE_REPLAYED'],
      ['one of later', { created: now + 30 }, 'MESSAGE_REPLAYED'],
      ['one that said when it ends', { created: now - 30, more: `;expires=${now - 20}` }, 'MESSAGE_REPLAYED'],
      [
        'one that says a later end than it may',
        { created: now - 70, more: `;expires=${now + 60}` },
        'MESSAGE_REPLAYED',
      ],
      ['a short nonce', { nonce: 'x' }, INVALID],
      ['another algorithm', { alg: 'hmac-sha256' }, INVALID],
      ['nobody', { keyid: 'nobody' }, INVALID],
      ['somebody else', { keyid: 'ada' }, INVALID],
      ['one who has no key', { keyid: 'bot' }, INVALID],
      ['an address that is not covered', { covered: ['@method', '@path', '@query'] }, INVALID],
      ['a component twice', { covered: ['@method', '@authority', '@path', '@query', '@query'] }, INVALID],
      [
        'a component that is unknown',
        { covered: ['@method', '@authority', '@path', '@query', 'x'] },
        INVALID,
      ],
      ['a parameter twice', { more: `;created=${now}` }, INVALID],
      ['an unknown parameter', { more: ';x=1' }, INVALID],
      ['an end before its beginning', { more: `;expires=${now - 100}` }, INVALID],
    ] as const;
    for (const [what, wanted, code] of rows) {
      const headers = signatureOf(s, scout, { path: LIST, ...wanted });
      expect(refusalIn(await call(s, LIST, undefined, { headers })), what).toEqual([401, code]);
    }
    const asked = signatureOf(s, scout, { body });
    const other = await call(s, LIST, '{"limit":1}', { headers: asked });
    expect(refusalIn(other)).toEqual([401, INVALID]);
    const bare = { ...asked, 'content-digest': 'sha-256=:AAAA:' };
    expect(refusalIn(await call(s, LIST, body, { headers: bare }))).toEqual([401, INVALID]);
    const keyless = signatureOf(s, scout, { method: 'POST' });
    const uncovered = { ...keyless, 'content-type': 'application/json' };
    expect(refusalIn(await call(s, LIST, body, { headers: uncovered }))).toEqual([401, INVALID]);
    expect(refusalIn(await call(s, LIST, body, { headers: asked, token: s.token }))).toEqual([401, INVALID]);
    expect((await call(s, LIST, body, { headers: asked })).status).toBe(200);
    for (const half of ['signature', 'signature-input'] as const) {
      const { [half]: _, ...rest } = signatureOf(s, scout, {});
      expect(refusalIn(await call(s, LIST, undefined, { headers: rest })), half).toEqual([401, INVALID]);
    }
  });

  it('of a name that is enrolled is refused as one of any other name, whatever is wrong with it', async () => {
    const s = await service();
    const stranger = freshSigner('scout');
    await keyed(s);
    const now = Math.floor(Date.now() / 1000);
    const wrongs = [
      {},
      { tag: 'keyturn/00000000-0000-4000-8000-000000000000/default' },
      { created: now - 70 },
      { created: now + 30 },
      { more: `;expires=${now - 100}` },
      { covered: ['@method'] },
    ];
    for (const wrong of wrongs) {
      const told = ['scout', 'ada', 'nobody'].map(async (keyid) => {
        const headers = signatureOf(s, stranger, { path: LIST, keyid, ...wrong });
        return call(s, LIST, undefined, { headers });
      });
      const [enrolled, human, unknown] = await Promise.all(told);
      expect(enrolled!.body).toEqual(unknown!.body);
      expect(human!.body).toEqual(unknown!.body);
      expect(unknown!.status).toBe(401);
    }
  });

  it('says nothing under another name of the same service', async () => {
    const s = await service();
    const scout = await keyed(s);
    const { port } = new URL(s.address);
    const headers = signatureOf(s, scout, {});
    expect((await callRaw(s, LIST, { ...headers, host: `127.0.0.1:${port}` })).status).toBe(401);
  });

  it('ends with its key: what waits is not answered', async () => {
    const s = await service();
    const scout = await keyed(s);
    const { body } = await callSigned(s, scout, '/v1/intents/propose', { ...SAY });
    const waits = callSigned(s, scout, `/v1/intents/waitFor?intent_id=${body.intent_id}`);
    await s.keyturn.people.revoke({ name: 'scout', reason: 'lost', signer: s.ada });
    const { intent_id, hash } = body;
    await s.keyturn.intents.reject({ intent_id, hash, reason: 'no', signer: s.ada });
    expect(refusalIn(await waits)).toEqual([401, 'MESSAGE_SIGNATURE_INVALID']);
    expect(refusalIn(await callSigned(s, scout, LIST))).toEqual([401, 'MESSAGE_SIGNATURE_INVALID']);
  });
});

describe('a proposal that is signed over HTTP', () => {
  const drawn = (s: Service, key: OpenKey, request: object) =>
    callSigned(s, key, '/v1/intents/propose', { request, by: key.name });

  it('is the same under its idempotency key, and is refused late or in another name', async () => {
    const s = await service();
    const scout = await keyed(s);
    const request = { ...SAY, idempotency_key: 'the-build-of-tuesday-evening' };
    const first = await drawn(s, scout, request);
    const finish = async (told: typeof first, draft = told.body.draft, signer: OpenKey = scout) => {
      const proofs = await signer.sign(draft.statements.map((one: string) => Buffer.from(one)));
      return callSigned(s, scout, '/v1/intents/propose', { request: told.body.request, draft, proofs });
    };
    const done = await finish(first);
    expect(done.status).toBe(200);
    expect((await finish(first)).body).toMatchObject({ intent_id: done.body.intent_id, repeated: true });
    const second = await drawn(s, scout, SAY);
    expect(refusalIn(await finish(second, second.body.draft, freshSigner('scout')))).toEqual([
      403,
      'SIGNATURE_INVALID',
    ]);
    const at = new Date(Date.parse(second.body.draft.at) - 121_000).toISOString();
    expect(refusalIn(await finish(second, { ...second.body.draft, at }))).toEqual([409, 'ACT_LATE']);
    const named = { request: SAY, by: 'ada' };
    expect(refusalIn(await callSigned(s, scout, '/v1/intents/propose', named))).toEqual([
      403,
      'CALLER_OTHER',
    ]);
    const approve = { request: { intent_id: done.body.intent_id, hash: done.body.hash }, by: 'scout' };
    expect(refusalIn(await callSigned(s, scout, '/v1/intents/approve', approve))).toEqual([
      403,
      'NOT_FOR_AGENTS',
    ]);
  });

  it('is for who has a key: a token signs nothing', async () => {
    const s = await service();
    const told = await call(s, '/v1/intents/propose', { request: SAY, by: 'bot' }, { token: s.token });
    expect(refusalIn(told)).toEqual([400, 'SHAPE_INVALID']);
    await expectRefusal('KEY_FILE_INVALID', () =>
      s.keyturn.intents.propose({ ...SAY, issuer: 'bot', signer: freshSigner('bot') }),
    );
  });
});
