import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Keyturn, Result } from '../../src/keyturn.ts';
import { limits } from '../../src/limits.ts';
import { until } from '../support/processes.ts';
import { type Intent, type Project, writeSecrets } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { executorOf } from './executing.ts';
import { create, planOf, planProjects, proposed } from './plan-story.ts';

const VALUE = `token-${'value'.split('').reverse().join('')}-4711`;

/** Prints, waits until there is a file, and prints on. */
const TALK = `#!/bin/sh
echo 'one \u001b[31mred'
printf 'half gr\\303' ; echo "error" >&2
printf '%s' "$TOKEN" | cut -c 1-8 | tr -d '\\n'
while [ ! -e "$1" ]; do sleep 0.02; done
printf '%s' "$TOKEN" | cut -c 9-
echo two
`;
const FLOOD = `#!/bin/sh
yes 0123456789abcde | head -c 200000
while [ ! -e "$1" ]; do sleep 0.02; done
yes 0123456789abcde | head -c 200000
`;
const tool = (name: string, more = '') => `  - name: ${name}
    summary: Prints over time.
    executable: ./${name}.sh
    args: ["{gate}"]
    parameters: { gate: { type: string, max_length: 300 } }
    sandbox: none
    undo: none
${more}`;
const REGISTRY = `version: 1
tools:
${tool('talk', '    secrets: { TOKEN: api.token }\n')}${tool('flood', '    stdout_bytes: 100000\n')}${tool('hold')}
pipelines:
  - { name: holds, summary: One step., steps: [{ tool: hold, arguments: { gate: gate } }] }
`;

const projects = planProjects();

async function talking(): Promise<Project & { readonly gate: string; go(): void }> {
  const p = await projects({}, REGISTRY);
  writeFileSync(join(p.root, 'talk.sh'), TALK, { mode: 0o755 });
  writeFileSync(join(p.root, 'flood.sh'), FLOOD, { mode: 0o755 });
  writeFileSync(join(p.root, 'hold.sh'), '#!/bin/sh\nwhile [ ! -e "$1" ]; do sleep 0.02; done\n', {
    mode: 0o755,
  });
  const file = join(scratch(), 'token');
  writeFileSync(file, `${VALUE}\n`, { mode: 0o600 });
  writeSecrets(p.root, { 'api.token': { file } });
  const gate = join(p.root, 'gate');
  return { ...p, gate, go: () => writeFileSync(gate, '') };
}

/** Turned, and claimed by an executor. */
async function begun({ keyturn, ada }: Project, { intent_id, hash }: Intent): Promise<string> {
  await keyturn.intents.turn({ intent_id, hash, signer: ada });
  const latest = async () => (await keyturn.intents.get({ intent_id })).runs.at(-1);
  await until(async () => (await latest()) !== undefined);
  return (await latest())!.execution_id;
}

async function called(p: Project & { readonly gate: string }, tool: string): Promise<string> {
  const effect = { kind: 'tool' as const, tool, arguments: { gate: p.gate } };
  return begun(p, await p.keyturn.intents.propose({ declared_goal: 'Talk.', effect, signer: p.ada }));
}

type Live = Result<'runs.live'>;

/** Asks on with the positions of the last answer, until the condition holds. */
async function heard(
  keyturn: Keyturn,
  execution_id: string,
  isEnough: (all: Heard) => boolean,
): Promise<Heard> {
  const all = { stdout: '', stderr: '', steps: [] as Live['steps'][number][], answers: [] as Live[] };
  let after = { stdout_after: 0, stderr_after: 0, steps_after: 0 };
  while (!isEnough(all)) {
    const answer = await keyturn.runs.live({ execution_id, ...after, wait_ms: 5_000 });
    all.stdout += answer.stdout.text;
    all.stderr += answer.stderr.text;
    all.steps.push(...answer.steps);
    all.answers.push(answer);
    after = {
      stdout_after: answer.stdout.next,
      stderr_after: answer.stderr.next,
      steps_after: answer.steps_next,
    };
  }
  return all;
}

interface Heard {
  readonly stdout: string;
  readonly stderr: string;
  readonly steps: readonly Live['steps'][number][];
  readonly answers: readonly Live[];
}

const isOver = ({ answers }: Heard) => {
  const last = answers.at(-1);
  return last?.state === 'ended' && !last.stdout.has_more && !last.stderr.has_more;
};
const spool = ({ root }: Project) =>
  readdirSync(join(root, '.keyturn', 'runs')).filter((name) => /\.(stdout|stderr|steps)$/.test(name));

