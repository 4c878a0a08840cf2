import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { AGENT_CORE, Keyturn } from '../../src/keyturn.ts';
import { askedFor, furnish, named, writeSimulation, writtenIn, yes } from '../agent/agent-place.ts';
import { envelopeFor } from '../agent/by-hand.ts';
import { human, PERMITS, policy, rules } from '../journey/authority.ts';
import { entriesAbout, sizeOf } from '../support/ledger.ts';
import { found } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';
import { call, refusalIn, SAY, type Service, serving, session, shownIn, withToken } from './service.ts';
import { callSigned, keyed, signatureOf } from './signed.ts';

/** The words of a user over HTTP. Who may say them is what an attacker tries: another human, an agent, a session, a copy of a request. */

const at = (verb: string) => (verb === 'news' ? '/v1/simulations/news' : `/v1/conversations/${verb}`);
const SAID = ['ask', 'answer', 'confirm', 'resume', 'undo', 'dispatch', 'news'];
const NOTE = (value: string) => `append a notebook line "${value}"`;

async function talking(): Promise<Service & { readonly ada: OpenKey }> {
  const p = await found(scratch());
  onTestFinished(() => p.keyturn.close());
  await furnish(p);
  await rules(p, PERMITS);
  return { ...p, ada: p.ada as OpenKey, ...(await withToken(p, 'bot')), ...(await serving(p)) };
}

/** What each verb of a conversation is asked with that would go on with this prompt. */
const goingOn = async (
  { keyturn }: Service,
  prompt: Parameters<typeof named>[0],
): Promise<Readonly<Record<string, object>>> => {
  const { correlation_id } = prompt;
  const { user_id: _, ...dispatch } = await envelopeFor(keyturn, correlation_id);
  return {
    dispatch,
    news: {},
    ask: { utterance: NOTE('asked'), correlation_id },
    answer: { correlation_id, text: 'x' },
    confirm: { ...named(prompt), text: 'yes' },
    resume: { correlation_id },
    undo: { correlation_id },
  };
};

