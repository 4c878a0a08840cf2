import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Plan, PlanEffect } from '../../../src/plan/model.ts';
import { inspectRun } from '../../../src/plan/rollback/inspect.ts';
import { readJournal } from '../../../src/plan/rollback/journal.ts';
import { loadManifest, MANIFEST_NAME, type RollbackManifest } from '../../../src/plan/rollback/manifest.ts';
import { type RollBackOptions, rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { requireUntouched } from '../../../src/plan/rollback/scope.ts';
import { setAttribute, withTools } from '../../support/attributes.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import {
  create,
  derive,
  execute,
  journalOf,
  lay,
  modify,
  picture,
  plan,
  REPORTS,
  remove,
  rename,
  text,
} from '../engine/story.ts';

const MADE = plan([
  modify('1', 'a', 'one', 'two'),
  create('2', 'new/deep/n', 'fresh'),
  rename('3', 'b', 'c'),
  remove('4', 'gone'),
  modify('5', 'a', 'two', 'three'),
]);

interface Done {
  readonly root: string;
  readonly before: Record<string, string>;
  readonly effect: PlanEffect;
  readonly manifest: RollbackManifest;
  back(more?: Partial<RollBackOptions>): ReturnType<typeof rollBack>;
  id(path: string): string;
}

async function done(made: Plan = MADE): Promise<Done> {
  const root = scratch();
  lay(root, { a: 'one', b: 'bee', gone: 'gone', bystander: 'b' });
  const before = picture(root);
  const effect = await derive(root, made);
  expect((await execute(root, effect)).status).toBe('SUCCESS');
  expect(picture(root)).not.toEqual(before);
  const manifest = loadManifest(root, REPORTS);
  return {
    root,
    before,
    effect,
    manifest,
    back: (more) =>
      rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect, ...more }),
    id: (path) => manifest.checkpoints.find(({ file_path }) => file_path === path)!.checkpoint_id,
  };
}

