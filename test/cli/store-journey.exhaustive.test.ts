import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { furnish, writtenIn } from '../agent/agent-place.ts';
import { planOf, replace } from '../journey/plan-story.ts';
import { writeConfig } from '../journey/postgres-host.ts';
import { APPLICATION, postgres, urlOf } from '../store/postgres-place.ts';
import { PASSPHRASE } from '../support/project.ts';
import { type Finished, keyturn } from '../support/pty.ts';
import { ADA, conversationIn, saying, typing } from './agent-scene.ts';
import { fileFolder, talkAt } from './project.ts';

/** Every command that acts, typed at a real terminal, in a project whose ledger is on a server. */

const server = postgres();
const cwd = fileFolder();
const env = { PGPASSWORD: APPLICATION.password };
const why = ['--reason', 'for a test'];
const YES = ['Proceed? (y/n) ', 'y'] as const;

const run = (...words: string[]) => keyturn(words, { cwd, env });
const talk = (words: readonly string[], ...turns: (readonly [string, string])[]) =>
  talkAt({ cwd, env }, words, ...turns);

/** Done, and nothing on standard error. */
async function done(talking: Promise<Finished>): Promise<string> {
  const { code, stdout, stderr } = await talking;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}

function namesIn(stdout: string): { id: string; hash: string } {
  return { id: /[0-9a-f-]{36}/.exec(stdout)![0], hash: /\b[0-9a-f]{64}\b/.exec(stdout)![0] };
}

/** Proposed, approved and granted, each by its own command. */
async function ready(...words: string[]): Promise<{ id: string; hash: string }> {
  const names = namesIn(await done(run('propose', '--by', 'ada', ...words)));
  expect(await done(talk(['approve', names.id], typing(names.hash), ADA))).toContain(
    `[OK] ada approved ${names.id}\n`,
  );
  expect(await done(talk(['grant', names.id], ADA))).toContain(`keyturn run ${names.id} ${names.hash}\n`);
  return names;
}

beforeAll(async () => {
  // The password is in the environment of each command, and in no file.
  writeConfig(cwd, 'command-line', urlOf(server().server, APPLICATION).replace(/:[^:@]*@/, '@'));
  const twice = [
    ['New passphrase for ada: ', PASSPHRASE],
    ['The same again: ', PASSPHRASE],
  ] as const;
  expect(await done(talk(['init', '--name', 'ada'], ...twice))).toContain('is a Keyturn project');
  await withPassword(async () => {
    const opened = await Keyturn.open({ at: cwd });
    await furnish({ root: cwd, keyturn: opened, ada: await opened.unlock('ada', PASSPHRASE) });
    await opened.close();
  });
}, 600_000);

async function withPassword(act: () => Promise<void>): Promise<void> {
  const before = process.env.PGPASSWORD;
  process.env.PGPASSWORD = APPLICATION.password;
  try {
    await act();
  } finally {
    if (before === undefined) delete process.env.PGPASSWORD;
    else process.env.PGPASSWORD = before;
  }
}

