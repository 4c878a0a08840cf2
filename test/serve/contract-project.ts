import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { once } from '../../src/canonical/once.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { Keyturn, type Signer } from '../../src/keyturn.ts';
import { askedFor, furnish, yes as saidYes } from '../agent/agent-place.ts';
import { human, named, PERMITS, policy, proposeSay, rules, yes } from '../journey/authority.ts';
import { create, planOf, specOf } from '../journey/plan-story.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { freshSigner } from '../support/keys.ts';
import { found, type Intent, type Project, writeRegistry } from '../support/project.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { SAY, withToken } from './service.ts';

/** One request of a verb. */
export interface Reach {
  readonly request: object;
  /** Who signs it: then it is drawn up and finished. Without it, it is asked by the agent and by the session. */
  readonly by?: Signer;
  readonly holder?: Signer;
  /** A human whose key signs the request itself, and who proves no act by that. */
  readonly signed?: OpenKey;
}

type Asked = () => Promise<readonly Reach[]> | readonly Reach[];

export interface Furnished extends Project {
  readonly token: string;
  /** For each verb, what reaches its answers: made when it is its turn, in this order. */
  readonly asks: Readonly<Record<string, Asked>>;
}

const SETTINGS = `version: 1
service: { requests_minute: 10000000, at_once: 4 }
proposals: { pending: 10000, minute: 100000 }
`;

const UNDONE = `
  - name: pay
    summary: Pays.
    executable: /usr/bin/true
    args: ["{to}"]
    parameters: { to: { type: string, max_length: 20 } }
    sandbox: none
    undo: compensating
    undone_by: { tool: refund, arguments: { from: "{to}" } }
  - name: refund
    summary: Takes it back.
    executable: /usr/bin/true
    args: ["{from}"]
    parameters: { from: { type: string, max_length: 20 } }
    sandbox: none
    undo: none
`;

const GLASS = policy(
  'glass',
  'emergency',
  'permit (principal, action == Keyturn::Action::"break_glass", resource);',
);

const NONE = '00000000-0000-4000-8000-000000000000';
const NO_DIGEST = '0'.repeat(64);

/** A project in which everything that can be asked about is there once: people, agents, runs, plans, conversations, a server. */
export async function furnished(): Promise<Furnished> {
  const root = scratch();
  appendFileSync(join(root, 'keyturn.yaml'), SETTINGS);
  const passed = { pass: ['resources'], timeout_s: 1 };
  const servers = {
    every: { script: SERVERS.everything, more: passed },
    odd: { script: SERVERS.odd, args: ['plain', '{files}/log'], more: passed },
  };
  writeServers(root, servers, root);
  const p = await found(root);
  onTestFinished(() => p.keyturn.close());
  await furnish(p);
  writeRegistry(root, `${readFileSync(join(root, 'tools.yaml'), 'utf8')}${UNDONE}`);
  const { token, token_id } = await withToken(p, 'bot');
  for (const server of ['every', 'odd']) await accepted(p.keyturn, server, p.ada);
  const told = await askedFor(p.keyturn, 'append a notebook line "x"');
  await saidYes(p.keyturn, told);
  // It fails, and so a figure of the agent core is breached.
  await p.keyturn.conversations.ask({ user_id: 'ada', utterance: 'break the old engine' });
  const bo = await human(p, 'bo');
  await rules(p, `${PERMITS}\n${GLASS}`);
  return { ...p, token, asks: asksOf(p, bo, { token_id, correlation_id: told.correlation_id }) };
}

const toolCall = (tool: string, args: object) => ({ kind: 'tool' as const, tool, arguments: args });

