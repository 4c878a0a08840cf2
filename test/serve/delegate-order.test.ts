import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { proposeSay } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { until } from '../support/processes.ts';
import { call, proved, refusalIn, type Service, service } from './service.ts';
import { callSigned, keyed } from './signed.ts';

const ORDER = '/v1/intents/grant';
const reason = 'a test';

async function delegated({ keyturn, ada: signer }: Service, delegate: string, over: object = {}) {
  const asked = { delegate, actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer };
  return (await keyturn.agents.delegate({ ...asked, ...over })).delegation_id;
}

/** What a delegate may order: its own, submitted under its delegation, which stood for the approval. */
async function scene({ most = 0, over = {} }: { most?: number; over?: object } = {}) {
  const s = await service({ most });
  const [scout, probe] = [await keyed(s), await keyed(s, 'probe')];
  const delegation = await delegated(s, 'scout', over);
  const submitted = async (word: string, under = delegation) => {
    const { intent_id, hash } = await proposeSay(s, { effect: say(word) }, scout);
    await s.keyturn.intents.submit({ intent_id, hash, delegation: under, signer: scout });
    return { intent_id, hash };
  };
  const size = async () => (await s.keyturn.ledger.head()).size;
  const drawing = (request: object, key = scout) => callSigned(s, key, ORDER, { request, by: key.name });
  const ordered = async (request: object, key = scout) => {
    const drawn = await drawing(request, key);
    if (drawn.status !== 202) return drawn;
    return callSigned(s, key, ORDER, { request, draft: drawn.body.draft, proofs: await proved(drawn, key) });
  };
  return { s, scout, probe, delegation, submitted, size, drawing, ordered };
}

const say = (word: string) => ({ kind: 'tool', tool: 'say', arguments: { word } }) as const;

