import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { VERSION } from '../../src/keyturn.ts';
import { explain, reasonCodes } from '../../src/refusal.ts';
import { freshSigner } from '../support/keys.ts';
import { keyturn } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { expectError, fileFolder, makeProject, type Project } from './project.ts';

const nowhere = (...words: string[]) => keyturn(words, { cwd: scratch() });

describe('help', () => {
  it('lists every command, and says nothing on stderr', async () => {
    const { code, stdout, stderr } = await nowhere('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const { name } of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name.split(' ')[0]}\\b`, 'm'));
    expect(stdout).toMatch(/^ {2}lane\b/m);
    // The short way stands in the journey, before its steps.
    expect(stdout).toMatch(
      /\n {2}keyturn propose [^\n]+\n {2}keyturn turn [\s\S]*\nWhat turn does, in steps:\n/,
    );
  });

  it('without words it says how to begin, or in a project what needs a human', async () => {
    const begin = await nowhere();
    expect(begin).toMatchObject({ code: 0, stderr: '' });
    expect(begin.stdout).toMatch(/^ {2}keyturn init /m);
    const project = await makeProject(scratch());
    expect(await project.run()).toEqual({
      code: 0,
      stdout: 'For alice: nothing waits\n[OK] Nothing needs a human\n',
      stderr: '',
    });
    const { id } = await project.propose('fail');
    const { code, stdout } = await project.run();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^For alice: 1 proposal, the oldest \d+s old; `keyturn turn` takes it\n/);
    expect(stdout).toMatch(new RegExp(`^  ${id.slice(0, 8)}  waiting  .*  For a test\\.$`, 'm'));
    // With a second human, what one of them proposed needs the other one.
    await project.inside(async (keyturn) => {
      const { public_key } = freshSigner('bob');
      await keyturn.people.enrol({ name: 'bob', principal: 'human', public_key, signer: project.alice });
      const { hash } = await keyturn.intents.get({ intent_id: id });
      await keyturn.intents.reject({ intent_id: id, hash, reason: 'No.', signer: project.alice });
      const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
      await keyturn.intents.propose({ declared_goal: 'Mine.', effect, signer: project.alice });
    });
    const mine = await project.run();
    expect(mine.stdout).toMatch(/^For alice: nothing waits\n/);
    expect(mine.stdout).toContain('Mine.');
  });

  it('every command has help with examples that begin with its name', async () => {
    const pages = await inTurn(COMMANDS, ({ name }) => nowhere(...name.split(' '), '--help'));
    for (const [i, { code, stdout, stderr }] of pages.entries()) {
      const { name } = COMMANDS[i]!;
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: keyturn ${name}\\b`));
      expect(stdout.slice(stdout.indexOf('\nExamples:\n'))).toContain(`keyturn ${name}`);
      expect(stdout).toContain('--json');
    }
  });

  it('the examples are command lines that the parser understands', async () => {
    const { buildProgram } = await import('../../src/cli/program.ts');
    for (const { name, examples } of COMMANDS) {
      for (const example of examples.filter((line) => line.startsWith('keyturn'))) {
        const [, ...words] = example.match(/"[^"]*"|[^\s|]+/g)!.map((word) => word.replaceAll('"', ''));
        const called: string[] = [];
        const program = buildProgram(async (spec) => void called.push(spec.name));
        await program.parseAsync(
          words.filter((word) => word !== 'source'),
          { from: 'user' },
        );
        expect(called).toEqual([name]);
      }
    }
  });

  it('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(VERSION).toBe(version);
    expect(await nowhere('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

/** Two at a time: more only wait for each other. */
async function inTurn<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let i = 0; i < items.length; i += 4)
    results.push(...(await Promise.all(items.slice(i, i + 4).map(act))));
  return results;
}

describe('a command line that makes no sense', () => {
  const lines: string[][] = [
    ['nonsense'],
    ['--nonsense'],
    ['list', '--nonsense'],
    ['list', 'extra'],
    ['list', '--limit'],
    ['list', '--limit', '1', '--limit', '2'],
    ['list', '--project', 'a', '--project', 'b'],
    ['ledger'],
    ['ledger', 'nonsense'],
    ['identity', 'add'],
    ['propose', '--plan', 'plan.json', '--tool', 'greet'],
    ['propose', '--tool', 'greet', '--config', 'config.yaml'],
    ['propose', '--plan', 'plan.json', '--arg', 'a=b'],
    ['evil\u001b[2J\nsecond line'],
  ];
  it.each(lines.map((words) => [words]))('%j is one line with the code USAGE', async (words) => {
    const finished = await nowhere(...words);
    expectError('USAGE', finished);
    expect(finished.stderr).not.toContain('\u001b');
  });

  it('a decision that was not understood says no on stdout, and nothing ran', async () => {
    for (const words of [['check'], ['check', 'a', 'b', 'c'], ['check', 'a', 'b', '--force']]) {
      const { code, stdout, stderr } = await nowhere(...words);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^\[ERROR\] [^\n]+\n$/);
      expect(stderr).toMatch(/^USAGE: [^\n]+\n$/);
    }
    const run = await nowhere('run', 'a', 'b', '--yes');
    expect(run.stdout).toBe("[ERROR] Cannot execute: Unknown option '--yes'.\nNo execution attempted.\n");
    expect(run).toMatchObject({ code: 1, stderr: expect.stringMatching(/^USAGE: /) });
  });
});

describe('explain', () => {
  it('takes a name or a number and says what it means and what to do', async () => {
    const { code, number, category, meaning, advice } = explain('APPROVAL_EXPIRED');
    const expected = `Code:    ${code} (${number}, ${category})\nMeaning: ${meaning}\nAdvice:  ${advice}\n`;
    expect(await nowhere('explain', code)).toEqual({ code: 0, stdout: expected, stderr: '' });
    expect((await nowhere('explain', String(number))).stdout).toBe(expected);
  });

  it('lists every code when none is named, and refuses one that does not exist', async () => {
    const { stdout } = await nowhere('explain');
    for (const code of reasonCodes) expect(stdout).toMatch(new RegExp(`^\\d{4} +${code} `, 'm'));
    expectError('CODE_UNKNOWN', await nowhere('explain', 'NO_SUCH_CODE'));
    expectError('CODE_UNKNOWN', await nowhere('explain', 'toString'));
    const nearly = await nowhere('explain', 'TOOL_UNKNWON');
    expect(nearly.stderr).toContain('There is no reason code "TOOL_UNKNWON". Did you mean "TOOL_UNKNOWN"?');
  });
});

describe('in a project', () => {
  const folder = fileFolder();
  let project: Project;
  beforeAll(async () => {
    project = await makeProject(folder);
  });

  it('doctor looks at the machine and the project and names what is bad', async () => {
    const well = await project.run('doctor');
    expect(well.stdout).toMatch(/^ok {3}project: /m);
    expect(well.stdout).toMatch(/^ok {3}ledger: 6 entries, and its key is here$/m);
    expect(well.stdout).toMatch(/^ok {3}registry: \d tools?, locked$/m);
    expect(well.stdout).toMatch(/^warn credentials: alice alone can sign/m);
    expect(well.stdout.match(/^.{4} console.*$/gm)).toEqual([
      expect.stringMatching(
        /^ok {3}console: (\d+ files, sha256 over all [0-9a-f]{64}|none in this installation)$/,
      ),
    ]);
    const outside = await nowhere('doctor');
    expect(outside.code).toBe(1);
    expect(outside.stdout).toMatch(/^BAD {2}project: /m);
    expect(outside.stderr).toMatch(/PROJECT_MISSING|SANDBOX_UNAVAILABLE/);
  });

  it.each(['bash', 'zsh', 'fish'])('completion prints a script for %s', async (shell) => {
    const { code, stdout } = await nowhere('completion', shell);
    expect(code).toBe(0);
    expect(stdout).toContain('keyturn complete --');
    if (shell === 'bash') expect(spawnSync('bash', ['-n'], { input: stdout }).status).toBe(0);
  });

  it('completion knows commands, options, choices, ids, hashes, tools and names', async () => {
    const intent = await project.propose('fail');
    const suggested = async (...words: string[]) => (await project.run('complete', '--', ...words)).stdout;
    expect(await suggested('le')).toMatch(/^ledger\t/m);
    expect(await suggested('ledger', 've')).toMatch(/^verify\t/m);
    expect(await suggested('list', '--st')).toMatch(/^--status\t/m);
    expect(await suggested('list', '--status', 'app')).toMatch(/^approved\t/m);
    expect(await suggested('show', '')).toContain(`${intent.id}\tfail, waiting`);
    expect(await suggested('run', '')).not.toContain(intent.id);
    await project.approve(intent);
    expect(await suggested('run', intent.id, '')).toContain(intent.hash);
    expect(await suggested('propose', '--tool', 'gr')).toMatch(/^greet\tPrints a greeting\.$/m);
    expect(await suggested('approve', intent.id, '--as', '')).toMatch(/^alice\t/m);
    expect(await suggested('lane', 'ch')).toMatch(/^check\t/m);
  });

  it('completion outside a project is silent about it', async () => {
    const { code, stdout, stderr } = await nowhere('complete', '--', 'show', '');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(':4\n');
  });
});
