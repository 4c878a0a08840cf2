import { beforeAll, describe, expect, it } from 'vitest';
import { cliPath, inTerminal, keyturn } from '../support/pty.ts';
import {
  answerOf,
  BOT_ACCOUNT,
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
  it('is a table with one row for each intent, newest first, with its goal', async () => {
    const { stdout, stderr, code } = await project.run('list');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^ID +STATUS +AGE +TOOL +BY +GOAL$/);
    const cells = rows.map((row) => row.split(/ {2,}/));
    expect(cells.map(([id, status, , tool, by, goal]) => [id, status, tool, by, goal])).toEqual([
      [nasty.id.slice(0, 8), 'waiting', 'greet', 'bot', 'Hi\\x1b[2J\\u202e there\\x0aIntent: another'],
      [approved.id.slice(0, 8), 'approved', 'reach', 'bot', 'For a test.'],
      [waiting.id.slice(0, 8), 'waiting', 'greet', 'bot', 'For a test.'],
    ]);
    for (const [, , age] of cells) expect(age).toMatch(/^\d+[smhd]$/);
  });

  it('takes filters, a limit and a place to go on from', async () => {
    const listed = async (...words: string[]) =>
      answerOf(await project.run('list', ...words, '--json')) as never as List;
    const ids = async (...words: string[]) =>
      (await listed(...words)).result.intents.map(({ intent_id }) => intent_id);
    const some = await listed('--limit', '2');
    expect(some.result.intents.map(({ intent_id }) => intent_id)).toEqual([nasty.id, approved.id]);
    expect(await ids('--cursor', some.result.next!)).toEqual([waiting.id]);
    expect(await ids('--status', 'waiting')).toEqual([nasty.id, waiting.id]);
    expect(await ids('--tool', 'reach')).toEqual([approved.id]);
    expect(await ids('--by', 'bot', '--text', 'THERE')).toEqual([nasty.id]);
    expect(await ids('--since', '2h', '--needs', 'alice')).toEqual([nasty.id, waiting.id]);
    expect(await ids('--until', '2001-01-01')).toEqual([]);
    expect((await project.run('list', '--status', 'in-doubt')).stdout).toBe('No intents.\n');
    expectError(
      'CURSOR_INVALID',
      await project.run('list', '--tool', 'reach', '--cursor', some.result.next!),
    );
  });

  it('refuses a limit, a status or a time that means nothing', async () => {
    for (const words of [
      ['--limit', '0'],
      ['--limit', '-1'],
      ['--limit', 'all'],
      ['--status', 'open'],
      ['--since', 'yesterday'],
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

  it('keeps each row on one line of a terminal, with all columns', async () => {
    for (const columns of [60, 80]) {
      const text = await shown(['list'], { NO_COLOR: '1' }, columns);
      const lines = text.trimEnd().split('\r\n');
      expect(lines).toHaveLength(4);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      expect(lines[0]).toMatch(/^ID +STATUS +AGE +TOOL +BY +GOAL$/);
      expect(lines[1]).toMatch(/waiting +\d+s +greet +bot +Hi\\x1b\[2J.*(…|another)$/);
      expect(lines[3]).toMatch(
        new RegExp(`^${waiting.id.slice(0, 8)} +waiting +\\d+s +greet +bot +For a test\\.$`),
      );
    }
  });

  it('takes several lines for each intent on a terminal of 20 columns', async () => {
    const text = await shown(['list'], { NO_COLOR: '1' }, 20);
    const lines = text.trimEnd().split('\r\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(20);
    expect(lines).toContain('  greet by bot');
    expect(lines).toContain('  For a test.');
    expect(lines.join('\n')).toContain(waiting.id.slice(0, 8));
  });

  it('an id is shown as long as it takes to tell it from the others', async () => {
    const ids = ['1', '2'].map((one) => `feedfeed-${one}000-4000-8000-000000000000`);
    await project.inside(async (keyturn) => {
      const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
      for (const intent_id of ids)
        await keyturn.intents.propose({ intent_id, issuer: 'bot', declared_goal: 'Twin', effect });
    }, BOT_ACCOUNT);
    const { stdout } = await project.run('list', '--text', 'twin');
    const rows = stdout.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(' ')[0])).toEqual(['feedfeed-2', 'feedfeed-1']);
    expect((await project.run('show', 'feedfeed-1')).code).toBe(0);
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

  it('has colour that guides the eye on a terminal, and none where it is not wanted', async () => {
    const [bold, dim, red] = ['\u001b[1m', '\u001b[2m', '\u001b[31m'];
    const raw = await shown(['show', approved.id], {});
    expect(raw).toContain(`${bold}For a test.`);
    expect(raw).toMatch(/Runs: +\u001b\[1m\/usr\/bin\/printf/);
    expect(raw).toContain(`${dim}${approved.hash}`);
    expect(raw).toMatch(/\u001b\[1m\u001b\[31m!!! NO SANDBOX/);
    expect(raw).toContain(red);
    expect(await shown(['show', approved.id], { NO_COLOR: '1' })).not.toMatch(/\u001b\[\d/);
    const dumb = ['TERM=dumb', process.execPath, cliPath(), 'show', approved.id];
    const session = inTerminal(dumb, { cwd: folder, program: '/usr/bin/env' });
    expect(await session.exited).toBe(0);
    expect(session.raw).toContain('For a test.');
    expect(session.raw).not.toMatch(/\u001b\[\d/);
    expect((await keyturn(['show', approved.id], { cwd: folder })).stdout).not.toContain('\u001b');
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
