import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ranPlan } from './plan-run.ts';
import { answerOf, expectError, fileFolder, makeProject, PASSPHRASE, type Project } from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const ASKED: [string, string] = ['Passphrase of alice: ', PASSPHRASE];
const WHY = ['--reason', 'wrong'];
const at = (path: string) => join(folder, path);
const read = (path: string) => readFileSync(at(path), 'utf8');

const ran = (files: readonly string[], intent_id?: string) => ranPlan(project, files, intent_id);

describe('rollback', () => {
  it('says that there is no run before it asks for a terminal', async () => {
    expectError('EXECUTION_NOT_FOUND', await project.run('rollback', '--last', ...WHY));
    expectError('EXECUTION_NOT_FOUND', await project.run('rollback', '--last', '--preview'));
    expectError('USAGE', await project.run('rollback', ...WHY));
    expectError('USAGE', await project.run('rollback', 'abcd', '--last', ...WHY));
  });

  it('--last shows which run and which files before the passphrase, and undoes that one', async () => {
    await ran(['first.txt']);
    const execution = await ran(['second.txt']);
    const { screen, stdout, code } = await project.talk(['rollback', '--last', ...WHY], ASKED);
    expect(code).toBe(0);
    const [seen] = screen.split('Passphrase');
    expect(seen).toContain(`A rollback of ${execution} would do this`);
    expect(seen).toContain('second.txt: restore');
    expect(stdout).toBe(`[OK] ${execution} is rolled back\n  second.txt: restore\n`);
    expect([read('first.txt'), read('second.txt')]).toEqual(['new\n', 'old\n']);
  });

  it('says of a run that is undone already that it is, and asks for no passphrase', async () => {
    const execution = await ran(['over.txt']);
    await project.talk(['rollback', execution, ...WHY], ASKED);
    const already = { code: 0, stdout: `[OK] ${execution} is rolled back already\n`, stderr: '' };
    expect(await project.run('rollback', execution, ...WHY)).toEqual(already);
    expect(await project.run('rollback', '--last', '--preview')).toEqual(already);
  });

  it('is refused before the passphrase where a prefix fits several runs', async () => {
    const intents = ['1', '2'].map((last) => `cafecafe-0000-4000-8000-00000000000${last}`);
    for (const [i, intent] of intents.entries()) await ran([`twin${i}.txt`], intent);
    expectError('ID_AMBIGUOUS', await project.run('rollback', 'cafecafe', ...WHY));
    const words = ['rollback', intents[0]!, '--preview'];
    expect((await project.run(...words)).stdout).toMatch(/^ {2}twin0\.txt: restore \([0-9a-f]{8}\)$/m);
  });

  it('--checkpoint takes the beginning that the preview shows, and signs for the whole id', async () => {
    const execution = await ran(['whole.txt', 'part.txt']);
    const { stdout } = await project.run('rollback', execution, '--preview');
    const [, short = ''] = /part\.txt: restore \(([0-9a-f]{8})\)/.exec(stdout)!;
    expectError(
      'CHECKPOINT_UNKNOWN',
      await project.run('rollback', execution, '--checkpoint', 'ffff0000', ...WHY),
    );
    expectError('ID_MALFORMED', await project.run('rollback', execution, '--checkpoint', 'abc', ...WHY));
    const words = ['rollback', execution, '--checkpoint', short, ...WHY, '--json'];
    const { result } = answerOf(await project.talk(words, ASKED)) as never as {
      result: { checkpoints: string[]; paths: { checkpoint_id: string; path: string }[] };
    };
    expect(result.paths.map(({ path }) => path)).toEqual(['part.txt']);
    expect(result.checkpoints).toEqual(result.paths.map(({ checkpoint_id }) => checkpoint_id));
    expect(result.checkpoints[0]).toMatch(new RegExp(`^${short}.{28}$`));
    expect([read('whole.txt'), read('part.txt')]).toEqual(['new\n', 'old\n']);
    const signed = await project.inside(({ ledger }) =>
      ledger.entries({ kind: 'rollback.claimed', limit: 1 }),
    );
    expect(signed.entries[0]!.body.checkpoints).toEqual(result.checkpoints);
  });

  it('--except leaves a path, however often it is named, by a prefix of the run', async () => {
    const execution = await ran(['keep.txt', 'undo.txt']);
    const leave = ['--except', 'keep.txt', '--except', 'keep.txt'];
    const words = ['rollback', execution.slice(0, 13), ...leave, ...WHY];
    const { stdout } = await project.talk(words, ASKED);
    expect(stdout.match(/keep\.txt: except/g)).toHaveLength(1);
    expect([read('keep.txt'), read('undo.txt')]).toEqual(['new\n', 'old\n']);
  });

  it('--except of a path that the plan does not change, or of every path, is refused before the passphrase', async () => {
    const execution = await ran(['one.txt', 'two.txt']);
    const except = (...paths: string[]) =>
      project.run('rollback', execution, ...paths.flatMap((path) => ['--except', path]), ...WHY);
    expectError('CHECKPOINT_UNKNOWN', await except('other.txt'));
    expectError('CHECKPOINT_UNKNOWN', await except('./one.txt'));
    expectError('ROLLBACK_NOT_DUE', await except('one.txt', 'two.txt'));
    const both = ['rollback', execution, '--except', 'one.txt', '--checkpoint', 'x'];
    expectError('USAGE', await project.run(...both, ...WHY));
    expectError('NO_TERMINAL', await except('one.txt'));
    expect([read('one.txt'), read('two.txt')]).toEqual(['new\n', 'new\n']);
  });

  it('--except of every path ends a rollback that is stuck', async () => {
    const execution = await ran(['theirs.txt']);
    writeFileSync(at('theirs.txt'), 'edited since\n');
    const stuck = await project.talk(['rollback', execution, ...WHY], ASKED);
    expect(stuck.stderr).toMatch(/^ROLLBACK_STUCK: /);
    const [before] = stuck.screen.split('Passphrase');
    expect(before).toContain(`A rollback of ${execution} CANNOT RESTORE 1 of 1 path`);
    expect(before).toContain('theirs.txt: CANNOT BE RESTORED');
    expect(before!.match(/by another program/g)).toHaveLength(1);
    expect(before).toContain('To restore it by hand: ');
    expect(stuck.stdout).toBe(`[ERROR] The rollback of ${execution} is stuck\n  theirs.txt: NOT RESTORED\n`);
    const left = await project.talk(['rollback', execution, '--except', 'theirs.txt', ...WHY], ASKED);
    expect(left.stdout).toMatch(/^\[OK\] \S+ is rolled back\n {2}theirs\.txt: except/);
    expect(read('theirs.txt')).toBe('edited since\n');
  });
});
