import { describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { proposeSay } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { call, proved, refusalIn, type Service, service } from './service.ts';
import { callSigned, keyed } from './signed.ts';

const SUBMIT = '/v1/intents/submit';
const DELEGATE = '/v1/agents/delegate';
const reason = 'a test';

const delegated = async ({ keyturn, ada: signer }: Service, delegate: string) => {
  const asked = { delegate, actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer };
  return (await keyturn.agents.delegate(asked)).delegation_id;
};

async function scene() {
  const s = await service();
  const [scout, probe] = [await keyed(s), await keyed(s, 'probe')];
  const delegation = await delegated(s, 'scout');
  const intent = await proposeSay(s, {}, scout);
  const { size } = await s.keyturn.ledger.head();
  const unchanged = async () => expect((await s.keyturn.ledger.head()).size).toBe(size);
  return { s, scout, probe, request: { ...intent, delegation }, unchanged };
}

describe('an agent whose key signs its requests', () => {
  it('submits under its delegation by a draft and its signature, once', async () => {
    const { s, scout, request, unchanged } = await scene();
    const drawn = await callSigned(s, scout, SUBMIT, { request, by: 'scout' });
    expect(drawn.status).toBe(202);
    await unchanged();
    const forged = { request, draft: drawn.body.draft, proofs: await proved(drawn, freshSigner('scout')) };
    expect(refusalIn(await callSigned(s, scout, SUBMIT, forged))).toEqual([403, 'SIGNATURE_INVALID']);
    await unchanged();
    const finished = { ...forged, proofs: await proved(drawn, scout) };
    const told = await callSigned(s, scout, SUBMIT, finished);
    expect(told).toMatchObject({ status: 200, body: { by: 'scout', approver: 'ada' } });
    expect((await callSigned(s, scout, SUBMIT, finished)).status).not.toBe(200);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('passes a delegation on in the same way', async () => {
    const { s, scout, probe, request } = await scene();
    const { delegation } = request;
    const given = { delegate: 'probe', actions: ['tool:say'], ttl_s: 60, reason, delegation };
    const drawn = await callSigned(s, scout, DELEGATE, { request: given, by: 'scout' });
    expect(drawn.status).toBe(202);
    const proofs = await proved(drawn, scout);
    const told = await callSigned(s, scout, DELEGATE, { request: given, draft: drawn.body.draft, proofs });
    expect(told).toMatchObject({ status: 200, body: { by: 'scout', delegate_key: probe.public_key } });
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('acts in no other name, on no other intent, and with no signature but its own', async () => {
    const { s, scout, probe, request, unchanged } = await scene();
    const drawn = await callSigned(s, scout, SUBMIT, { request, by: 'scout' });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, scout) };
    for (const [body, key, refusal] of [
      [{ request, by: 'scout' }, probe, [403, 'CALLER_OTHER']],
      [{ request, by: 'ada' }, scout, [403, 'CALLER_OTHER']],
      [finished, probe, [403, 'CALLER_OTHER']],
      [{ request, by: 'probe' }, probe, [404, 'INTENT_NOT_FOUND']],
      [request, scout, [403, 'NOT_FOR_AGENTS']],
      [{ ...request, signer: { name: 'scout' } }, scout, [400, 'SHAPE_INVALID']],
    ] as const)
      expect(refusalIn(await callSigned(s, key, SUBMIT, body))).toEqual(refusal);
    await unchanged();
  });
});

describe('a token', () => {
  it('of a delegate is not enough for what its key has to sign, not even beside a signature', async () => {
    const { s, scout, request } = await scene();
    const drawn = await callSigned(s, scout, SUBMIT, { request, by: 'scout' });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, scout) };
    const { token, digest } = Keyturn.makeToken('scout');
    await s.keyturn.agents.addToken({ name: 'scout', digest, reason, signer: s.ada });
    const { size } = await s.keyturn.ledger.head();
    for (const body of [request, { request, by: 'scout' }, finished])
      for (const path of [SUBMIT, DELEGATE])
        expect(refusalIn(await call(s, path, body, { token }))).toEqual([403, 'NOT_FOR_AGENTS']);
    expect((await s.keyturn.ledger.head()).size).toBe(size);
  });
});
