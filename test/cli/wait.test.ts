import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { thisProcess } from '../../src/effect/process.ts';
import { AUTHORITY_TOOLS, call, granted, proposeSay, yes } from '../journey/authority.ts';
import { claimElsewhere } from '../journey/claim-elsewhere.ts';
import { create, planOf, planProjects, ran, replace, undo, when } from '../journey/plan-story.ts';
import { openSqliteStore } from '../store/open.ts';
import type { Project } from '../support/project.ts';
import { keyturn } from '../support/pty.ts';
import { runSeen } from '../support/seen.ts';
import { answerOf } from './project.ts';

const planProject = planProjects();

/** Claimed by a process of this host that is gone. */
async function lost(p: Project) {
  const intent = await granted(p);
  const { store: path } = p.keyturn.layout;
  const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
  const execution_id = await claimElsewhere(p, store, intent, { ...thisProcess(), pid: 4194304 });
  return { ...intent, execution_id };
}

async function tool(p: Project, name: string) {
  const intent = await granted(p, name === 'say' ? {} : call(name));
  await runSeen(p.keyturn, { ...intent, confirm: yes });
  return intent;
}

const PLAN = planOf([replace('1', 'a', 'x', 'z'), replace('2', 'b', 'y', 'z')]);

/** For each word that a wait can end with: how an intent comes to it, and the code of the no; null for a yes. */
const ENDS: Readonly<
  Record<string, readonly [code: string | null, make: (p: Project) => Promise<{ intent_id: string }>]>
> = {
  succeeded: [null, (p) => tool(p, 'say')],
  failed: ['RUN_FAILED', (p) => tool(p, 'fail')],
  rejected: [
    'INTENT_REJECTED',
    async (p) => {
      const intent = await proposeSay(p);
      await p.keyturn.intents.reject({ ...intent, reason: 'Not today.', signer: p.ada });
      return intent;
    },
  ],
  withdrawn: [
    'INTENT_WITHDRAWN',
    async (p) => {
      const { intent_id } = await proposeSay(p);
      await p.keyturn.intents.withdraw({ intent_id, reason: 'Enough.', signer: p.ada });
      return { intent_id };
    },
  ],
  replaced: [
    'INTENT_REPLACED',
    async (p) => {
      const { intent_id } = await proposeSay(p);
      await p.keyturn.intents.edit({ intent_id, declared_goal: 'Another.', signer: p.ada });
      return { intent_id };
    },
  ],
  expired: ['INTENT_EXPIRED', (p) => proposeSay(p, { expiry: new Date(Date.now() + 2_000).toISOString() })],
  'IN DOUBT': ['RUN_IN_DOUBT', lost],
  happened: [
    null,
    async (p) => {
      const { intent_id, execution_id } = await lost(p);
      await p.keyturn.runs.resolve({ execution_id, outcome: 'happened', reason: 'I looked.', signer: p.ada });
      return { intent_id };
    },
  ],
  undone: [
    'RUN_FAILED',
    async (p) => {
      const { report, intent_id } = await ran(p, planOf([create('1', 'one')]));
      await undo(p, report);
      return { intent_id };
    },
  ],
  'rolled back': [
    'RUN_FAILED',
    (p) => {
      const interrupt = new AbortController();
      return ran(p, PLAN, { abort: interrupt.signal, ...when('2', () => interrupt.abort()) });
    },
  ],
  STUCK: [
    'ROLLBACK_STUCK',
    async (p) => {
      const { report, intent_id } = await ran(p, planOf([create('1', 'two'), create('2', 'three')]));
      writeFileSync(join(p.root, 'two'), 'changed since');
      await undo(p, report);
      return { intent_id };
    },
  ],
};

it.each(Object.entries(ENDS))(
  'a wait that ends with "%s" says so, and whether that is a yes',
  async (word, [code, make]) => {
    const p = await planProject({ a: 'x', b: 'y' }, AUTHORITY_TOOLS);
    const { intent_id } = await make(p);
    const answer = answerOf(await keyturn(['wait', intent_id, '--json'], { cwd: p.root }));
    expect(answer).toMatchObject({ result: { status_word: word } });
    expect(answer.ok ? null : answer.code).toBe(code);
  },
);

it('a wait with --output for a run that failed ends with the exit code of its tool', async () => {
  const script = AUTHORITY_TOOLS.replace('/usr/bin/false', '/bin/sh\n    args: ["-c", "echo half; exit 3"]');
  const p = await planProject({}, script);
  const { intent_id } = await tool(p, 'fail');
  expect(await keyturn(['wait', intent_id, '--output'], { cwd: p.root })).toEqual({
    code: 3,
    stdout: 'half\n',
    stderr: '',
  });
  const { code, stdout, stderr } = await keyturn(['wait', intent_id], { cwd: p.root });
  expect([code, stdout]).toEqual([1, `${intent_id} failed\n`]);
  expect(stderr).toMatch(/^RUN_FAILED: /);
});