describe('the output of a run that goes on', () => {
  it('is told as it comes, without the secret, to another instance, and goes on in the record', async () => {
    const p = await talking();
    await executorOf(p);
    const execution_id = await called(p, 'talk');
    const early = await heard(
      p.keyturn,
      execution_id,
      (all) => all.stdout.includes('half') && all.stderr !== '',
    );
    // What begins a character, and what begins the secret, is held back.
    expect(early).toMatchObject({ stdout: 'one \\x1b[31mred\nhalf gr', stderr: 'error\n' });
    expect(early.answers.at(-1)).toMatchObject({ state: 'going', source: 'live' });
    p.go();
    const all = await heard(p.keyturn, execution_id, isOver);
    expect(all.stdout).toBe('one \\x1b[31mred\nhalf gr�[secret api.token]\ntwo\n');
    expect(all.answers.at(-1)).toMatchObject({ state: 'ended', source: 'record', stdout: { dropped: 0 } });
    await until(() => spool(p).length === 0);
  });

  it('never holds more than is kept, and says how much was dropped', async () => {
    const p = await talking();
    await executorOf(p);
    const execution_id = await called(p, 'flood');
    const early = await heard(
      p.keyturn,
      execution_id,
      (all) => (all.answers.at(-1)?.stdout.dropped ?? 0) > 0,
    );
    for (const { stdout } of early.answers) expect(stdout.text.length).toBeLessThanOrEqual(limits.live_bytes);
    p.go();
    const all = await heard(p.keyturn, execution_id, isOver);
    expect(all.stdout).toHaveLength(100_000);
    expect(all.answers.at(-1)?.stdout).toMatchObject({ dropped: 300_000, has_more: false, next: 100_000 });
  });

  it('of a plan is which action is at work and which are done', async () => {
    const p = await talking();
    await executorOf(p);
    const holds = {
      action_id: '2',
      action_type: 'PIPELINE_RUN',
      target: 'holds',
      operation: { type: 'pipeline_run', pipeline: 'holds' },
    };
    const plan = planOf([create('1', 'n'), holds, create('3', 'm')]);
    const execution_id = await begun(p, await proposed(p, plan));
    const at2 = await heard(p.keyturn, execution_id, ({ steps }) =>
      steps.some((one) => one.action_id === '2'),
    );
    expect(at2.steps.map(({ phase, action_id, status }) => [phase, action_id, status])).toEqual([
      ['checkpoint', null, null],
      ['action', '1', null],
      ['action_done', '1', 'SUCCESS'],
      ['action', '2', null],
    ]);
    p.go();
    expect((await heard(p.keyturn, execution_id, isOver)).answers.at(-1)?.steps).toEqual([]);
  });

  it('is waited for no longer than asked, and refused where there is no such run', async () => {
    const p = await talking();
    await executorOf(p);
    const execution_id = await called(p, 'hold');
    const quiet = await p.keyturn.runs.live({ execution_id, wait_ms: 10 });
    expect(quiet).toMatchObject({ state: 'going', stdout: { text: '', next: 0 }, steps_next: 0 });
    const gone = new AbortController();
    const waiting = p.keyturn.runs.live({ execution_id, wait_ms: 20_000, signal: gone.signal });
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    p.go();
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      p.keyturn.runs.live({ execution_id: '00000000-0000-4000-8000-000000000000' }),
    );
    await expectRefusal('SHAPE_INVALID', () => p.keyturn.runs.live({ execution_id, wait_ms: 20_001 }));
    await expectRefusal('SHAPE_INVALID', () => p.keyturn.runs.live({ execution_id, stdout_after: -1 }));
  });

  it('that another program put in its place is no line of ours', async () => {
    const p = await talking();
    await executorOf(p);
    const execution_id = await called(p, 'hold');
    const folder = join(p.root, '.keyturn', 'runs');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${execution_id}.steps`);
    writeFileSync(
      path,
      'no json\n{"step":{"phase":"done"}}\n{"dropped":{"stdout":"much","stderr":1}}\n{"dro',
    );
    expect(await p.keyturn.runs.live({ execution_id })).toMatchObject({ steps: [], stdout: { dropped: 0 } });
    p.go();
    await p.keyturn.intents.waitFor({ intent_id: (await p.keyturn.runs.live({ execution_id })).intent_id });
  });
});