describe('a rollback', () => {
  it('brings a file back where the plan moved another one with the same content', async () => {
    const root = scratch();
    lay(root, { a: 'same', b: 'same' });
    utimesSync(join(root, 'b'), 1e9, 1e9);
    const before = picture(root);
    const effect = await derive(
      root,
      plan([rename('1', 'a', 'm'), rename('2', 'b', 'a'), modify('3', 'm', 'same', 'other')]),
    );
    expect((await execute(root, effect)).status).toBe('SUCCESS');
    const outcome = await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect });
    expect(outcome.status).toBe('rolled_back');
    expect(picture(root)).toEqual(before);
  });

  it('brings back content, mode, time, existence and folders, and says so in manifest and journal', async () => {
    const { root, before, back } = await done();
    const outcome = await back();
    expect(outcome).toMatchObject({ status: 'rolled_back', instructions: [], not_undone: [] });
    expect(outcome.folders_removed).toEqual(['new/deep', 'new']);
    expect(picture(root)).toEqual(before);
    expect(loadManifest(root, REPORTS)).toMatchObject({ status: 'EXECUTED' });
    expect(readJournal(root, REPORTS).at(-1)).toMatchObject({ kind: 'rolled_back', status: 'rolled_back' });
  });

  it('brings back times of any fraction to the microsecond', async () => {
    const root = scratch();
    const names = Array.from({ length: 60 }, (_, i) => `f${i}`);
    for (const name of names) writeFileSync(join(root, name), 'one');
    const times = () => names.map((name) => statSync(join(root, name), { bigint: true }).mtimeNs / 1000n);
    const before = times();
    const effect = await derive(root, plan(names.map((name) => modify(name, name, 'one', 'two'))));
    await execute(root, effect);
    expect(
      (await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect })).status,
    ).toBe('rolled_back');
    expect(times()).toEqual(before);
  });

  it('moves a renamed file back: it is the same file', async () => {
    const { root, back } = await done();
    const { ino } = statSync(join(root, 'c'));
    await back();
    expect(statSync(join(root, 'b')).ino).toBe(ino);
  });

  it('run twice is harmless', async () => {
    const { root, before, back } = await done();
    await back();
    const again = await back();
    expect(again.status).toBe('rolled_back');
    expect(again.paths.every(({ step }) => step === 'nothing')).toBe(true);
    expect(picture(root)).toEqual(before);
  });

  it('a preview says what would be done and does nothing', async () => {
    const { root, back } = await done();
    const after = picture(root);
    const outcome = await back({ preview: true });
    expect(outcome.status).toBe('preview');
    const steps = Object.fromEntries(outcome.paths.map(({ path, step }) => [path, step]));
    expect(steps).toEqual({ a: 'restore', b: 'move_back', gone: 'restore', 'new/deep/n': 'remove' });
    expect(picture(root)).toEqual(after);
    expect(readJournal(root, REPORTS).some(({ kind }) => kind === 'rolled_back')).toBe(false);
  });

  it('refuses a file that was changed after the run, restores the others, and is stuck with instructions', async () => {
    const { root, before, back } = await done();
    writeFileSync(join(root, 'a'), 'theirs');
    const outcome = await back();
    expect(outcome.status).toBe('stuck');
    expect(outcome.paths.find(({ path }) => path === 'a')).toMatchObject({
      step: 'refuse',
      done: false,
      code: 'CHANGED_SINCE_RUN',
    });
    expect(outcome.instructions).toHaveLength(1);
    expect(outcome.instructions[0]).toContain(`${REPORTS}/backups/001_a.bak`);
    expect(text(root, 'a')).toBe('theirs');
    const { a: _theirs, ...others } = picture(root);
    const { a: _ours, ...expected } = before;
    expect(others).toEqual(expected);
    expect(loadManifest(root, REPORTS).status).toBe('ACTIVE');
  });

  it('refuses a file whose mode was changed, and one that was removed, after the run', async () => {
    const { root, back } = await done();
    chmodSync(join(root, 'a'), 0o777);
    rmSync(join(root, 'new/deep/n'));
    rmSync(join(root, 'c'));
    const outcome = await back();
    const codes = Object.fromEntries(outcome.paths.map(({ path, step }) => [path, step]));
    // Where nothing was before, nothing being there is as before.
    expect(codes).toMatchObject({ a: 'refuse', c: 'nothing', 'new/deep/n': 'nothing', b: 'restore' });
    expect(text(root, 'b')).toBe('bee');
  });

  it('names a file whose attributes cannot be read, and restores the others', async () => {
    const { root, back } = await done();
    // Its size is a lie, and tar says so.
    const unreadable = '/sys/kernel/mm/transparent_hugepage/enabled';
    const file = join(root, 'a');
    if (!existsSync(unreadable) || spawnSync('mount', ['--bind', unreadable, file]).status !== 0)
      return console.warn('SKIPPED: this needs the right to mount (run as root)');
    onTestFinished(() => void spawnSync('umount', ['-l', file]));
    const outcome = await back();
    expect(outcome.status).toBe('stuck');
    expect(outcome.paths.filter(({ done }) => !done).map(({ path }) => path)).toEqual(['a']);
    expect(text(root, 'b')).toBe('bee');
  });

  it('keeps a folder in which somebody else put a file', async () => {
    const { root, back } = await done();
    writeFileSync(join(root, 'new/theirs'), 't');
    const outcome = await back();
    expect(outcome.status).toBe('rolled_back');
    expect(outcome.folders_removed).toEqual(['new/deep']);
    expect(text(root, 'new/theirs')).toBe('t');
  });

  it('leaves a file alone when its backup is not the original', async () => {
    const { root, back } = await done();
    const backup = join(root, REPORTS, 'backups', '001_a.bak');
    writeFileSync(backup, 'eno'); // as long as the original
    const outcome = await back();
    expect(outcome.paths.find(({ path }) => path === 'a')).toMatchObject({
      done: false,
      code: 'BACKUP_CORRUPT',
    });
    expect(outcome.instructions).toEqual([
      expect.stringMatching(/put a copy of the original .* from elsewhere at .*001_a\.bak, or at a,/),
    ]);
    expect(text(root, 'a')).toBe('three');
    expect(readdirSync(root).filter((name) => name.startsWith('.kt-'))).toEqual([]);
  });

  it(
    'needs no backup of a file that is as before, attributes included',
    withTools(async () => {
      const root = scratch();
      lay(root, { a: 'one' });
      setAttribute(join(root, 'a'), 'user.k', 'v');
      const effect = await derive(root, plan([modify('1', 'a', 'one', 'two')]));
      await execute(root, effect);
      const back = () => rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect });
      expect((await back()).status).toBe('rolled_back');
      rmSync(join(root, REPORTS, 'backups'), { recursive: true });
      expect((await back()).status).toBe('rolled_back');
      setAttribute(join(root, 'a'), 'user.k', 'w');
      await expectRefusal('BACKUP_CORRUPT', back);
    }),
  );

  it('brings back a file whose folder was removed meanwhile', async () => {
    const root = scratch();
    lay(root, { 'f/only': 'x' });
    const before = picture(root);
    const effect = await derive(root, plan([remove('1', 'f/only')]));
    await execute(root, effect);
    rmSync(join(root, 'f'), { recursive: true });
    expect(
      (await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root), effect })).status,
    ).toBe('rolled_back');
    expect(picture(root)).toEqual(before);
  });
});

describe('a rollback that breaks half way', () => {
  it('is stuck and says why, and the next one finishes it', async () => {
    const { root, before, back } = await done();
    const clock = () => {
      throw new Error('The clock is gone.');
    };
    const outcome = await back({ clock });
    expect(outcome.status).toBe('stuck');
    expect(outcome.instructions).toEqual(['The clock is gone. Correct this, then roll back again.']);
    expect(await back()).toMatchObject({ status: 'rolled_back', instructions: [] });
    expect(picture(root)).toEqual(before);
  });
});

