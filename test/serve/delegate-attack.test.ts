import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { AUTHORITY_TOOLS, proposeSay } from '../journey/authority.ts';
import { freshSigner } from '../support/keys.ts';
import { writeRegistry } from '../support/project.ts';
import { call, proved, refusalIn, type Service, service, session, type Told } from './service.ts';
import { callSigned, keyed, signatureOf } from './signed.ts';

const SUBMIT = '/v1/intents/submit';
const DELEGATE = '/v1/agents/delegate';
const reason = 'a test';

async function delegated({ keyturn, ada: signer }: Service, delegate: string) {
  const asked = { delegate, actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer };
  return (await keyturn.agents.delegate(asked)).delegation_id;
}

/** Scout and probe have a key and a delegation each. Scout proposed something, and so did probe. */
async function scene() {
  const s = await service();
  const [scout, probe] = [await keyed(s), await keyed(s, 'probe')];
  const [own, others] = [await delegated(s, 'scout'), await delegated(s, 'probe')];
  const [mine, theirs] = [await proposeSay(s, {}, scout), await proposeSay(s, {}, probe)];
  const size = async () => (await s.keyturn.ledger.head()).size;
  return { s, scout, probe, own, others, mine, theirs, size };
}

const passOn = (delegation: string, over: object = {}) => ({
  ...{ delegate: 'probe', actions: ['tool:say'], ttl_s: 60, reason, delegation },
  ...over,
});

/** A draft that its caller wrote anew, with these words in the place of others, and signed. */
async function rewritten({ body }: Told, key: OpenKey, words: Readonly<Record<string, string>>) {
  let text = JSON.stringify(body.draft);
  for (const [from, to] of Object.entries(words)) text = text.replaceAll(from, to);
  const draft = JSON.parse(text);
  const proofs = await key.sign((draft.statements as string[]).map((one) => Buffer.from(one)));
  return { draft, proofs };
}

