import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal } from '../support/pty.ts';
import {
  answerOf,
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  type Project,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let project: Project;
let greeted: Intent;
let failed: Intent;
let ordered: Intent;

beforeAll(async () => {
  project = await makeProject(folder);
  greeted = await project.propose('greet', { name: 'Ada' });
  failed = await project.propose('fail', {}, 'Hi\u001b[2J\u202e there\nRun: another');
  for (const intent of [greeted, failed]) {
    await project.ready(intent);
    await project.talk(['run', intent.id, intent.hash], ['Proceed? (y/n) ', 'y']);
  }
  ordered = await project.propose('greet', { name: 'Bob' });
  await project.ready(ordered);
});

async function shown(command: string, columns: number): Promise<string[]> {
  const session = inTerminal([command], { cwd: folder, env: { NO_COLOR: '1' }, columns });
  expect(await session.exited).toBe(0);
  return session.raw.trimEnd().split('\r\n');
}

const cellsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((row) => row.split(/ {2,}/));

it('an order is called an order where it waits for its run', async () => {
  const { stdout } = await project.run('status');
  expect(stdout).toContain('Ordered and ready to run');
  expect(stdout).not.toMatch(/granted/i);
});

describe('runs', () => {
  it('is a table with one row for each run, newest first, with its intent and its goal', async () => {
    const { stdout, stderr, code } = await project.run('runs');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const [head, ...rows] = cellsOf(stdout);
    expect(head).toEqual(['RUN', 'INTENT', 'STATUS', 'AGE', 'TOOL', 'ON', 'GOAL']);
    expect(rows.map(([, intent, status, , tool, , goal]) => [intent, status, tool, goal])).toEqual([
      [failed.id.slice(0, 8), 'failed', 'fail', 'Hi\\x1b[2J\\u202e there\\x0aRun: another'],
      [greeted.id.slice(0, 8), 'succeeded', 'greet', 'For a test.'],
    ]);
    for (const [run = '', , , age] of rows) {
      expect(run).toMatch(/^[0-9a-f]{8}$/);
      expect(age).toMatch(/^\d+[smhd]$/);
    }
  });

  it('takes filters, a limit and a place to go on from', async () => {
    const listed = async (...words: string[]) =>
      (answerOf(await project.run('runs', ...words, '--json')) as never as Runs).result;
    const ids = async (...words: string[]) => (await listed(...words)).runs.map(({ intent_id }) => intent_id);
    const first = await listed('--limit', '1', '--since', '2h');
    expect(first.runs.map(({ intent_id }) => intent_id)).toEqual([failed.id]);
    // An age is another time now: the cursor fits all the same.
    expect(await ids('--since', '2h', '--cursor', first.next!)).toEqual([greeted.id]);
    expect(await ids('--status', 'succeeded')).toEqual([greeted.id]);
    expect(await ids('--tool', 'fail', '--by', 'bot')).toEqual([failed.id]);
    expect(await ids('--text', 'for a TEST')).toEqual([greeted.id]);
    expect(await ids('--intent', greeted.id.slice(0, 8))).toEqual([greeted.id]);
    expect(await ids('--executor', 'nowhere')).toEqual([]);
    const { executors } = await project.inside(({ system }) => system.get());
    const all = [failed.id, greeted.id];
    for (const named of [executors[0]!.name, executors[0]!.public_key, executors[0]!.public_key.slice(0, 30)])
      expect(await ids('--executor', named)).toEqual(all);
    expect((await project.run('runs', '--status', 'in-doubt')).stdout).toBe('No runs.\n');
    expect((await project.run('runs', '--limit', '1')).stdout).toMatch(
      /^There may be more: add --cursor \S+$/m,
    );
    for (const command of ['list', 'capabilities'])
      expectError('CURSOR_INVALID', await project.run(command, '--cursor', first.next!));
    expectError('INTENT_NOT_FOUND', await project.run('runs', '--intent', UNKNOWN_ID));
    for (const words of [
      ['--limit', '0'],
      ['--status', 'waiting'],
      ['--since', 'yesterday'],
      ['--needs', 'alice'],
    ])
      expectError('USAGE', await project.run('runs', ...words));
  });
});

describe('capabilities', () => {
  it('is a table with one row for each order, newest first, with who ordered it', async () => {
    const { stdout, stderr, code } = await project.run('capabilities');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const [head, ...rows] = cellsOf(stdout);
    expect(head).toEqual(['ID', 'INTENT', 'STATUS', 'AGE', 'TOOL', 'BY', 'GOAL']);
    expect(rows.map(([, intent, , , tool, by]) => [intent, tool, by])).toEqual(
      [ordered, failed, greeted].map(({ id }, i) => [id.slice(0, 8), i === 1 ? 'fail' : 'greet', 'alice']),
    );
    expect(rows.slice(1).map(([, , status]) => status)).toEqual(['spent', 'spent']);
  });

  it('takes filters of its own, such as who ordered it', async () => {
    const ids = async (...words: string[]) => {
      const { result } = answerOf(await project.run('capabilities', ...words, '--json')) as never as Orders;
      return result.capabilities.map(({ intent_id }) => intent_id);
    };
    expect(await ids('--status', 'spent')).toEqual([failed.id, greeted.id]);
    expect(await ids('--ordered-by', 'alice', '--tool', 'fail')).toEqual([failed.id]);
    expect(await ids('--ordered-by', 'bob')).toEqual([]);
    expect(await ids('--text', 'FAI')).toEqual([failed.id]);
    expect(await ids('--intent', ordered.id)).toEqual([ordered.id]);
    expect((await project.run('capabilities', '--status', 'denied')).stdout).toBe('No capabilities.\n');
    expectError('USAGE', await project.run('capabilities', '--status', 'waiting'));
  });
});

describe.each(['runs', 'capabilities'])('%s on a terminal', (command) => {
  it('keeps each row on one line where it fits', async () => {
    const lines = await shown(command, 80);
    expect(lines).toHaveLength(command === 'runs' ? 3 : 4);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^\S+ +INTENT +STATUS +AGE +TOOL +\S+ +GOAL$/);
    expect(lines.join()).not.toMatch(/[\u001b\u202e]/);
  });

  it('takes several lines for each where it has 20 columns', async () => {
    const lines = await shown(command, 20);
    for (const line of lines) expect(line.length).toBeLessThan(20);
    expect(lines).toContain(`  intent ${greeted.id.slice(0, 8)}`);
    expect(lines).toContain('  For a test.');
  });
});