describe('words that a key signed for', () => {
  it('dispatch what the same words at the terminal do, and leave the same entries', async () => {
    const s = await talking();
    const here = await askedFor(s.keyturn, NOTE('same'));
    const far = (await callSigned(s, s.ada, at('ask'), { user_id: 'ada', utterance: NOTE('same') })).body;
    const outcome = await yes(s.keyturn, here);
    const { body: told } = await callSigned(s, s.ada, at('confirm'), { ...named(far), text: 'yes' });
    expect([told.kind, told.plan_state]).toEqual([outcome.kind, 'COMPLETED']);
    expect(writtenIn(s.root)).toEqual(['+ same', '+ same']);
    const { correlation_id } = here;
    const undone = await s.keyturn.conversations.undo({ correlation_id, user_id: 'ada' });
    const { body: undo } = await callSigned(s, s.ada, at('undo'), { correlation_id: far.correlation_id });
    expect([undo.kind, undo.user_visible_text]).toEqual([undone.kind, undone.user_visible_text]);
    const came = await cameTo(s, correlation_id);
    expect(await cameTo(s, far.correlation_id)).toEqual(came);
    expect(came).toMatchObject({ issuer: AGENT_CORE, on_behalf_of: 'ada', status_word: 'succeeded' });
    await s.keyturn.conversations.replay({ correlation_id: far.correlation_id });
  });

  it('dispatch a step once: the envelope of one that ran is answered with what came of it', async () => {
    const s = await talking();
    const prompt = await askedFor(s.keyturn, NOTE('enveloped'));
    await yes(s.keyturn, prompt);
    const envelope = await envelopeFor(s.keyturn, prompt.correlation_id);
    const size = await sizeOf(s.keyturn);
    const { status, body } = await callSigned(s, s.ada, at('dispatch'), envelope);
    expect([status, body]).toMatchObject([200, { kind: 'OUTCOME', is_duplicate: true }]);
    expect([await sizeOf(s.keyturn), writtenIn(s.root)]).toEqual([size, ['+ enveloped']]);
  });

  it('hear once what there is now of what their user asked for, and of no other user', async () => {
    const s = await talking();
    await s.keyturn.conversations.ask({ user_id: 'ada', utterance: 'polish all brass trumpets' });
    writeSimulation(s.root, {
      ...{ id: 'trumpet.polish', version: 1, family: 'notes', summary: { en: 'Polish all brass trumpets' } },
      ...{ risk: 'LOW', impactful: false, side_effecting: false, irreversible: false },
      ...{ access_action: 'trumpet.polish', effect: { tool: 'say', arguments: { word: 'shiny' } } },
    });
    const change = { id: 'trumpet.polish', reason: 'It was asked for.', signer: s.ada };
    await s.keyturn.simulations.register(change);
    await s.keyturn.simulations.activate(change);
    const bo = await human(s, 'bo');
    expect((await callSigned(s, bo, at('news'), { user_id: 'bo' })).body.news).toEqual([]);
    const first = await callSigned(s, s.ada, at('news'), { user_id: 'ada' });
    expect(first.body.news).toMatchObject([{ simulation: 'trumpet.polish' }]);
    expect((await callSigned(s, s.ada, at('news'), { user_id: 'ada' })).body.news).toEqual([]);
  });

  it('prove their user to the policies, which words at the terminal do not', async () => {
    const s = await talking();
    const begun = (await callSigned(s, s.ada, at('ask'), { user_id: 'ada', utterance: NOTE('both') })).body;
    const unless = (actions: string) =>
      `forbid (principal, action in [${actions}], resource) unless { context.user_verified };`;
    const all = ['access', 'submit'].map((name) => `Keyturn::Action::"${name}"`).join();
    await rules(s, PERMITS + policy('proven-users', 'intent', unless(all)));
    const refused = { kind: 'REFUSED', reason_code: 'ACCESS_SCOPE_VIOLATION' };
    const here = { user_id: 'ada', utterance: NOTE('here') };
    expect(await s.keyturn.conversations.ask(here)).toMatchObject(refused);
    // Begun with a signature, and answered without one.
    expect(await yes(s.keyturn, begun)).toMatchObject(refused);
    const far = (await callSigned(s, s.ada, at('ask'), { user_id: 'ada', utterance: NOTE('far') })).body;
    const { body } = await callSigned(s, s.ada, at('confirm'), { ...named(far), text: 'yes' });
    expect([body.kind, body.plan_state]).toEqual(['OUTCOME', 'COMPLETED']);
    expect(writtenIn(s.root)).toEqual(['+ far']);
    await s.keyturn.conversations.replay({ correlation_id: far.correlation_id });
  });

  it('count once: a copy of the request is refused, and a second yes runs nothing', async () => {
    const s = await talking();
    const prompt = await askedFor(s.keyturn, NOTE('once'));
    const body = JSON.stringify({ ...named(prompt), user_id: 'ada', text: 'yes' });
    const headers = signatureOf(s, s.ada, { path: at('confirm'), body });
    expect((await call(s, at('confirm'), body, { headers })).body.kind).toBe('OUTCOME');
    const size = await sizeOf(s.keyturn);
    expect(refusalIn(await call(s, at('confirm'), body, { headers }))).toEqual([401, 'MESSAGE_REPLAYED']);
    const other = body.replace('"yes"', '"no"');
    expect(refusalIn(await call(s, at('confirm'), other, { headers }))).toEqual([
      401,
      'MESSAGE_SIGNATURE_INVALID',
    ]);
    expect((await callSigned(s, s.ada, at('confirm'), JSON.parse(body))).body.kind).toBe('OUTCOME');
    expect([await sizeOf(s.keyturn), writtenIn(s.root)]).toEqual([size, ['+ once']]);
  });

  it('are of no agent: not by its token, not by its key, and not by that of the agent core', async () => {
    const s = await talking();
    const prompt = await askedFor(s.keyturn, NOTE('agent'));
    const going = await goingOn(s, prompt);
    const scout = await keyed(s);
    const core = Keyturn.agentSigner(AGENT_CORE, join(s.keyturn.layout.keys, `${AGENT_CORE}.seed`));
    const size = await sizeOf(s.keyturn);
    for (const user_id of ['ada', 'bot', 'scout', AGENT_CORE])
      for (const verb of SAID) {
        const request = { ...going[verb], user_id };
        for (const told of [
          await call(s, at(verb), request, { token: s.token }),
          await callSigned(s, scout, at(verb), request),
          await callSigned(s, core, at(verb), request),
        ])
          expect(refusalIn(told), `${verb} as ${user_id}`).toEqual([403, 'NOT_FOR_AGENTS']);
      }
    expect([await sizeOf(s.keyturn), writtenIn(s.root)]).toEqual([size, []]);
  });

  it('are of no session, whether a link or a key opened it', async () => {
    const s = await talking();
    const prompt = await askedFor(s.keyturn, NOTE('session'));
    const going = await goingOn(s, prompt);
    const byKey = shownIn(await callSigned(s, s.ada, '/v1/session', {}));
    const byLink = await session(s);
    const size = await sizeOf(s.keyturn);
    for (const cookie of [byKey, byLink]) {
      for (const verb of SAID) {
        const request = { ...going[verb], user_id: 'ada' };
        const told = await call(s, at(verb), request, { cookie });
        expect(refusalIn(told), verb).toEqual([403, 'SESSION_READS']);
      }
      const { correlation_id } = prompt;
      expect((await call(s, at('get'), { correlation_id }, { cookie })).body.kind).toBe('CONFIRM');
    }
    expect([await sizeOf(s.keyturn), writtenIn(s.root)]).toEqual([size, []]);
  });

  it('are of the human who signed: not for another user, not in the conversation of another, not of an auditor', async () => {
    const s = await talking();
    const prompt = await askedFor(s.keyturn, NOTE('other'));
    const going = await goingOn(s, prompt);
    const bo = await human(s, 'bo');
    const eve = await human(s, 'eve', ['auditor']);
    const size = await sizeOf(s.keyturn);
    for (const verb of SAID) {
      const request = going[verb]!;
      const told = await callSigned(s, bo, at(verb), { ...request, user_id: 'ada' });
      expect(refusalIn(told), verb).toEqual([403, 'CALLER_OTHER']);
      const own = await callSigned(s, bo, at(verb), request);
      const code = verb === 'ask' ? 'AGENT_TRANSITION_ILLEGAL' : 'ACCESS_SCOPE_VIOLATION';
      if (verb === 'news') expect(own.body).toEqual({ news: [] });
      else expect(refusalIn(own), verb).toEqual([403, code]);
      expect(refusalIn(await callSigned(s, eve, at(verb), request)), verb).toEqual([403, 'AUDITOR_ACTS']);
    }
    expect([await sizeOf(s.keyturn), writtenIn(s.root)]).toEqual([size, []]);
    await s.keyturn.people.revoke({ name: 'bo', reason: 'a test', signer: s.ada });
    const late = await callSigned(s, bo, at('ask'), { utterance: 'greet everybody kindly' });
    expect(refusalIn(late)).toEqual([401, 'MESSAGE_SIGNATURE_INVALID']);
  });

  it('take no Idempotency-Key, and nothing that only the service gives', async () => {
    const s = await talking();
    const request = { utterance: 'greet everybody kindly' };
    const size = await sizeOf(s.keyturn);
    const headers = { 'idempotency-key': 'the-greeting-of-tuesday' };
    const keyedTold = await callSigned(s, s.ada, at('ask'), request, { headers });
    expect(refusalIn(keyedTold)).toEqual([400, 'SHAPE_INVALID']);
    const model = await callSigned(s, s.ada, at('ask'), { ...request, model: {} });
    expect(refusalIn(model)).toEqual([400, 'SHAPE_INVALID']);
    expect(await sizeOf(s.keyturn)).toBe(size);
  });
});

