import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal, keyturn } from '../support/pty.ts';
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
let waiting: Intent;
let approved: Intent;
let nasty: Intent;

beforeAll(async () => {
  project = await makeProject(folder);
  waiting = await project.propose('greet', { name: 'Ada' });
  approved = await project.propose('reach', { count: 3 });
  await project.approve(approved);
  nasty = await project.propose('greet', { name: 'two\nlines' }, 'Hi\u001b[2J\u202e there\nIntent: another');
});

async function shown(words: readonly string[], env: Record<string, string>, columns = 200): Promise<string> {
  const session = inTerminal(words, { cwd: folder, env, columns });
  expect(await session.exited).toBe(0);
  return session.raw;
}

describe('list', () => {
  it('is a table with one row for each intent, oldest first', async () => {
    const { stdout, stderr, code } = await project.run('list');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^ID +STATUS +TOOL +BY +PROPOSED +EXPIRES$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 4))).toEqual([
      [waiting.id, 'waiting', 'greet', 'bot'],
      [approved.id, 'approved', 'reach', 'bot'],
      [nasty.id, 'waiting', 'greet', 'bot'],
    ]);
  });

  it('takes a status, a limit and a place to go on from', async () => {
    const some = answerOf(await project.run('list', '--limit', '2', '--json')) as never as List;
    expect(some.result.intents.map(({ intent_id }) => intent_id)).toEqual([waiting.id, approved.id]);
    expect(some.result.next).toBe(approved.id);
    const rest = answerOf(await project.run('list', '--after', approved.id, '--json')) as never as List;
    expect(rest.result).toMatchObject({ intents: [{ intent_id: nasty.id, status: 'proposed' }], next: null });
    const only = await project.run('list', '--status', 'approved');
    expect(only.stdout.match(/^[0-9a-f]{8}-/gm)).toHaveLength(1);
    expect((await project.run('list', '--status', 'failed')).stdout).toBe('No intents.\n');
  });

  it('refuses a limit or a status that means nothing', async () => {
    for (const words of [
      ['--limit', '0'],
      ['--limit', '-1'],
      ['--limit', 'all'],
      ['--status', 'open'],
    ]) {
      expectError('USAGE', await project.run('list', ...words));
    }
  });

  it('has colour on a terminal only, and none when NO_COLOR says so', async () => {
    const colour = '\u001b[33mwaiting\u001b[39m';
    expect(await shown(['list'], {})).toContain(colour);
    const plain = await shown(['list'], { NO_COLOR: '1' });
    expect(plain).toContain('waiting');
    expect(plain).not.toContain('\u001b[3');
    expect((await keyturn(['list'], { cwd: folder, env: { FORCE_COLOR: '1' } })).stdout).not.toContain(
      '\u001b',
    );
  });

  it('keeps each row on one line of a narrow terminal', async () => {
    const text = await shown(['list'], { NO_COLOR: '1' }, 60);
    const lines = text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
    expect(lines[1]).toContain(waiting.id);
  });
});

interface List {
  readonly result: {
    readonly intents: readonly { readonly intent_id: string }[];
    readonly next: string | null;
  };
}

describe('show', () => {
  it('shows the exact effect, who asks, why, until when, and the approvals', async () => {
    const { stdout, stderr, code } = await project.run('show', approved.id);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain(`Intent:      ${approved.id}\n`);
    expect(stdout).toContain(`Hash:        ${approved.hash}\n`);
    expect(stdout).toContain('Status:      approved\n');
    expect(stdout).toContain('Asked by:    bot (agent, by name only), from the account bot on agents\n');
    expect(stdout).toContain('Why:         For a test.\n');
    expect(stdout).toContain('Runs:        /usr/bin/printf "%s %s" 3 false\n');
    expect(stdout).toMatch(/^SHA-256: {5}[0-9a-f]{64}$/m);
    expect(stdout).toMatch(/^Approved by alice at \S+, until \S+$/m);
  });

  it('shouts when there is no sandbox, and says what a sandbox allows', async () => {
    const { stdout } = await project.run('show', approved.id);
    expect(stdout).toContain('Sandbox:     NONE\n');
    expect(stdout).toContain('!!! NO SANDBOX: this tool can reach everything that its user can reach !!!\n');
    const calm = await project.run('show', waiting.id);
    expect(calm.stdout).toContain('Sandbox:     no network, reads only the system, writes nothing\n');
    expect(calm.stdout.match(/!!! .* !!!/g)).toEqual(['!!! NO UNDO: what it does stays done !!!']);
  });

  it('what an agent wrote cannot paint over the screen', async () => {
    const { stdout } = await project.run('show', nasty.id);
    expect(stdout).toContain('Why:         Hi\\x1b[2J\\u202e there\\x0aIntent: another\n');
    expect(stdout).toContain('Runs:        /usr/bin/printf "Hello, %s!\\\\n" "two\\nlines"\n');
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
    const json = await project.run('show', nasty.id, '--json');
    expect(answerOf(json)).toMatchObject({
      result: { envelope: { declared_goal: expect.stringContaining('\u202e') } },
    });
    expect(json.stdout).not.toContain('\u202e');
  });

  it('wrong, upper-case, short and unknown ids are refused', async () => {
    const { id } = waiting;
    for (const wrong of ['', id.toUpperCase(), id.slice(1), `${id} `]) {
      expectError('ID_MALFORMED', await project.run('show', wrong));
    }
    expectError('INTENT_NOT_FOUND', await project.run('show', UNKNOWN_ID));
    expectError('USAGE', await project.run('show'));
    expectError('USAGE', await project.run('show', id, id));
  });
});