describe('a delegate orders over HTTP', () => {
  it('one run of what it submitted, which an executor runs', async () => {
    const { s, delegation, submitted, ordered } = await scene({ most: 1 });
    const intent = await submitted('hello');
    const told = await ordered({ ...intent, delegation });
    expect(told).toMatchObject({
      status: 200,
      body: { by: 'scout', delegation, issued: false, token: null },
    });
    const { intent_id } = intent;
    const ended = await s.keyturn.intents.waitFor({ intent_id });
    expect(ended).toMatchObject({ status: 'succeeded', run: { output: { stdout: 'hello\n' } } });
    expect((await ordered({ ...intent, delegation })).status).not.toBe(200);
    await s.keyturn.ledger.verify({ deep: true });
    expect((await s.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('nothing that is not its own, and under nothing that was delegated to another one', async () => {
    const { s, probe, delegation, submitted, size, drawing } = await scene();
    const others = await delegated(s, 'probe');
    const mine = await submitted('mine');
    const theirs = await proposeSay(s, { effect: say('theirs') }, probe);
    await s.keyturn.intents.approve({ ...theirs, signer: s.ada });
    const before = await size();
    for (const [request, refusal] of [
      [{ ...theirs, delegation }, [404, 'INTENT_NOT_FOUND']],
      [{ ...mine, delegation: others }, [404, 'DELEGATION_UNKNOWN']],
      [{ ...mine, delegation: randomUUID() }, [404, 'DELEGATION_UNKNOWN']],
      [mine, [403, 'NOT_FOR_AGENTS']],
      [{ ...mine, delegation, is_issued: true }, [403, 'NOT_FOR_AGENTS']],
      [{ ...mine, delegation, holder: probe.public_key }, [403, 'NOT_FOR_AGENTS']],
      [{ ...mine, delegation, hash: theirs.hash }, [400, 'HASH_MISMATCH']],
    ] as const)
      expect(refusalIn(await drawing(request)), JSON.stringify(request)).toEqual(refusal);
    expect(refusalIn(await drawing({ ...mine, delegation }, probe))).toEqual([404, 'INTENT_NOT_FOUND']);
    expect(await size()).toBe(before);
  });

  it('nothing that no human approved, and nothing under a delegation for other actions', async () => {
    const { s, scout, delegation, submitted, size, drawing } = await scene();
    const waiting = await proposeSay(s, { effect: say('waits') }, scout);
    const approved = await submitted('fits');
    const narrow = await delegated(s, 'scout', { actions: ['tool:wait'] });
    const before = await size();
    expect((await drawing({ ...waiting, delegation })).body.code).toBe('APPROVAL_MISSING');
    expect((await drawing({ ...approved, delegation: narrow })).status).not.toBe(202);
    expect(await size()).toBe(before);
  });

  it('not with a token, not with another key, and not another intent than the one that it signed for', async () => {
    const { s, scout, delegation, submitted, size, drawing } = await scene();
    const [one, two] = [await submitted('one'), await submitted('two')];
    const request = { ...one, delegation };
    const drawn = await drawing(request);
    const { draft } = drawn.body;
    const proofs = await proved(drawn, scout);
    const { token, digest } = Keyturn.makeToken('scout');
    await s.keyturn.agents.addToken({ name: 'scout', digest, reason, signer: s.ada });
    const before = await size();
    for (const body of [request, { request, by: 'scout' }, { request, draft, proofs }])
      expect(refusalIn(await call(s, ORDER, body, { token }))).toEqual([403, 'NOT_FOR_AGENTS']);
    const forged = { request, draft, proofs: await proved(drawn, freshSigner('scout')) };
    expect(refusalIn(await callSigned(s, scout, ORDER, forged))).toEqual([403, 'SIGNATURE_INVALID']);
    for (const other of [
      { ...two, delegation },
      { ...request, ttl_s: 86_000 },
      { ...request, audience: 'elsewhere' },
    ])
      expect((await callSigned(s, scout, ORDER, { request: other, draft, proofs })).status).not.toBe(200);
    expect(await size()).toBe(before);
    const finished = { request, draft, proofs };
    expect((await callSigned(s, scout, ORDER, finished)).status).toBe(200);
    expect((await callSigned(s, scout, ORDER, finished)).status).not.toBe(200);
    const { capabilities } = await s.keyturn.intents.get({ intent_id: one.intent_id });
    expect(capabilities).toHaveLength(1);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('not once its delegation is revoked or over, also after the draft', async () => {
    const { s, scout, delegation, submitted, drawing } = await scene();
    const request = { ...(await submitted('late')), delegation };
    const drawn = await drawing(request);
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, scout) };
    const short = await delegated(s, 'scout', { ttl_s: 2 });
    const soon = { ...(await submitted('short', short)), delegation: short };
    const begun = await drawing(soon);
    const late = { request: soon, draft: begun.body.draft, proofs: await proved(begun, scout) };
    await until(async () => (await drawing(soon)).status !== 202);
    expect((await callSigned(s, scout, ORDER, late)).status).not.toBe(200);
    await s.keyturn.agents.revokeDelegation({ delegation_id: delegation, reason, signer: s.ada });
    expect((await callSigned(s, scout, ORDER, finished)).status).not.toBe(200);
    expect((await drawing(request)).status).not.toBe(202);
    for (const { intent_id } of [request, soon])
      expect((await s.keyturn.intents.get({ intent_id })).capabilities).toEqual([]);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('under a grant only what was submitted under it, and so never more than its uses', async () => {
    const grant = { uses: 1, arguments: { type: 'object', properties: { word: { const: 'fits' } } } };
    const { s, scout, delegation, submitted, ordered, drawing } = await scene({ over: { grant } });
    const first = await submitted('fits');
    await expect(submitted('fits')).rejects.toMatchObject({ code: 'GRANT_SPENT' });
    // A human approved this one, and ordered nothing: the grant is spent, and does not fit.
    const other = await proposeSay(s, { effect: say('other') }, scout);
    await s.keyturn.intents.approve({ ...other, signer: s.ada });
    expect(refusalIn(await drawing({ ...other, delegation }))).toEqual([403, 'GRANT_OUTSIDE']);
    expect((await ordered({ ...first, delegation })).status).toBe(200);
    const { capabilities } = await s.keyturn.intents.get({ intent_id: other.intent_id });
    expect(capabilities).toEqual([]);
    await s.keyturn.ledger.verify({ deep: true });
  });
});