describe('an act', () => {
  it('has its idempotency key in the request that is signed, and is refused with one beside it', async () => {
    const s = await talking();
    const headers = { 'idempotency-key': 'the-greeting-of-tuesday' };
    const act = { request: SAY, by: 'ada', key: s.ada.public_key };
    for (const [path, body] of [
      ['/v1/intents/propose', act],
      [
        '/v1/acts/draft',
        { by: 'ada', key: s.ada.public_key, acts: [{ verb: 'intents.propose', request: SAY }] },
      ],
    ] as const) {
      const told = await callSigned(s, s.ada, path, body, { headers });
      expect(refusalIn(told), path).toEqual([400, 'SHAPE_INVALID']);
      expect(told.body.detail).toContain('idempotency_key');
    }
    const scout = await keyed(s);
    const drawn = { request: SAY, by: 'scout', key: scout.public_key };
    const told = await callSigned(s, scout, '/v1/intents/propose', drawn, { headers });
    expect(refusalIn(told)).toEqual([400, 'SHAPE_INVALID']);
  });
});

/** The entries and the intent of a conversation, without what is different in each. */
async function cameTo({ keyturn }: Service, correlation_id: string): Promise<object> {
  const kinds = (await entriesAbout(keyturn, `agent:${correlation_id}`)).map(({ kind }) => kind);
  const { plans } = await keyturn.conversations.status({ correlation_id });
  const intent_id = plans[0]!.steps[0]!.intent_id!;
  const { intent, envelope, effect } = await keyturn.intents.review({ intent_id });
  const { issuer, on_behalf_of, declared_goal, requested_actions } = envelope;
  const { status_word, proposer_verified, approvals } = intent;
  const approved = approvals.map(({ by, assurance, delegation }) => ({ by, assurance, delegation }));
  return {
    ...{ kinds, issuer, on_behalf_of, declared_goal, requested_actions, effect },
    ...{ status_word, proposer_verified, approved },
  };
}
