import { expect, it } from 'vitest';
import type { OpenKey } from '../../src/identity/act.ts';
import { routesOf } from '../../src/serve/route.ts';
import { type Shown, shownAs } from './service.ts';
import { signatureOf } from './signed.ts';
import { type Ask, expectShort, type Serves, turnsOfEach } from './turns.ts';
import { type LongProject, longProject } from './turns-project.ts';

/** The longest turn of the event loop that each request takes of a service, over a project that was worked with for long. */

type Requests = Readonly<Record<string, readonly object[]>>;

/** Of each verb that reads. */
async function reads(p: LongProject): Promise<Requests> {
  const { waiting, long, plan, plan_text, spec, ran, ran_plan, states } = p;
  const { correlation_id } = states;
  const ofIntents = [waiting, long, plan, ran_plan, ran];
  const each = (more: object = {}) => ofIntents.map(({ intent_id }) => ({ intent_id, ...more }));
  const withHash = (more: object = {}) =>
    ofIntents.map(({ intent_id, hash }) => ({ intent_id, hash, ...more }));
  const runs = [ran, ran_plan].map(({ execution_id }) => execution_id);
  const ofRuns = runs.map((execution_id) => ({ execution_id }));
  const { delegation_id: delegation } = await states.delegated();
  const decision = await states.decision();
  const talks = [{ correlation_id }];
  const simulation = [{ id: 'note.add' }];
  const nothing = [{}];
  return {
    'intents.earlier': each({ name: 'ada' }),
    'intents.changes': each(),
    'intents.list': [
      ...[{}, { limit: 200 }, { needs: 'ada', limit: 200 }, { status_word: 'expired' }],
      ...[{ text: 'x 5999' }, { text: 'none of them', limit: 200 }, { tool: 'say', proposer: 'bot' }],
    ],
    'intents.next': [{ needs: 'ada' }],
    'intents.get': each(),
    'intents.result': each(),
    'intents.story': [...each(), ...each({ with_output: true })],
    'intents.twin': each(),
    'intents.requireSecrets': each(),
    'intents.waitFor': [{ intent_id: ran.intent_id }],
    'intents.whatIf': withHash({ by: 'ada', act: 'turn' }),
    'intents.review': each(),
    'intents.hunks': [{ ...idOf(plan), action_id: 'a1', path: 'data/file-1.txt', from: 0, count: 1 }],
    'intents.diffTexts': [idOf(plan)],
    'intents.check': withHash(),
    'intents.previewSubmit': each({ delegation }),
    'plans.read': [{ plan: plan_text }],
    'plans.validate': [{ plan: plan_text }],
    'plans.preview': [{ spec }],
    'plans.missingReports': [{ folder: 'plans' }],
    'plans.previewRollback': [{ run: ran_plan.execution_id }],
    'runs.output': ofRuns,
    'runs.report': ofRuns,
    'runs.live': ofRuns,
    'runs.progress': ofRuns,
    'runs.inDoubt': nothing,
    'runs.going': runs.map((run) => ({ run })),
    'runs.list': [{}, { limit: 200 }, { text: 'none of them' }],
    'runs.capabilities': [{}, { limit: 200 }],
    'runs.capability': [{ capability_id: ran.capability_id }],
    'runs.replay': ofRuns,
    'people.list': nothing,
    'people.credentials': [{ name: 'ada' }],
    'agents.pins': [{ actions: ['tool:say'] }],
    'agents.delegations': nothing,
    'agents.tokens': nothing,
    'policies.check': nothing,
    'policies.test': nothing,
    'policies.files': nothing,
    'policies.diff': [{}, { recent: 1_000 }, { recent: 10_000 }],
    'tools.list': nothing,
    'tools.arguments': [{ tool: 'say', texts: { word: 'x' } }],
    'tools.lint': nothing,
    'mcp.servers': nothing,
    'mcp.tools': nothing,
    'mcp.question': each(),
    'simulations.list': nothing,
    'simulations.get': simulation,
    'simulations.bound': simulation,
    'simulations.check': simulation,
    'simulations.try': [
      { utterance: 'append a notebook line "x"' },
      { utterance: 'please do something else with it, and then append the notebook, or not. '.repeat(20) },
    ],
    'simulations.scaffold': [{ tool: 'say' }],
    'simulations.wishes': nothing,
    'conversations.get': talks,
    'conversations.status': talks,
    'conversations.list': [{}, { limit: 200 }, { text: 'none of them' }],
    'conversations.replay': talks,
    'conversations.snapshot': nothing,
    'conversations.turnKey': [{ correlation_id, user_id: 'ada', turn_id: 't', utterance: 'x' }],
    'conversations.slo': nothing,
    'conversations.requireSlo': nothing,
    'ledger.entries': [{}, { limit: 200 }, { limit: 200, with_decisions: true }, { kind: 'none.such' }],
    'ledger.since': [{ from: 0 }],
    'ledger.head': nothing,
    'ledger.verify': [{}, { deep: true }],
    'ledger.verifyStore': [{}, { deep: true }],
    'ledger.export': [{}, { with_objects: true }],
    'ledger.prove': [waiting, long, ran_plan].flatMap(({ intent_id }) => [
      { intent_id },
      { intent_id, with_objects: true },
    ]),
    'ledger.object': [{ digest: decision }],
    'ledger.decision': [{ digest: decision }],
    'ledger.explainErase': [{ digest: decision }, { digest: plan.hash }],
    'system.status': [{}, { limit: 200 }],
    'system.get': nothing,
    'system.checkClock': nothing,
    'system.previewGc': [{ older_than_s: 0 }, { older_than_s: 0, undoable_too: true }],
    'system.leftovers': nothing,
    'ids.find': [
      { of: 'intent', id: waiting.intent_id.slice(0, 4) },
      { of: 'object', id: decision.slice(0, 4) },
    ],
  };
}

