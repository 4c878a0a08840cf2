import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { undoesNow } from '../../src/gate/next.ts';
import { signAct } from '../../src/identity/act.ts';
import type { Keyturn, Result } from '../../src/keyturn.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import {
  create,
  expectProvable,
  kindsOf,
  planOf,
  planProjects,
  proposed,
  ran,
  remove,
  replace,
  reportsOf,
  statusOf,
  undo,
} from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { statedBy } from '../support/executor.ts';
import { entriesAbout } from '../support/ledger.ts';
import { type Project, project as projectAt, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const project = planProjects();
const ALL = { keep_bytes: 0 };
const EVEN_UNDOABLE = { keep_bytes: 0, undoable_too: true };

/** One edit and one delete: two backups. */
async function done(files: Record<string, string> = { a: 'one', b: 'bee' }) {
  const p = await project(files);
  const { report, ...intent } = await ran(p, planOf([replace('1', 'a', 'one', 'two'), remove('2', 'b')]));
  return { p, report, intent, after: picture(p.root) };
}

type Policy = Parameters<Keyturn['system']['previewGc']>[0];

async function look({ keyturn }: Project, policy: Policy) {
  if (!keyturn.system.previewGc) expect.fail('nothing removes old backups');
  const { removes, keeps } = await keyturn.system.previewGc(policy);
  return { removes: removes.map((one) => one.execution_id), keeps: keeps.map(({ kept }) => kept) };
}

const runsOf = async ({ keyturn }: Project, policy: Policy) =>
  (await keyturn.system.previewGc(policy)).removes;
const gc = async (p: Project, policy: Policy) =>
  (await p.keyturn.system.gc({ runs: await runsOf(p, policy), reason: 'the disk is full', signer: p.ada }))
    .runs;
const gcOf = (p: Project, { execution_id }: Result<'runs.run'>, undoable: boolean) =>
  p.keyturn.system.gc({ runs: [{ execution_id, undoable }], reason: 'full', signer: p.ada });
const backups = ({ root }: Project, { folder }: Result<'runs.run'>) => join(root, folder!, 'backups');

describe('P8: old backups', () => {
  it('go when a human says so; manifest and reports stay, marked EXPIRED, and the undo is refused', async () => {
    const { p, report, intent, after } = await done();
    expect(await look(p, EVEN_UNDOABLE)).toEqual({ removes: [report.execution_id], keeps: [] });
    expect(picture(p.root), 'a preview touches nothing').toEqual(after);
    const files = readdirSync(join(p.root, report.folder!)).filter((name) => name !== 'backups');
    expect(await gc(p, EVEN_UNDOABLE)).toMatchObject([{ expired: true, removed: true, bytes: 6 }]);

    expect(existsSync(backups(p, report))).toBe(false);
    expect(readdirSync(join(p.root, report.folder!)).sort()).toEqual(files.sort());
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
    const archived = join(p.root, report.folder!.replace('reports', 'archive'), 'rollback_manifest.json');
    expect(JSON.parse(readFileSync(archived, 'utf8')).status).toBe('EXPIRED');
    expect((await entriesAbout(p.keyturn, intent.intent_id)).at(-1)).toMatchObject({
      kind: 'backups.expired',
      body: {
        execution_id: report.execution_id,
        bytes: 6,
        gives_up_undo: true,
        by: 'ada',
        reason: 'the disk is full',
      },
    });
    const { at } = (await entriesAbout(p.keyturn, intent.intent_id)).at(-1)!;
    const said = `The backups of this run were removed by gc on ${at} by ada.`;
    const preview = () => p.keyturn.plans.previewRollback({ run: report.execution_id });
    for (const act of [preview, () => undo(p, report)])
      expect((await expectRefusal('BACKUPS_EXPIRED', act)).message).toBe(said);
    expect(await statusOf(p, intent)).toBe('succeeded');
    expect(await look(p, EVEN_UNDOABLE)).toEqual({ removes: [], keeps: [] });
    await expectProvable(p);
  });

  it('stay while the run can be undone, unless the human gives the undo up', async () => {
    const { p, report, intent, after } = await done();
    expect(await look(p, ALL)).toEqual({ removes: [], keeps: ['MANIFEST_STILL_ACTIVE'] });
    expect(await gc(p, ALL)).toEqual([]);
    await expectRefusal('MANIFEST_STILL_ACTIVE', () => gcOf(p, report, false));
    expect(picture(p.root)).toEqual(after);
    expect(await kindsOf(p, intent)).not.toContain('backups.expired');
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(await look(p, ALL)).toEqual({ removes: [report.execution_id], keeps: [] });
    expect(await gc(p, ALL)).toMatchObject([{ removed: true }]);
    expect(reportsOf(p, report).rollback_manifest.status, 'what was executed stays so').toBe('EXECUTED');
    expect((await undo(p, report)).status, 'it was undone before').toBe('rolled_back');
    await expectProvable(p);
  });

  it('of a manifest whose time is up stay, and restore every byte', async () => {
    let now = new Date();
    const p = await projectAt(TOOLS, () => now);
    writeFileSync(join(p.root, 'a'), 'one');
    const { report } = await ran(p, planOf([remove('1', 'a')]));
    now = new Date(now.getTime() + 31 * 24 * 3600 * 1000);
    await proposed(p, planOf([create('1', 'n')]));
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
    expect(await look(p, { older_than_s: 3600 })).toEqual({ removes: [], keeps: ['MANIFEST_STILL_ACTIVE'] });
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(readFileSync(join(p.root, 'a'), 'utf8')).toBe('one');
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXECUTED');
  });

  it('stay while a rollback was begun and has not ended', async () => {
    const { p, report, intent } = await done();
    const { execution_id } = report;
    const path = p.keyturn.layout.store;
    const store = await openSqliteStore({ path, tenant: 'default', clock: () => new Date(), mode: 'write' });
    const state = (await store.find('intent', intent.intent_id))!;
    const { executor } = state.runs[0]!;
    const undoes = undoesNow(state, state.runs[0]!);
    const origin = (await p.keyturn.system.get()).origin;
    const seen = await runsOf(p, EVEN_UNDOABLE);
    const facts = { execution_id, round: 1, checkpoints: [], except: [], undoes, executor, reason: 'x' };
    const act = await signAct(
      origin,
      'rollback.claimed',
      intent.intent_id,
      facts as never,
      p.ada,
      new Date(),
    );
    const claim = await statedBy(p.keyturn, act);
    await store.commit({ events: [claim] });
    await store.close();

    expect(await look(p, EVEN_UNDOABLE)).toEqual({ removes: [], keeps: ['ROLLBACK_UNFINISHED'] });
    await expectRefusal('ROLLBACK_UNFINISHED', () =>
      p.keyturn.system.gc({ runs: seen, reason: 'x', signer: p.ada }),
    );
    expect(readdirSync(backups(p, report))).toHaveLength(2);
  });

  it('go or restore every byte when a gc and a rollback come at the same moment', async () => {
    const { p, report, intent } = await done();
    const seen = await runsOf(p, EVEN_UNDOABLE);
    const [removed, undone] = await Promise.allSettled([
      p.keyturn.system.gc({ runs: seen, reason: 'full', signer: p.ada }),
      undo(p, report),
    ]);
    if (undone.status === 'fulfilled') {
      expect(undone.value.status).toBe('rolled_back');
      expect(readFileSync(join(p.root, 'b'), 'utf8')).toBe('bee');
      if (removed.status === 'fulfilled') expect(removed.value.runs).toMatchObject([{ expired: false }]);
      expect(await kindsOf(p, intent)).not.toContain('backups.expired');
    } else {
      expect(removed).toMatchObject({ status: 'fulfilled', value: { runs: [{ removed: true }] } });
      expect(undone.reason).toMatchObject({ code: 'BACKUPS_EXPIRED' });
      expect(await statusOf(p, intent)).toBe('succeeded');
    }
    await expectProvable(p);
  });

  it('are chosen by age and by size, the oldest first', async () => {
    const { p, report: first } = await done({ a: 'one', b: 'bee', c: 'c'.repeat(3_000) });
    const { report: second } = await ran(p, planOf([remove('1', 'c')]));
    const both = { undoable_too: true };
    expect((await look(p, { ...both, older_than_s: 3600 })).removes).toEqual([]);
    expect((await look(p, { ...both, older_than_s: 0 })).removes).toHaveLength(2);
    expect((await look(p, { ...both, keep_bytes: 3_006 })).removes).toEqual([]);
    expect((await look(p, { ...both, keep_bytes: 3_005 })).removes).toEqual([first.execution_id]);
    expect((await look(p, { ...both, keep_bytes: 2_999, older_than_s: 3600 })).removes).toEqual([
      first.execution_id,
      second.execution_id,
    ]);
    await expectRefusal('USAGE', () => p.keyturn.system.previewGc(both));
  });

  it.each([
    ['no age and no size', {}],
    ['a negative age', { older_than_s: -1 }],
    ['a part of a byte', { keep_bytes: 0.5 }],
    ['an age that is no number', { older_than_s: Number.NaN }],
    ['a size without an end', { keep_bytes: Number.POSITIVE_INFINITY }],
    ['a size beyond all numbers', { keep_bytes: 2 ** 60 }],
  ])('are not chosen by %s', async (_, policy) => {
    const { keyturn } = await project();
    const code = await keyturn.system.previewGc(policy).then(
      () => 'none',
      (error) => error.code,
    );
    expect(['USAGE', 'JSON_BAD_NUMBER']).toContain(code);
  });

  it('are none in a project without a run; an age of 0 takes all that may go', async () => {
    const p = await project({ a: 'one' });
    expect(await p.keyturn.system.previewGc({ older_than_s: 0 })).toMatchObject({ removes: [], keeps: [] });
    await ran(p, planOf([remove('1', 'a')]));
    expect((await p.keyturn.system.previewGc({ older_than_s: 0 })).removes).toEqual([]);
    const all = await p.keyturn.system.previewGc({ older_than_s: 0, undoable_too: true });
    expect(all.removes).toHaveLength(1);
  });

  it('that are half removed are called available by nothing, and the next gc removes the rest', async () => {
    const { p, report, intent } = await done();
    const folder = backups(p, report);
    mkdirSync(join(folder, '002_a_folder_of_another_program'));
    const [outcome] = await gc(p, EVEN_UNDOABLE);
    expect(outcome).toMatchObject({ expired: true, removed: false, code: 'FILE_NOT_REGULAR' });
    expect(readdirSync(folder)).toEqual(['002_a_folder_of_another_program', expect.stringContaining('.bak')]);
    await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
    rmSync(join(folder, '002_a_folder_of_another_program'), { recursive: true });
    const entries = await kindsOf(p, intent);
    expect(await look(p, { older_than_s: 3600 }), 'whatever its age').toMatchObject({
      removes: [report.execution_id],
    });
    expect(await gc(p, { older_than_s: 3600 })).toMatchObject([{ removed: true }]);
    expect(existsSync(folder)).toBe(false);
    expect(await kindsOf(p, intent), 'it is recorded once').toEqual(entries);
  });

  it('are never reached through a link, and what another program put there stays', async () => {
    const { p, report } = await done();
    const [folder, elsewhere] = [backups(p, report), join(p.root, 'elsewhere')];
    renameSync(folder, elsewhere);
    symlinkSync(elsewhere, folder);
    expect(await look(p, EVEN_UNDOABLE)).toEqual({ removes: [], keeps: ['FILE_IS_SYMLINK'] });
    await expectRefusal('FILE_IS_SYMLINK', () => gcOf(p, report, true));
    expect(readdirSync(elsewhere)).toHaveLength(2);
  });

  it('are nothing to give up where a run only made files: it can be undone without them', async () => {
    const p = await project();
    const { report } = await ran(p, planOf([create('1', 'n')]));
    expect(await look(p, EVEN_UNDOABLE)).toEqual({ removes: [], keeps: [] });
    await expectRefusal('FILE_NOT_FOUND', () => gcOf(p, report, true));
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      gcOf(p, { ...report, execution_id: '00000000-0000-4000-8000-000000000000' }, true),
    );
    expect((await undo(p, report)).status).toBe('rolled_back');
  });
});