function asksOf(
  p: Project,
  bo: OpenKey,
  known: { readonly token_id: string; readonly correlation_id: string },
): Readonly<Record<string, Asked>> {
  const { keyturn, ada } = p;
  const waiting = (over: object = {}) => proposeSay(p, { issuer: 'bot', ...over });
  const turned = async (over: object = {}) => {
    const intent = await waiting(over);
    const { capability_id } = await keyturn.intents.turn({ ...intent, signer: ada });
    return { ...intent, capability_id };
  };
  const ran = async (over: object = {}) => {
    const intent = await turned(over);
    const { execution_id } = await runSeen(keyturn, { ...named(intent), confirm: yes });
    return { ...intent, execution_id };
  };
  const reason = 'a test';
  const one = { request: {} };
  const erased = once(async () => {
    const run = await ran({ effect: toolCall('say', { word: 'secret' }) });
    const undo = [run.execution_id];
    await keyturn.ledger.erase({ digest: run.hash, undo, reason, signer: ada });
    return run;
  });
  /** Of an intent that is there, of one that was erased, and of one that is not. */
  const ofIntent =
    (more: (intent: Intent) => object = () => ({}), over: () => Promise<object> = async () => ({})): Asked =>
    async () =>
      [await waiting(await over()), await erased(), { ...(await erased()), intent_id: NONE }].map((one) => ({
        request: { intent_id: one.intent_id, ...more(one) },
      }));
  const ofRun: Asked = async () =>
    [(await ran()).execution_id, NONE].map((execution_id) => ({ request: { execution_id } }));
  const withEffect = async () => ({ effect: await planned() });
  const act = (request: object, by: Signer = ada, holder?: Signer): Reach[] => [
    { request, by, ...(holder && { holder }) },
  ];
  let made = 0;
  const planned = async () => {
    made += 1;
    const spec = await specOf(p, planOf([create('a1', `plans/new-${made}.txt`)]));
    return { kind: 'plan' as const, ...spec };
  };
  const ranPlan = async () => ran({ declared_goal: 'Change files', effect: await planned() });
  const delegated = async () =>
    keyturn.agents.delegate({
      ...{ delegate: 'bo', actions: ['tool:say'], approves: true, ttl_s: 3600, reason, signer: ada },
    });
  return {
    'intents.propose': () => [{ request: SAY }, ...act({ ...SAY, issuer: 'ada' })],
    'intents.undo': async () => {
      const { intent_id } = await ran({ effect: toolCall('pay', { to: 'ann' }) });
      const { intent_id: other } = await ran({ effect: toolCall('pay', { to: 'bea' }) });
      return [
        { request: { intent_id } },
        { request: { intent_id: NONE } },
        ...act({ intent_id: other, issuer: 'ada' }),
      ];
    },
    'intents.edit': async () => act({ intent_id: (await waiting()).intent_id, arguments: { word: 'other' } }),
    'intents.withdraw': async () => {
      const { intent_id } = await waiting();
      const { intent_id: own } = await proposeSay(p, {}, ada);
      return [
        { request: { intent_id, reason } },
        { request: { intent_id: NONE, reason } },
        ...act({ intent_id: own, reason }),
      ];
    },
    'intents.earlier': ofIntent(() => ({ name: 'ada' })),
    'intents.changes': ofIntent(),
    'intents.list': () => [one],
    'intents.next': () => [{ request: { needs: 'ada' } }],
    'intents.get': ofIntent(),
    'intents.result': ofIntent(),
    'intents.story': ofIntent(),
    'intents.twin': ofIntent(),
    'intents.requireSecrets': ofIntent(),
    'intents.waitFor': async () => {
      const over = await ran();
      return [over, await waiting(), { intent_id: NONE }].map(({ intent_id }) => ({
        request: { intent_id },
      }));
    },
    'intents.whatIf': ofIntent(({ hash }) => ({ hash, by: 'ada', act: 'turn' })),
    'intents.review': ofIntent(),
    'intents.hunks': ofIntent(
      ({ hash }) => ({ hash, action_id: 'a1', path: `plans/new-${made}.txt`, from: 0, count: 1 }),
      withEffect,
    ),
    'intents.diffTexts': ofIntent(({ hash }) => ({ hash }), withEffect),
    'intents.check': ofIntent(({ hash }) => ({ hash })),
    'intents.submit': async () => {
      const { delegation_id: delegation } = await delegated();
      return act({ ...(await waiting()), delegation }, bo);
    },
    'intents.offer': async () => {
      const intent = await waiting();
      await keyturn.intents.approve({ ...intent, signer: ada });
      const over = named(await ran());
      return [intent, over, { ...intent, intent_id: NONE }].map((one) => ({
        request: { ...one, by: 'bo' },
        signed: bo,
      }));
    },
    'intents.grant': async () => {
      const intent = await waiting();
      await keyturn.intents.approve({ ...intent, signer: ada });
      return act(intent);
    },
    'intents.turn': async () => act(await waiting()),
    'intents.approve': async () => act(await waiting()),
    'intents.reject': async () => act({ ...(await waiting()), reason }),
    'plans.preview': async () => {
      const { kind: _, ...spec } = await planned();
      const { kind: __, ...done } = await planned();
      await ran({ effect: { kind: 'plan', ...done } });
      return [{ request: { spec } }, { request: { spec: done } }];
    },
    'plans.missingReports': async () => [{ request: { folder: 'plans' } }],
    'plans.previewRollback': async () =>
      [(await ranPlan()).execution_id, (await ran()).execution_id, NONE].map((run) => ({ request: { run } })),
    'plans.rollback': async () => act({ execution_id: (await ranPlan()).execution_id, reason }),
    'runs.output': ofRun,
    'runs.live': ofRun,
    'runs.progress': ofRun,
    'runs.cancel': ofRun,
    'runs.inDoubt': () => [one],
    'runs.going': async () =>
      [(await going(p, await turned(WAIT))).execution_id, NONE].map((run) => ({ request: { run } })),
    'runs.stop': async () => act({ execution_id: (await going(p, await turned(WAIT))).execution_id, reason }),
    'runs.list': () => [one],
    'runs.capabilities': () => [one],
    'runs.capability': async () => [{ request: { capability_id: (await turned()).capability_id } }],
    'runs.revokeCapability': async () => act({ capability_id: (await turned()).capability_id, reason }),
    'runs.breakGlass': async () => act({ ...(await waiting()), reason }),
    'runs.retry': async () => {
      const { intent_id } = await ran({ effect: toolCall('fail', {}) });
      return act({ intent_id, reason });
    },
    'runs.resolve': async () => {
      const { execution_id, ended } = await going(p, await turned(WAIT));
      await keyturn.runs.stop({ execution_id, reason, signer: ada });
      await ended;
      return act({ execution_id, outcome: 'did_not_happen', reason });
    },
    'runs.replay': async () => [
      ...(await ofRun()),
      { request: { execution_id: (await erased()).execution_id } },
    ],
    'people.list': () => [one],
    'people.credentials': () => [{ request: { name: 'ada' } }, { request: { name: 'nobody' } }],
    'people.enrol': () => act({ name: 'cy', principal: 'agent', public_key: freshSigner('cy').public_key }),
    'people.assign': () => act({ name: 'cy', roles: ['ops'], reason }),
    'people.addCredential': () => {
      const holder = freshSigner('bo');
      const credential = { kind: 'key', label: 'second', public_key: holder.public_key };
      return act({ name: 'bo', credential, reason }, bo, holder);
    },
    'people.revokeCredential': async () => {
      const { credentials } = await keyturn.people.credentials({ name: 'bo' });
      const { public_key } = credentials.find(({ label }) => label === 'second')!;
      return act({ name: 'bo', public_key, reason });
    },
    'people.revoke': () => act({ name: 'cy', reason }),
    'agents.delegate': () => act({ delegate: 'bo', actions: ['tool:say'], ttl_s: 3600, reason }),
    'agents.delegations': () => [one],
    'agents.addToken': () => act({ name: 'bot', digest: Keyturn.makeToken('bot').digest, reason }),
    'agents.revokeToken': async () => {
      const { tokens } = await keyturn.agents.tokens();
      const { token_id } = tokens.find((each) => each.token_id !== known.token_id)!;
      return act({ name: 'bot', token_id, reason });
    },
    'agents.tokens': () => [one],
    'agents.revokeDelegation': async () => act({ delegation_id: (await delegated()).delegation_id, reason }),
    'policies.check': () => [one],
    'policies.test': () => [one],
    'policies.files': () => [one],
    'policies.diff': () => [one],
    'policies.activate': () => {
      appendFileSync(join(p.root, 'policies', 'keyturn.cedar'), '\n');
      return act({ reason });
    },
    'tools.list': () => [one],
    'tools.arguments': () => [{ request: { tool: 'say', texts: { word: 'x' } } }],
    'tools.pass': () => [{ request: { client: 'claude-code', tool: 'Read', arguments: {} } }],
    'tools.lint': () => [one],
    'mcp.servers': () => [one],
    'mcp.tools': () => [one],
    'mcp.question': ofIntent(),
    'mcp.ask': () => [
      // The second one does not answer.
      { request: { server: 'every', method: 'resources/list', params: {} } },
      { request: { server: 'odd', method: 'resources/list', params: {} } },
    ],
    'mcp.remove': () => act({ server: 'odd', reason }),
    'simulations.register': () => act({ id: 'lamp.dim', reason }),
    'simulations.activate': () => act({ id: 'lamp.dim', reason }),
    'simulations.list': () => [one],
    'simulations.get': () => [{ request: { id: 'lamp.dim' } }, { request: { id: 'lamp.none' } }],
    'simulations.bound': () => [{ request: { id: 'lamp.dim' } }, { request: { id: 'lamp.none' } }],
    'simulations.check': () => [{ request: { id: 'lamp.dim' } }, { request: { id: 'lamp.none' } }],
    'simulations.try': () => [{ request: { utterance: 'dim the corridor lamp' } }],
    'simulations.scaffold': () => [{ request: { tool: 'say' } }, { request: { tool: 'none' } }],
    'simulations.wishes': () => [one],
    'simulations.deprecate': () => act({ id: 'lamp.dim', reason }),
    'simulations.disable': () => act({ id: 'lamp.dim', reason }),
    'conversations.get': () => ofConversation(known),
    'conversations.status': () => ofConversation(known),
    'conversations.replay': () => ofConversation(known),
    'conversations.list': () => [one],
    'conversations.snapshot': () => [one],
    'conversations.turnKey': () => [
      { request: { correlation_id: known.correlation_id, user_id: 'ada', turn_id: 't', utterance: 'x' } },
    ],
    'conversations.slo': () => [one],
    'conversations.waive': async () => {
      await keyturn.people.assign({ name: 'ada', roles: ['builder'], reason, signer: ada });
      const { figures } = await keyturn.conversations.slo();
      const breached = figures.filter(({ is_breached }) => is_breached).map(({ figure }) => figure);
      return act({ figures: breached, until: new Date(Date.now() + 3_600_000).toISOString(), reason });
    },
    'conversations.requireSlo': () => [one],
    'ledger.entries': () => [one],
    'ledger.head': () => [one],
    'ledger.acceptHead': () => act({ reason }),
    'ledger.verify': async () => [one, { request: { kept: [await otherHead(p)] } }],
    'ledger.verifyStore': async () => [one, { request: { kept: [await otherHead(p)] } }],
    'ledger.prove': ofIntent(),
    'ledger.object': async () => ofDigest(await decisionOf(p)),
    'ledger.decision': async () => ofDigest(await decisionOf(p)),
    'ledger.explainErase': async () => ofDigest(await decisionOf(p)),
    'ledger.erase': async () => {
      const { intent_id } = await ran({ effect: toolCall('say', { word: 'erased' }) });
      const { outputs } = await keyturn.intents.story({ intent_id });
      return act({ digest: outputs[0]!.stdout!, reason });
    },
    'system.status': () => [one],
    'system.get': () => [one],
    'system.freeze': () => act({ scope: 'tool', name: 'fail', reason }),
    'system.unfreeze': () => act({ scope: 'tool', name: 'fail', reason }),
    'system.addExecutor': () => act({ name: 'far', public_key: freshSigner('far').public_key, reason }),
    'system.revokeExecutor': async () => {
      const { executors } = await keyturn.system.get();
      return act({ public_key: executors.find(({ name }) => name === 'far')!.public_key, reason });
    },
    'system.checkClock': () => [one],
    'system.acceptClock': () => act({ reason }),
    'system.previewGc': () => [{ request: { older_than_s: 0 } }],
    'system.leftovers': () => [one],
    'ids.find': async () => [
      { request: { of: 'intent', id: (await waiting()).intent_id } },
      { request: { of: 'intent', id: NONE } },
    ],
    'system.revokeControlKey': async () => {
      const { control_keys } = await keyturn.system.get();
      return act({ public_key: control_keys[0]!.public_key, reason });
    },
  };
}

const WAIT = { effect: toolCall('wait', { seconds: 60 }) };

/** A run of an hour, once it is claimed. */
async function going({ keyturn }: Project, intent: Intent) {
  let begun = (_: string) => {};
  const claimed = new Promise<string>((done) => {
    begun = done;
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const ended = runSeen(keyturn, {
    ...named(intent),
    confirm: yes,
    onClaimed: begun,
    abort: stop.signal,
  }).catch(() => {});
  return { execution_id: await claimed, ended };
}

/** The head with another signature. */
async function otherHead({ keyturn }: Project): Promise<string> {
  const { text } = await keyturn.ledger.head();
  return text.replace(/.(=*\n)$/, (_, end: string) => `x${end}`);
}

async function decisionOf({ keyturn }: Project): Promise<string> {
  const { entries } = await keyturn.ledger.entries({ kind: 'approval.granted' });
  return (entries[0]!.body as { decision: string }).decision;
}

const ofDigest = (digest: string): Reach[] =>
  [digest, NO_DIGEST].map((one) => ({ request: { digest: one } }));

const ofConversation = ({ correlation_id }: { readonly correlation_id: string }): Reach[] =>
  [correlation_id, 'none'].map((one) => ({ request: { correlation_id: one } }));
