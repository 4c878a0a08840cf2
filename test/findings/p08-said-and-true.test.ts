import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  create,
  planOf,
  planProjects,
  proposed,
  ran,
  rename,
  replace,
  reportsOf,
  run,
  runnable,
  undo,
  when,
} from '../journey/plan-story.ts';
import { action, deriveAndExecute, lay, modify, plan, text } from '../plan/engine/story.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { openIn } from '../support/open-files.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const project = planProjects();

describe('P8: what a run and its reports say', () => {
  it('a pipeline that failed half way is not called rolled back', async () => {
    const root = scratch();
    lay(root, { a: 'one' });
    const pipelines = { resolve: () => [], run: async () => ({ ok: false, output: 'half of it' }) };
    const made = plan([modify('1', 'a', 'one', 'two'), action('2', 'PIPELINE_RUN', 'p', { pipeline: 'p' })]);
    const outcome = await deriveAndExecute(root, made, { runners: { pipelines } });
    expect(outcome.rollback).toMatchObject({ status: 'rolled_back', not_undone: ['2'] });
    expect(outcome.errors.map(({ recovery_action }) => recovery_action)).toEqual(['MANUAL_REQUIRED']);
  });

  it('the archived manifest says that it was executed', async () => {
    const p = await project({ a: 'one' });
    const { report } = await ran(p, planOf([replace('1', 'a', 'one', 'two')]));
    const archived = join(
      p.root,
      'agent_outputs/archive',
      basename(report.folder!),
      'rollback_manifest.json',
    );
    const statusOf = () => JSON.parse(readFileSync(archived, 'utf8')).status;
    expect(statusOf()).toBe('ACTIVE');
    await undo(p, report);
    expect(statusOf()).toBe('EXECUTED');
  });

  it.each([
    ['is rolled back', {}],
    ['stays as it is', { stop_on_error: false, rollback_on_failure: false }],
  ])('a temporary file that a lost permission leaves behind is named where the run %s', async (_, rules) => {
    const p = await project({ 'sub/a': 'one' });
    const folder = join(p.root, 'sub');
    const locked = () => spawnSync('chattr', ['+i', folder]).status === 0;
    if (!locked()) return console.warn('SKIPPED: chattr +i is not possible here');
    spawnSync('chattr', ['-i', folder]);
    onTestFinished(() => void spawnSync('chattr', ['-i', folder]));
    const plan = planOf([create('1', 'n'), replace('2', 'sub/a', 'one', 'two')], rules);
    const { report } = await ran(p, plan, when('2', locked));
    const left = readdirSync(folder).filter((name) => name.startsWith('.kt-'));
    expect(left).toHaveLength(1);
    const { instructions } = reportsOf(p, report).execution_report;
    expect(instructions).toEqual([expect.stringContaining(`sub/${left[0]}: a temporary file of this run`)]);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('one');
    expect((await p.keyturn.system.leftovers()).files).toEqual(instructions);
    spawnSync('chattr', ['-i', folder]);
    rmSync(join(folder, left[0]!));
    expect((await p.keyturn.system.leftovers()).files).toEqual([]);
  });

  it('a rename to another file system is refused when it is proposed', async () => {
    const p = await project({ a: 'one' });
    const other = join(p.root, 'other');
    mkdirSync(other);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', other]).status !== 0)
      return console.warn('SKIPPED: this needs the right to mount a tmpfs (run as root)');
    onTestFinished(() => void spawnSync('umount', ['-l', other]));
    await expectRefusal('RENAME_ACROSS_FILE_SYSTEMS', () =>
      proposed(p, planOf([rename('1', 'a', 'other/a')])),
    );
    await expectRefusal('RENAME_ACROSS_FILE_SYSTEMS', () =>
      proposed(p, planOf([rename('1', 'a', 'other/new/a')])),
    );
  });

  it('a plan that rolls back does not say that the other actions go on after a failure', async () => {
    const p = await project({ a: 'one' });
    const intent = await proposed(
      p,
      planOf([replace('1', 'a', 'one', 'two')], { stop_on_error: false, rollback_on_failure: true }),
    );
    const screen = JSON.stringify((await p.keyturn.intents.review({ intent_id: intent.intent_id })).shown);
    expect(screen).not.toContain('go on');
    expect(screen).not.toContain('GOES ON');
    expect(screen).toContain('stop_on_error');
  });

  it('a process that lives on can roll back its own run, whose end could not be recorded', async () => {
    const p = await project({ a: 'one' });
    const intent = await runnable(p, planOf([replace('1', 'a', 'one', 'two')]));
    const store = join(p.root, '.keyturn', 'store.db');
    const here = `name = 'intent' AND key = '${intent.intent_id}'`;
    const row = () =>
      sqlite(store, (db) => db.prepare(`SELECT status, state FROM projection WHERE ${here}`).get());
    const put = ({ status, state }: Record<string, unknown>) =>
      sqlite(store, (db) =>
        db
          .prepare(`UPDATE projection SET status = ?, state = ? WHERE ${here}`)
          .run(String(status), String(state)),
      );
    const before = row()!;
    let claimed = before;
    const running = run(p, intent, {
      onProgress: ({ what }) => {
        if (what !== 'done') return;
        claimed = row()!;
        put(before);
      },
    });
    const { facts } = await expectRefusal('RECORDING_FAILED', () => running);
    // What it printed is kept for people, and no longer held open.
    expect(readdirSync(join(p.root, '.keyturn', 'runs'))).toContainEqual(expect.stringMatching(/\.steps$/));
    expect(openIn(join(p.root, '.keyturn', 'runs'))).toEqual([]);
    put(claimed);
    expect((await p.keyturn.intents.get({ intent_id: intent.intent_id })).status).toBe('claimed');
    expect((await undo(p, facts as never)).status).toBe('rolled_back');
    expect(text(p.root, 'a')).toBe('one');
  });
});
