import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import type { Checkpoint, RollbackManifest } from '../../src/plan/rollback/manifest.ts';
import {
  expectProvable,
  planOf,
  planProjects,
  ran,
  remove,
  replace,
  reportsOf,
  statusOf,
  undo,
} from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { expectRefusal } from '../support/refusal.ts';

const project = planProjects();

async function done() {
  const p = await project({ a: 'one', b: 'bee', 'sub/other': 'o' });
  const { report, ...intent } = await ran(p, planOf([replace('1', 'a', 'one', 'two'), remove('2', 'b')]));
  const { rollback_manifest } = reportsOf(p, report);
  return { p, report, intent, manifest: rollback_manifest, after: picture(p.root) };
}

type Done = Awaited<ReturnType<typeof done>>;

async function expectRefused(
  { p, report, intent, after }: Omit<Done, 'manifest'>,
  code: 'MANIFEST_CORRUPT' | 'BACKUP_CORRUPT' | 'JOURNAL_CORRUPT',
) {
  await expectRefusal(code, () => p.keyturn.plans.previewRollback({ run: report.execution_id }));
  await expectRefusal(code, () => undo(p, report));
  expect(picture(p.root)).toEqual(after);
  expect(await statusOf(p, intent), 'a refusal claims nothing').toBe('succeeded');
}

const NOW = '2026-01-15T12:00:00.000Z';
const lineOf = (line: object) => Buffer.from(`${JSON.stringify(line)}\n`);

const first = (edit: (one: Checkpoint) => object) => (manifest: RollbackManifest) => {
  const [one, ...rest] = manifest.checkpoints;
  return { ...manifest, checkpoints: [{ ...one!, ...edit(one!) }, ...rest] };
};