describe('an agent that submits over HTTP', () => {
  it('learns nothing of what was delegated to another one', async () => {
    const { s, scout, others, mine, size } = await scene();
    const before = await size();
    for (const delegation of [others, randomUUID()]) {
      const request = { ...mine, delegation };
      const told = await callSigned(s, scout, SUBMIT, { request, by: 'scout' });
      expect(refusalIn(told)).toEqual([404, 'DELEGATION_UNKNOWN']);
      expect(told.text).not.toContain('probe');
      const passed = await callSigned(s, scout, DELEGATE, { request: passOn(delegation), by: 'scout' });
      expect(refusalIn(passed)).toEqual([404, 'DELEGATION_UNKNOWN']);
    }
    expect(await size()).toBe(before);
  });

  it('is refused once its delegation is revoked, or the tool is another one, after the draft', async () => {
    const { s, scout, own, mine, size } = await scene();
    const request = { ...mine, delegation: own };
    const drawn = await callSigned(s, scout, SUBMIT, { request, by: 'scout' });
    const finished = { request, draft: drawn.body.draft, proofs: await proved(drawn, scout) };
    writeRegistry(s.root, AUTHORITY_TOOLS.replaceAll('/usr/bin/printf', '/usr/bin/echo'));
    const changed = await callSigned(s, scout, SUBMIT, finished);
    expect(changed.status).not.toBe(200);
    writeRegistry(s.root, AUTHORITY_TOOLS);
    const passed = await callSigned(s, scout, DELEGATE, { request: passOn(own), by: 'scout' });
    await s.keyturn.agents.revokeDelegation({ delegation_id: own, reason, signer: s.ada });
    const before = await size();
    expect((await callSigned(s, scout, SUBMIT, finished)).body.code).toBe('DELEGATION_REVOKED');
    const proofs = await proved(passed, scout);
    const late = { request: passOn(own), draft: passed.body.draft, proofs };
    expect((await callSigned(s, scout, DELEGATE, late)).body.code).toBe('DELEGATION_REVOKED');
    expect(await size()).toBe(before);
    expect((await s.keyturn.intents.get({ intent_id: mine.intent_id })).status).toBe('proposed');
  });

  it('passes nothing on that is wider, longer, twice, or signed with another key', async () => {
    const { s, scout, own, size } = await scene();
    const before = await size();
    for (const over of [
      { actions: ['tool:*'] },
      { actions: ['tool:say', 'tool:wait'] },
      { ttl_s: 7200 },
      { approves: true, actions: ['*'] },
    ]) {
      const asked = { request: passOn(own, over), by: 'scout' };
      expect((await callSigned(s, scout, DELEGATE, asked)).body.code).toBe('DELEGATION_WIDENED');
    }
    const request = passOn(own);
    const drawn = await callSigned(s, scout, DELEGATE, { request, by: 'scout' });
    // What was signed narrowly is finished with a wider request, and what was signed is made wider.
    const wider = { ...request, actions: ['tool:*'] };
    const proofs = await proved(drawn, scout);
    const swapped = { request: wider, draft: drawn.body.draft, proofs };
    expect((await callSigned(s, scout, DELEGATE, swapped)).status).not.toBe(200);
    const grown = { request: wider, ...(await rewritten(drawn, scout, { 'tool:say': 'tool:*' })) };
    expect((await callSigned(s, scout, DELEGATE, grown)).body.code).toBe('DELEGATION_WIDENED');
    const stranger = freshSigner('scout');
    const keys = { [scout.public_key]: stranger.public_key };
    const forged = { request, ...(await rewritten(drawn, stranger, keys)) };
    expect((await callSigned(s, scout, DELEGATE, forged)).status).toBe(403);
    expect(await size()).toBe(before);
    // The same bytes with the same signature of the request, and then in a request of their own.
    const body = JSON.stringify({ request, draft: drawn.body.draft, proofs });
    const headers = signatureOf(s, scout, { path: DELEGATE, body });
    expect((await call(s, DELEGATE, body, { headers })).status).toBe(200);
    expect(refusalIn(await call(s, DELEGATE, body, { headers }))).toEqual([401, 'MESSAGE_REPLAYED']);
    expect((await callSigned(s, scout, DELEGATE, JSON.parse(body))).status).not.toBe(200);
    expect(await size()).toBe(before + 1);
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('gives what it makes no id of something else', async () => {
    const { s, scout, own, mine, theirs, size } = await scene();
    const before = await size();
    const request = passOn(own);
    for (const id of [theirs.intent_id, mine.intent_id, own, 'x', '', '../x', 'X'.repeat(10_000)]) {
      const drawn = await callSigned(s, scout, DELEGATE, { request, by: 'scout' });
      const { draft } = drawn.body as { draft: { id: string; statements: string[] } };
      const { subject } = JSON.parse(draft.statements[0]!) as { subject: string };
      const asked = { request, ...(await rewritten(drawn, scout, { [draft.id]: id, [subject]: id })) };
      const told = await callSigned(s, scout, DELEGATE, asked);
      expect([told.status, await size()], `${id.slice(0, 40)} ${told.text.slice(0, 200)}`).toEqual([
        expect.toSatisfy((status: number) => status >= 400 && status < 500),
        before,
      ]);
    }
    const { story } = s.keyturn.intents;
    expect((await story({ intent_id: theirs.intent_id })).intent.status).toBe('proposed');
    await s.keyturn.ledger.verify({ deep: true });
  });

  it('draws up no act of a human, alone or among several', async () => {
    const { s, scout, own, mine, size } = await scene();
    const before = await size();
    const { delegation: _, ...bare } = { ...mine, delegation: own };
    const acts = [
      { verb: 'intents.approve', request: bare },
      { verb: 'agents.revokeDelegation', request: { delegation_id: own, reason } },
      { verb: 'people.enrol', request: { name: 'eve', principal: 'agent', public_key: null } },
    ];
    const told = await callSigned(s, scout, '/v1/acts/draft', { by: 'scout', acts });
    expect(told.status).toBe(202);
    const codes = told.body.drawn.map(({ problem }: { problem?: { code: string } }) => problem?.code);
    expect(codes).toEqual(acts.map(() => 'NOT_FOR_AGENTS'));
    const asAda = await callSigned(s, scout, '/v1/acts/draft', { by: 'ada', acts: acts.slice(0, 1) });
    expect(asAda.body.drawn[0].problem.code).toBe('CALLER_OTHER');
    expect(await size()).toBe(before);
  });
});

describe('a session without a proof', () => {
  it('writes nothing with a key of its own, not even that it was refused', async () => {
    const { s, own, mine, size } = await scene();
    const cookie = await session(s);
    const stranger = freshSigner('ada');
    const before = await size();
    for (const [path, request] of [
      ['/v1/intents/approve', mine],
      ['/v1/intents/turn', mine],
      [SUBMIT, { ...mine, delegation: own }],
    ] as const) {
      const drawn = await call(s, path, { request, by: 'ada', key: s.ada.public_key }, { cookie });
      if (drawn.status !== 202) continue;
      const keys = { [s.ada.public_key]: stranger.public_key };
      const forged = { request, ...(await rewritten(drawn, stranger, keys)) };
      expect((await call(s, path, forged, { cookie })).status, path).not.toBe(200);
    }
    expect(await size()).toBe(before);
  });
});
