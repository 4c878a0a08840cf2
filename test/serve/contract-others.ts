import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenKey } from '../../src/identity/act.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { askedFor, yes as saidYes } from '../agent/agent-place.ts';
import { envelopeFor } from '../agent/by-hand.ts';
import { freshSigner } from '../support/keys.ts';
import { type States, toolCall } from './contract-project.ts';
import { type Asks, actOf, NONE, one, type Reach, reason } from './contract-reach.ts';

/** What reaches the answers of every other verb, in this order. */
export function otherAsks(states: States): Asks {
  const { p, bo, waiting, ran, erased, erasedTalk, delegated, decision, otherHead } = states;
  const { keyturn, ada } = p;
  const act = actOf(ada);
  const ofIntent = async (): Promise<Reach[]> =>
    [(await waiting()).intent_id, (await erased()).intent_id, NONE].map((intent_id) => ({
      request: { intent_id },
    }));
  return {
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
    'agents.pins': () => [{ request: { actions: ['tool:say'] } }],
    'agents.delegations': () => [one],
    'agents.addToken': () => act({ name: 'bot', digest: Keyturn.makeToken('bot').digest, reason }),
    'agents.revokeToken': async () => {
      const { tokens } = await keyturn.agents.tokens();
      const { token_id } = tokens.find((each) => each.token_id !== states.token_id)!;
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
    'mcp.question': ofIntent,
    'mcp.keep': async () => {
      const effect = { kind: 'mcp', server: 'every', tool: 'echo', arguments: { message: 'x' } };
      const { intent_id } = await waiting({ effect });
      const all = [{ request: { intent_id } }, ...(await ofIntent())];
      return all.map(({ request }) => ({ request: { ...request, answers: { name: 'ann' } } }));
    },
    'mcp.ask': () => [
      // The second one does not answer.
      { request: { server: 'every', method: 'resources/list', params: {} } },
      { request: { server: 'odd', method: 'resources/templates/list', params: {} } },
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
    ...saidAsks(states),
    'conversations.get': async () => ofConversation(states.correlation_id, await erasedTalk()),
    'conversations.status': async () => ofConversation(states.correlation_id, await erasedTalk()),
    'conversations.replay': async () => ofConversation(states.correlation_id, await erasedTalk()),
    'conversations.list': () => [one],
    'conversations.snapshot': () => [one],
    'conversations.turnKey': () => [
      { request: { correlation_id: states.correlation_id, user_id: 'ada', turn_id: 't', utterance: 'x' } },
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
    'ledger.since': () => [0, 1_000_000].map((from) => ({ request: { from } })),
    'ledger.export': () => [one],
    'ledger.head': () => [one],
    'ledger.acceptHead': () => act({ reason }),
    'ledger.verify': async () => [one, { request: { kept: [await otherHead()] } }],
    'ledger.verifyStore': async () => [one, { request: { kept: [await otherHead()] } }],
    'ledger.prove': async () => [
      ...(await ofIntent()),
      { request: { intent_id: (await waiting()).intent_id, kept: await otherHead() } },
    ],
    'ledger.object': async () => ofDigest(await decision()),
    'ledger.decision': async () => ofDigest(await decision()),
    'ledger.explainErase': async () => ofDigest(await decision()),
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
      { request: { of: 'object', id: '0'.repeat(64) } },
    ],
    'system.revokeControlKey': async () => {
      const { control_keys } = await keyturn.system.get();
      return act({ public_key: control_keys[0]!.public_key, reason });
    },
  };
}

/** The words of a user: by the human whose key signs the request, and by a session, which says none. */
function saidAsks({ p, correlation_id, erasedTalk }: States): Asks {
  const { keyturn, ada } = p;
  const user_id = 'ada';
  const said = (...requests: object[]): Reach[] =>
    requests.flatMap((request) => [{ request, signed: ada as OpenKey }, { request }]);
  const note = (value: string) => askedFor(keyturn, `append a notebook line "${value}"`);
  return {
    'conversations.ask': () =>
      said(
        { user_id, utterance: 'append a notebook line "asked"' },
        { user_id, utterance: 'Other words.', correlation_id, turn_id: 'turn-1' },
      ),
    'conversations.answer': async () => {
      const asked = await keyturn.conversations.ask({ user_id, utterance: 'append a notebook line' });
      return said(
        { user_id, correlation_id: asked.correlation_id, text: '"answered"' },
        { user_id, correlation_id: await erasedTalk(), text: 'x' },
      );
    },
    'conversations.confirm': async () => {
      const { plan_id, step_id, ...prompt } = await note('confirmed');
      const { plans } = await keyturn.conversations.status({ correlation_id: await erasedTalk() });
      return said(
        { user_id, correlation_id: prompt.correlation_id, plan_id, step_id, text: 'yes' },
        { user_id, correlation_id: await erasedTalk(), plan_id: plans[0]!.plan_id, text: 'yes' },
      );
    },
    'conversations.dispatch': async () => {
      const envelope = await envelopeFor(keyturn, correlation_id);
      return said(envelope, { ...envelope, correlation_id: 'none' });
    },
    'simulations.news': () => said({ user_id }),
    'conversations.resume': async () => said({ correlation_id }, { correlation_id: await erasedTalk() }),
    'conversations.undo': async () => {
      const prompt = await note('undone');
      await saidYes(keyturn, prompt);
      const undone = { user_id, correlation_id: prompt.correlation_id };
      return said(undone, { user_id, correlation_id: await erasedTalk() });
    },
  };
}

const NO_DIGEST = '0'.repeat(64);

const ofDigest = (digest: string): Reach[] =>
  [digest, NO_DIGEST].map((one) => ({ request: { digest: one } }));

const ofConversation = (...ids: string[]): Reach[] =>
  [...ids, 'none'].map((correlation_id) => ({ request: { correlation_id } }));
