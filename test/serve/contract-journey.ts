import type { OpenKey } from '../../src/identity/act.ts';
import { named, proposeSay } from '../journey/authority.ts';
import { create, planOf } from '../journey/plan-story.ts';
import type { Intent } from '../support/project.ts';
import { type States, toolCall } from './contract-project.ts';
import { type Asks, actOf, NONE, one, type Reach, reason } from './contract-reach.ts';
import { SAY } from './service.ts';

/** What reaches the answers of each verb of intents, plans and runs, in this order. */
export function journeyAsks(states: States): Asks {
  const { p, bo, waiting, turned, ran, erased, planned, planPath, ranPlan, delegated, going } = states;
  const { keyturn, ada } = p;
  const act = actOf(ada);
  /** Of an intent that is there, of one that was erased, and of one that is not. */
  const ofIntent =
    (more: (intent: Intent) => object = () => ({}), over: () => Promise<object> = async () => ({})) =>
    async (): Promise<Reach[]> =>
      [await waiting(await over()), await erased(), { ...(await erased()), intent_id: NONE }].map((one) => ({
        request: { intent_id: one.intent_id, ...more(one) },
      }));
  const ofRun = async (): Promise<Reach[]> =>
    [(await ran()).execution_id, NONE].map((execution_id) => ({ request: { execution_id } }));
  let stopped: Promise<unknown> = Promise.resolve();
  const texts = [planOf([create('a1', 'plans/read.txt')]), '{'].map((plan) => ({ request: { plan } }));
  const withEffect = async () => ({ effect: await planned() });
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
      ({ hash }) => ({ hash, action_id: 'a1', path: planPath(), from: 0, count: 1 }),
      withEffect,
    ),
    'intents.diffTexts': ofIntent(({ hash }) => ({ hash }), withEffect),
    'intents.check': ofIntent(({ hash }) => ({ hash })),
    'intents.previewSubmit': async () => {
      const { delegation_id: delegation } = await delegated();
      return ofIntent(() => ({ delegation }))();
    },
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
    'plans.read': () => texts,
    'plans.validate': () => texts,
    'plans.preview': async () => {
      const { kind: _, ...spec } = await planned();
      const { kind: __, ...done } = await planned();
      await ran({ effect: { kind: 'plan', ...done } });
      return [{ request: { spec } }, { request: { spec: done } }];
    },
    'plans.report': async () =>
      [(await ranPlan()).execution_id, (await ran()).execution_id, NONE].map((execution_id) => ({
        request: { execution_id },
        signed: ada as OpenKey,
      })),
    'plans.missingReports': () => ['plans', '..'].map((folder) => ({ request: { folder } })),
    'plans.previewRollback': async () =>
      [(await ranPlan()).execution_id, (await ran()).execution_id, NONE].map((run) => ({ request: { run } })),
    'plans.rollback': async () => act({ execution_id: (await ranPlan()).execution_id, reason }),
    'runs.report': ofRun,
    'runs.output': ofRun,
    'runs.live': ofRun,
    'runs.progress': ofRun,
    'runs.cancel': ofRun,
    'runs.inDoubt': () => [one],
    'runs.going': async () => [(await going()).execution_id, NONE].map((run) => ({ request: { run } })),
    'runs.stop': async () => {
      const { execution_id, ended } = await going();
      stopped = ended;
      return act({ execution_id, reason });
    },
    'runs.list': async () => {
      // Its last entry must not come between the draft of a later act and its end.
      await stopped;
      return [one, { request: { intent_id: NONE } }];
    },
    'runs.capabilities': () => [one, { request: { intent_id: NONE } }],
    'runs.capability': async () => [{ request: { capability_id: (await turned()).capability_id } }],
    'runs.revokeCapability': async () => act({ capability_id: (await turned()).capability_id, reason }),
    'runs.breakGlass': async () => act({ ...(await waiting()), reason }),
    'runs.retry': async () => {
      const { intent_id } = await ran({ effect: toolCall('fail', {}) });
      return act({ intent_id, reason });
    },
    'runs.resolve': async () => {
      const { execution_id, ended } = await going();
      await keyturn.runs.stop({ execution_id, reason, signer: ada });
      await ended;
      return act({ execution_id, outcome: 'did_not_happen', reason });
    },
    'runs.replay': async () => [
      ...(await ofRun()),
      { request: { execution_id: (await erased()).execution_id } },
    ],
  };
}
