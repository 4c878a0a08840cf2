import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../bench/facts.ts';
import type { Event } from '../../src/event/event.ts';
import type { PlanSpec } from '../../src/keyturn.ts';
import { named, PERMITS, policy, proposeSay, rules } from '../journey/authority.ts';
import { planOf, specOf } from '../journey/plan-story.ts';
import { replace } from '../plan/written.ts';
import type { Intent } from '../support/project.ts';
import { runSeen } from '../support/seen.ts';
import { type Furnished, furnished } from './contract-project.ts';

/** A project that was worked with for months: thousands of entries, dozens of policies, plans of a hundred files, and long stories. */
export interface LongProject extends Furnished {
  readonly waiting: Intent;
  readonly long: Intent;
  readonly plan: Intent;
  readonly plan_text: string;
  readonly spec: PlanSpec;
  readonly ran_plan: Intent & { readonly execution_id: string };
  readonly ran: Intent & { readonly execution_id: string; readonly capability_id: string };
}

const PROPOSALS = 6_000;
const TOGETHER = 64;
const POLICIES = 50;
const FILES = 100;
const LINES = 330;
const REFUSALS = 1_000;
const TURNED = 300;
const TALKS = 40;

export async function longProject(): Promise<LongProject> {
  const p = await furnished();
  const { root, keyturn, ada } = p;
  const many = Array.from({ length: POLICIES }, (_, i) =>
    policy(
      `long_${i}`,
      'execution',
      `forbid (principal, action, resource) when { resource.tools.contains("none_${i}") && context.approvals < 2 };`,
    ),
  );
  await rules(p, [PERMITS, ...many].join('\n'));
  const crowd = async (act: (n: number) => Promise<unknown>, count: number) => {
    let next = 0;
    const one = async () => {
      while (next < count) await act(next++);
    };
    await Promise.all(Array.from({ length: TOGETHER }, one));
  };
  await crowd((n) => proposeSay(p, { issuer: 'bot', effect: sayOf(`${n} ${'x'.repeat(80)}`) }), PROPOSALS);
  await crowd(async () => {
    const intent = await proposeSay(p, { issuer: 'bot' });
    await keyturn.intents.approve({ ...intent, signer: ada });
  }, TURNED);
  for (let n = 0; n < TALKS; n++)
    await keyturn.conversations.ask({ user_id: 'ada', utterance: `append a notebook line "${n}"` });
  const long = await proposeSay(p, { issuer: 'bot' });
  await refusedOften(p, long);
  const texts = lay(root);
  const plan_text = planOf(texts);
  const planned = async () => ({ effect: { kind: 'plan' as const, ...(await specOf(p, plan_text)) } });
  const done = await proposeSay(p, { issuer: 'bot', declared_goal: 'Change files.', ...(await planned()) });
  const { execution_id } = await turned(p, done);
  lay(root);
  const plan = await proposeSay(p, { issuer: 'bot', declared_goal: 'Change files.', ...(await planned()) });
  const ran = await p.states.ran();
  appendFileSync(join(root, 'policies', 'keyturn.cedar'), '\n');
  return {
    ...p,
    waiting: await proposeSay(p, { issuer: 'bot' }),
    long,
    plan,
    plan_text,
    spec: await specOf(p, plan_text),
    ran_plan: { ...done, execution_id },
    ran,
  };
}

const sayOf = (word: string) => ({ kind: 'tool' as const, tool: 'say', arguments: { word } });

async function turned({ keyturn, ada }: Furnished, intent: Intent) {
  await keyturn.intents.turn({ ...named(intent), signer: ada });
  return runSeen(keyturn, { ...named(intent), confirm: async () => true });
}

async function refusedOften({ keyturn }: Furnished, { intent_id }: Intent): Promise<void> {
  const body = { reason_code: 'HASH_MISMATCH', decision: null } as const;
  const refused: Event = { kind: 'intent.refused', subject: intent_id, body };
  const store = await openStore(keyturn.layout.store, 'write');
  for (let n = 0; n < REFUSALS; n += 100) await store.commit({ events: Array(100).fill(refused) });
  await store.close();
}

/** Files, and the plan that changes each line of them. */
function lay(root: string): object[] {
  mkdirSync(join(root, 'data'), { recursive: true });
  const text = Array.from({ length: LINES }, (_, i) => `The quick brown fox number ${i} jumps over.\n`).join(
    '',
  );
  return Array.from({ length: FILES }, (_, i) => {
    const path = join(root, 'data', `file-${i}.txt`);
    writeFileSync(path, text);
    chmodSync(path, 0o644);
    return replace(`a${i}`, `data/file-${i}.txt`, 'fox number', 'cat no.');
  });
}