describe('the command line of a project whose ledger is on a server', () => {
  it('proposes, approves, grants and runs a tool, once', async () => {
    const { id, hash } = await ready('--tool', 'note', '--arg', 'text=from the command line');
    expect(writtenIn(cwd)).toEqual([]);
    expect((await talk(['run', id, hash], YES)).code).toBe(0);
    expect(writtenIn(cwd)).toEqual(['from the command line']);
    expect((await talk(['run', id, hash])).stderr).toMatch(/^ALREADY_EXECUTED: /);
    expect(writtenIn(cwd)).toHaveLength(1);
    expect((await run('show', id)).stdout).toMatch(/Status:? +succeeded/);
    expect(existsSync(join(cwd, '.keyturn', 'store.db'))).toBe(false);
  });

  it('runs a plan and rolls it back', async () => {
    const notes = () => readFileSync(join(cwd, 'notes.txt'), 'utf8');
    writeFileSync(join(cwd, 'notes.txt'), 'old\n');
    writeFileSync(join(cwd, 'plan.json'), planOf([replace('a1', 'notes.txt', 'old', 'new')]));
    const { id, hash } = await ready('--plan', 'plan.json');
    const ran = await talk(['run', id, hash], YES);
    expect(ran.stdout).toContain('Plan status: SUCCESS\n');
    expect(notes()).toBe('new\n');
    const execution_id = /Run ([0-9a-f-]{36}) at /.exec((await run('show', id)).stdout)![1]!;
    expect(await done(talk(['rollback', execution_id, ...why], ADA))).toContain('is rolled back\n');
    expect(notes()).toBe('old\n');
    expect((await run('show', id)).stdout).toMatch(/Status:? +undone/);
  });

  it('activates policies, and they hold at once', async () => {
    const path = join(cwd, 'policies', 'more.cedar');
    const forbid = 'forbid (principal, action == Keyturn::Action::"grant", resource)';
    writeFileSync(
      path,
      `@id("no-words")\n@version("1")\n@scope("capability")\n@rationale("Words are over.")\n${forbid}\nwhen { resource.name == "say" };\n`,
    );
    const names = namesIn(await done(run('propose', '--by', 'ada', '--tool', 'say', '--arg', 'word=hello')));
    expect((await talk(['approve', names.id], typing(names.hash), ADA)).code).toBe(0);
    expect(await done(talk(['policy', 'activate', ...why], ADA))).toContain('[OK]');
    const denied = await talk(['grant', names.id], ADA);
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain('Words are over.');
    writeFileSync(path, '');
    expect(await done(talk(['policy', 'activate', ...why], ADA))).toContain('[OK]');
    expect((await talk(['grant', names.id], ADA)).code).toBe(0);
  });

  it('erases an object, and the ledger and the store still verify', async () => {
    const { id, hash } = await ready('--tool', 'note', '--arg', 'text=a secret');
    expect((await talk(['run', id, hash], YES)).code).toBe(0);
    expect((await run('show', id)).stdout).toContain('a secret');
    expect(await done(talk(['object', 'erase', hash, ...why], [' to erase it: ', hash.slice(-8)], ADA))).toBe(
      `[OK] ada erased ${hash}. The ledger keeps its digest\n`,
    );
    expect((await run('show', id)).stdout).not.toContain('a secret');
    const rows = await server().sql('SELECT 1 FROM keyturn.object WHERE digest = $1', [hash]);
    expect(rows).toEqual([]);
    for (const words of [
      ['ledger', 'verify', '--deep'],
      ['store', 'verify', '--deep'],
    ])
      await done(run(...words));
  });

  it('leads a conversation from the goal through its yes to the effect, and back', async () => {
    const before = writtenIn(cwd).length;
    const prompt = await run('agent', 'ask', 'append a notebook line "milk"', '--correlation', 'talk');
    expect(prompt).toMatchObject({ code: 0, stdout: expect.stringContaining('"milk" — yes / no?') });
    expect(conversationIn(prompt).id).toBe('talk');
    expect(writtenIn(cwd)).toHaveLength(before);
    expect(await run(...saying(prompt, 'yes'))).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(await run(...saying(prompt, 'yes'))).toMatchObject({
      code: 0,
      stdout: 'This was done before in this conversation, and nothing was done now.\n',
    });
    expect(writtenIn(cwd).slice(before)).toEqual(['+ milk']);
    const back = await run('agent', 'undo', 'talk');
    expect(await run(...saying(back, 'yes'))).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(writtenIn(cwd).slice(before)).toEqual(['+ milk', '~ milk']);
    expect((await run('agent', 'replay', 'talk')).stdout).toMatch(/all the same\n$/);
    expect(await done(run('ledger', 'rebuild'))).toContain('[OK]');
    const said = await run('ledger', 'head');
    expect(said.stdout + said.stderr + readFileSync(join(cwd, 'keyturn.yaml'), 'utf8')).not.toContain(
      APPLICATION.password,
    );
  });
});