interface Runs {
  readonly result: { readonly runs: readonly { readonly intent_id: string }[]; readonly next: string | null };
}

interface Orders {
  readonly result: { readonly capabilities: readonly { readonly intent_id: string }[] };
}

it('show says of each order and each run what capabilities and runs say', async () => {
  const [runs, capabilities] = [await listed('runs'), await listed('capabilities')];
  const shown = async ({ id }: Intent) => (await project.run('show', id)).stdout;
  const story = async ({ id }: Intent) =>
    (answerOf(await project.run('show', id, '--json')) as never as { result: Words }).result;
  for (const intent of [greeted, failed, ordered]) {
    const { run_words, capability_words } = await story(intent);
    for (const { execution_id, status_word } of run_words) {
      expect(runs.get(execution_id)).toBe(status_word);
      expect(await shown(intent)).toMatch(new RegExp(`^Run ${execution_id} at .*: ${status_word}$`, 'm'));
    }
    for (const { capability_id, status_word } of capability_words) {
      expect(capabilities.get(capability_id)).toBe(status_word);
      expect(await shown(intent)).toMatch(new RegExp(`capability ${capability_id}: ${status_word}$`, 'm'));
    }
  }
  expect([runs.size, capabilities.size]).toEqual([2, 3]);
  expect([...runs.values()].sort()).toEqual(['failed', 'succeeded']);
});

interface Words {
  readonly run_words: readonly { readonly execution_id: string; readonly status_word: string }[];
  readonly capability_words: readonly { readonly capability_id: string; readonly status_word: string }[];
}

async function listed(command: 'runs' | 'capabilities'): Promise<Map<string, string>> {
  const { result } = answerOf(await project.run(command, '--json')) as never as {
    result: Record<string, readonly Record<string, string>[]>;
  };
  const id = command === 'runs' ? 'execution_id' : 'capability_id';
  return new Map(result[command]!.map((row) => [row[id]!, row.status_word!]));
}