describe('P5: the manifest of a claimed run', () => {
  it.each([
    ['owner', first(() => ({ original_owner: { uid: 1, gid: 1 } }))],
    ['time', first(() => ({ original_mtime_ns: '1' }))],
    ['access time', first(() => ({ original_atime_ns: '1' }))],
    ['mode', first(() => ({ original_mode: 0o777 }))],
    ['backup location', first(() => ({ backup_location: 'sub/other' }))],
    ['missing backup location', first(() => ({ backup_location: null }))],
    ['chain', first(() => ({ chain: 7 }))],
    ['expiry', (manifest: RollbackManifest) => ({ ...manifest, expires_at: '2020-01-01T00:00:00.000Z' })],
    [
      'order',
      (manifest: RollbackManifest) => ({
        ...manifest,
        rollback_order: [...manifest.rollback_order].reverse(),
      }),
    ],
    [
      'prefix of temporary files',
      (manifest: RollbackManifest) => ({ ...manifest, temporary_prefix: `.kt-${'0'.repeat(32)}-` }),
    ],
  ])('with another %s is refused, and nothing is touched', async (_, edit) => {
    const run = await done();
    const { p, report, manifest, intent } = run;
    const path = join(p.root, report.folder!, 'rollback_manifest.json');
    const kept = readFileSync(path);
    writeFileSync(path, JSON.stringify(edit(manifest)));
    await expectRefused(run, 'MANIFEST_CORRUPT');
    writeFileSync(path, kept);
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(await statusOf(p, intent)).toBe('undone');
    await expectProvable(p);
  });

  it.each(['EXECUTED', 'EXPIRED'])('that says %s says the truth after the undo', async (status) => {
    const { p, report, manifest } = await done();
    const path = join(p.root, report.folder!, 'rollback_manifest.json');
    const rolled_back_at = '2020-01-01T00:00:00.000Z';
    writeFileSync(path, JSON.stringify({ ...manifest, status, rolled_back_at }));
    expect((await undo(p, report)).status).toBe('rolled_back');
    const now = reportsOf(p, report).rollback_manifest;
    expect(now.status).toBe('EXECUTED');
    expect(now.rolled_back_at).not.toBe(rolled_back_at);
  });

  it('with the right digest and a missing backup is refused, and nothing is touched', async () => {
    const run = await done();
    rmSync(join(run.p.root, run.manifest.checkpoints[0]!.backup_location!));
    await expectRefused(run, 'BACKUP_CORRUPT');
  });

  it('with the right digest and a shorter backup is refused, and nothing is touched', async () => {
    const run = await done();
    writeFileSync(join(run.p.root, run.manifest.checkpoints[1]!.backup_location!), '');
    await expectRefused(run, 'BACKUP_CORRUPT');
  });

  it('with the right digest and a backup that has a second name is refused, and nothing is touched', async () => {
    const run = await done();
    const path = join(run.p.root, run.manifest.checkpoints[0]!.backup_location!);
    linkSync(path, `${path}.second`);
    await expectRefused(run, 'BACKUP_CORRUPT');
  });

  it('with the right digest and a backup of other bytes is refused for its path alone, which the preview says', async () => {
    const { p, report, manifest, intent } = await done();
    const { backup_location, original_hash } = manifest.checkpoints[0]!;
    const backup = join(p.root, backup_location!);
    const original = readFileSync(backup);
    writeFileSync(backup, 'eno');
    const foretold = await p.keyturn.plans.previewRollback({ run: report.execution_id });
    expect(foretold.paths).toMatchObject([
      { path: 'b', step: 'restore' },
      { path: 'a', step: 'refuse', code: 'BACKUP_CORRUPT' },
    ]);

    const { status, paths, instructions } = await undo(p, report);
    expect(status).toBe('stuck');
    expect(paths).toMatchObject([
      { path: 'b', done: true },
      { path: 'a', done: false, code: 'BACKUP_CORRUPT' },
    ]);
    expect(instructions).toHaveLength(1);
    for (const said of ['a: ', backup_location!, original_hash!]) expect(instructions[0]).toContain(said);
    expect(readFileSync(join(p.root, 'a'), 'utf8'), 'it stays as the run left it').toBe('two');
    expect(readFileSync(join(p.root, 'b'), 'utf8')).toBe('bee');
    expect(await statusOf(p, intent)).toBe('stuck');

    writeFileSync(backup, original);
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(readFileSync(join(p.root, 'a'), 'utf8')).toBe('one');
    expect(await statusOf(p, intent)).toBe('undone');
    await expectProvable(p);
  });

  it.each([
    ['calls a path untouched', (at: string) => ({ kind: 'untouched', at, paths: ['a'] })],
    [
      'announces the change of another program',
      (at: string) => ({
        kind: 'leaves',
        at,
        action_id: '1',
        path: 'a',
        state: { sha256: sha256(Buffer.from('theirs')), size: 6, mode: 0o640 },
      }),
    ],
  ])('with a line more in the journal, which %s, is refused, and nothing is touched', async (_, line) => {
    const { p, report, intent } = await done();
    writeFileSync(join(p.root, 'a'), 'theirs');
    const after = picture(p.root);
    const journal = join(p.root, report.folder!, 'journal.jsonl');
    const kept = readFileSync(journal);
    for (const changed of [Buffer.concat([kept, lineOf(line(NOW))]), Buffer.alloc(0)]) {
      writeFileSync(journal, changed);
      await expectRefused({ p, report, intent, after }, 'JOURNAL_CORRUPT');
    }
    writeFileSync(journal, kept);
    expect((await undo(p, report)).status).toBe('stuck');
    writeFileSync(join(p.root, 'a'), 'two');
    writeFileSync(journal, Buffer.concat([readFileSync(journal), Buffer.from('{"kind":"rolled')]));
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(readFileSync(journal).subarray(0, kept.length).equals(kept)).toBe(true);
    await expectProvable(p);
  });

  it('needs no backup of what is as it was before the run', async () => {
    const run = await done();
    const { p, report } = run;
    const path = join(p.root, run.manifest.checkpoints[1]!.backup_location!);
    writeFileSync(join(p.root, 'b'), 'bee', { mode: 0o640 });
    rmSync(path);
    expect((await undo(p, report)).status).toBe('rolled_back');
  });
});