describe('a part of a rollback', () => {
  it('restores only the named checkpoint', async () => {
    const { root, back, id } = await done();
    const outcome = await back({ checkpoints: [id('a')] });
    expect(outcome.status).toBe('rolled_back');
    expect(text(root, 'a')).toBe('one');
    expect(text(root, 'c')).toBe('bee');
    expect(loadManifest(root, REPORTS).status).toBe('ACTIVE');
  });

  it('half of a rename is refused, both halves are not', async () => {
    const { root, back, id } = await done();
    await expectRefusal('CHECKPOINT_CHAINED', () => back({ checkpoints: [id('b')] }));
    await expectRefusal('CHECKPOINT_CHAINED', () => back({ checkpoints: [id('c'), id('a')] }));
    expect((await back({ checkpoints: [id('b'), id('c')] })).status).toBe('rolled_back');
    expect(text(root, 'b')).toBe('bee');
    expect(existsSync(join(root, 'c'))).toBe(false);
  });

  it('an unknown checkpoint is refused', async () => {
    const { back } = await done();
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expectRefusal('CHECKPOINT_UNKNOWN', () => back({ checkpoints: [nobody] }));
  });
});

interface Forged {
  checkpoints: { original_hash: string; file_path: string }[];
  folders_created: string[];
  rollback_order: string[];
  plan_digest: string;
}

describe('a manifest that was changed', () => {
  const forge = (root: string, change: (manifest: Forged) => unknown) => {
    const path = join(root, REPORTS, MANIFEST_NAME);
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Forged;
    change(manifest);
    writeFileSync(path, JSON.stringify(manifest));
  };

  it.each([
    ['another original', (m: Forged) => Object.assign(m.checkpoints[0]!, { original_hash: 'f'.repeat(64) })],
    ['another path', (m: Forged) => Object.assign(m.checkpoints[0]!, { file_path: 'bystander' })],
    ['a folder that the plan did not make', (m: Forged) => m.folders_created.push('theirs')],
    ['another plan', (m: Forged) => Object.assign(m, { plan_digest: 'f'.repeat(64) })],
    ['an order that leaves one out', (m: Forged) => m.rollback_order.pop()],
    ['no checkpoint at all', (m: Forged) => Object.assign(m, { checkpoints: [], rollback_order: [] })],
    ['one checkpoint twice', (m: Forged) => Object.assign(m.checkpoints[1]!, m.checkpoints[0])],
    ['another result', (m: Forged) => Object.assign(m.checkpoints[0]!, { states: [null] })],
    ['something else that cannot be undone', (m: Forged) => Object.assign(m, { irreversible: ['1'] })],
    ['another folder of reports', (m: Forged) => Object.assign(m, { reports_folder: 'agent_outputs' })],
    ['a field that nobody knows', (m: Forged) => Object.assign(m, { extra: 1 })],
  ])('with %s is refused, and nothing is touched', async (_what, change) => {
    const { root, back } = await done();
    mkdirSync(join(root, 'theirs'));
    forge(root, change);
    const after = picture(root);
    await expectRefusal('MANIFEST_CORRUPT', async () => back());
    expect(picture(root)).toEqual(after);
  });
});

describe('a run without a manifest', () => {
  it('has changed nothing when all its files are as they were', async () => {
    const root = scratch();
    lay(root, { a: 'one', b: 'bee', gone: 'gone' });
    await requireUntouched(await derive(root, MADE), root);
  });

  it('is refused when one of them is not: somebody removed the manifest', async () => {
    const { root, effect } = await done();
    await expectRefusal('MANIFEST_CORRUPT', () => requireUntouched(effect, root));
  });
});

describe('an inspection', () => {
  it('says for each path what was done', async () => {
    const { root, manifest } = await done();
    writeFileSync(join(root, 'new/deep/n'), 'theirs');
    rmSync(join(root, 'a'));
    writeFileSync(join(root, 'gone'), 'gone');
    chmodSync(join(root, 'gone'), 0o640);
    const { paths, finished } = await inspectRun(manifest, root, journalOf(root).lines);
    const states = Object.fromEntries(paths.map(({ checkpoint, state }) => [checkpoint.file_path, state]));
    expect(states).toEqual({
      a: 'missing',
      'new/deep/n': 'changed',
      b: 'done',
      c: 'done',
      gone: 'untouched',
    });
    expect(finished).toBe('SUCCESS');
  });

  it('a torn last line of the journal was never said, a torn line before it is refused', async () => {
    const { root, manifest } = await done();
    const journal = join(root, REPORTS, 'journal.jsonl');
    const whole = readFileSync(journal, 'utf8');
    writeFileSync(journal, `${whole}{"kind":"fin`);
    expect((await inspectRun(manifest, root, journalOf(root).lines)).finished).toBe('SUCCESS');
    writeFileSync(journal, `{"kind":"fin\n${whole}`);
    await expectRefusal('JOURNAL_CORRUPT', () => inspectRun(manifest, root, journalOf(root).lines));
  });
});