/** What is only drawn up: nothing is finished. */
function drafts(p: LongProject): Requests {
  const reason = 'a look';
  const { plan, waiting, ran_plan } = p;
  const word = { effect: { kind: 'tool', tool: 'say', arguments: { word: 'x' } }, declared_goal: 'Say it.' };
  return {
    'intents.propose': [{ ...word, issuer: 'ada' }],
    'intents.edit': [{ intent_id: plan.intent_id, plan: p.spec }],
    'intents.turn': [idOf(plan), idOf(waiting)],
    'intents.approve': [idOf(plan)],
    'intents.reject': [{ ...idOf(plan), reason }],
    'plans.rollback': [{ execution_id: ran_plan.execution_id, reason }],
    'policies.activate': [{ reason }],
    'simulations.activate': [{ id: 'note.remove', reason }],
    'ledger.acceptHead': [{ reason }],
    'ledger.erase': [{ digest: ran_plan.hash, reason }],
    'system.freeze': [{ scope: 'tool', name: 'fail', reason }],
    'people.revoke': [{ name: 'bo', reason }],
  };
}

/** What a human signs a request for. */
function signedRequests({ ran_plan, states }: LongProject): Requests {
  const user_id = 'ada';
  return {
    'conversations.ask': [{ user_id, utterance: 'append a notebook line "once more"' }],
    'conversations.resume': [{ user_id, correlation_id: states.correlation_id }],
    'plans.report': [{ execution_id: ran_plan.execution_id }],
    'simulations.news': [{ user_id }],
  };
}

const idOf = ({ intent_id, hash }: { readonly intent_id: string; readonly hash: string }) => ({
  intent_id,
  hash,
});

function asksOf(s: Serves<LongProject>, cookie: Shown, read: Requests): Ask[] {
  const shown = { ...shownAs(cookie), origin: s.address };
  const pathOf = (verb: string) => `/v1/${verb.replace('.', '/')}`;
  const all = (requests: Requests, as: (verb: string, request: object) => Omit<Ask, 'what' | 'path'>) =>
    Object.entries(requests).flatMap(([verb, some]) =>
      some.map((request) => ({
        what: `${verb} ${JSON.stringify(request).slice(0, 60)}`,
        path: pathOf(verb),
        ...as(verb, request),
      })),
    );
  return [
    ...all(read, (_, request) => ({ request, headers: () => shown })),
    ...all(drafts(s), (_, request) => ({
      request: { request, by: 'ada', key: s.ada.public_key },
      headers: () => shown,
    })),
    ...all(signedRequests(s), (verb, request) => ({
      request,
      headers: () => signatureOf(s, s.ada as OpenKey, { path: pathOf(verb), body: JSON.stringify(request) }),
    })),
    { what: 'propose a plan', path: '/v1/intents/propose', ...proposed(s) },
    ...['/openapi.json', '/metrics', '/readyz', '/'].map((path) => ({
      ...{ what: path, path, request: undefined, headers: () => shown },
    })),
  ];
}

function proposed({ spec, token }: LongProject) {
  const request = { declared_goal: 'Change files.', effect: { kind: 'plan', ...spec } };
  return { request, headers: () => ({ authorization: `Bearer ${token}` }) };
}

it('no request holds up a service that has a long project', async () => {
  const p = await longProject();
  const read = await reads(p);
  const verbs = routesOf().filter(({ verb }) => verb.kind === 'read');
  expect(Object.keys(read).sort()).toEqual(verbs.map(({ namespace, name }) => `${namespace}.${name}`).sort());
  await expectShort(p, await turnsOfEach(p, (s, cookie) => asksOf(s, cookie, read)));
}, 1_800_000);
