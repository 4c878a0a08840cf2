import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { auditProof, excerptOfExportFile, excerptOfProof, Keyturn, storyInFile } from '../../src/keyturn.ts';
import {
  create,
  enrolled,
  expectProvable,
  kindsOf,
  planOf,
  planProjects,
  proposed,
  ran,
  remove,
  reportsOf,
  runnable,
  statusOf,
  undo,
} from '../journey/plan-story.ts';
import { opened, sqlite } from '../store/sqlite-file.ts';
import { entriesAbout, exported, objectOf, proofOf } from '../support/ledger.ts';
import { type Intent, type Project, project as projectAt, steady, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';

/** Needs the build in dist/. */
const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const project = planProjects();
const ALL = { keep_bytes: 0 };
const EVEN_UNDOABLE = { keep_bytes: 0, undoable_too: true };
const BIG = 'x'.repeat(5_000);

type Policy = Parameters<Keyturn['system']['previewGc']>[0];

async function look({ keyturn }: Project, policy: Policy) {
  const { objects } = await keyturn.system.previewGc(policy);
  if (!objects) expect.fail('gc removes no objects');
  return objects;
}

async function gc(p: Project, policy: Policy) {
  const { removes } = await look(p, policy);
  return (
    await p.keyturn.system.gc({ runs: [], objects: removes, reason: 'the disk is full', signer: p.ada })
  ).objects;
}

const whyOf = (objects: Awaited<ReturnType<typeof look>>) => objects.keeps.map(({ why }) => why).sort();

/** A plan that made a file and was rolled back: nothing needs its objects any more. */
async function over(p: Project, file = 'n'): Promise<Intent & { execution_id: string }> {
  const { report, ...intent } = await ran(p, planOf([create('1', file, BIG)]));
  expect((await undo(p, report)).status).toBe('rolled_back');
  expect(await statusOf(p, intent)).toBe('undone');
  return { ...intent, execution_id: report.execution_id };
}

const effectOf = async ({ keyturn }: Project, { intent_id }: Intent) =>
  (await keyturn.intents.get({ intent_id })).effect_digest;
const storeOf = ({ root }: Project) => join(root, '.keyturn', 'store.db');

describe('P8: old objects', () => {
  it('go when a human says so; verify, show, export and proof say by whom and when', async () => {
    const p = await project();
    const intent = await over(p);
    const effect = await effectOf(p, intent);
    expect(await look(p, { older_than_s: 3600 })).toMatchObject({ removes: [] });
    const { removes } = await look(p, ALL);
    expect(removes.map(({ digest }) => digest)).toContain(effect);
    expect(await gc(p, ALL)).toMatchObject({ objects: removes.length, kept: [], code: null });

    await expectProvable(p);
    await p.keyturn.ledger.verifyStore({ deep: true });
    const [entry] = await entriesAbout(p.keyturn, effect);
    expect(entry).toMatchObject({ kind: 'object.expired', body: { by: 'ada', reason: 'the disk is full' } });
    const said = `It was removed by gc on ${entry!.at} by ada.`;
    expect((await expectRefusal('OBJECT_MISSING', () => objectOf(p.keyturn, effect))).message).toBe(said);
    expect(
      (
        await expectRefusal('OBJECT_MISSING', () =>
          p.keyturn.runs.replay({ execution_id: intent.execution_id }),
        )
      ).message,
    ).toMatch(/^It was removed by gc on .* by ada\.$/);
    // What is undone needs no plan to say so.
    expect(await p.keyturn.plans.previewRollback({ run: intent.execution_id })).toMatchObject({
      status: 'rolled_back',
    });
    const story = await p.keyturn.intents.story({ intent_id: intent.intent_id });
    expect(story.absent).toMatchObject({ expired: { by: 'ada' } });

    const path = join(scratch(), 'ledger.jsonl');
    writeFileSync(path, await exported(p.keyturn, { with_objects: true }));
    const { key } = await p.keyturn.ledger.head();
    const excerpt = await excerptOfExportFile(path, { subjects: [intent.intent_id], limit: 5, key });
    expect(excerpt.verified.objects).toMatchObject({ erased: removes.length });
    expect(await storyInFile({ ...excerpt, now: new Date() })).toMatchObject({
      absent: { expired: { by: 'ada' } },
    });
    const bundle = await proofOf(p.keyturn, intent.intent_id, { with_objects: true });
    const proven = excerptOfProof(auditProof(bundle, { key }));
    expect(await proven.read(effect)).toMatchObject({ expired: { at: entry!.at, by: 'ada' } });
    expect((await look(p, ALL)).removes).toEqual([]);
  });

  it('stay while an intent that is not over needs them, whatever its age, and go when it has expired', async () => {
    let now = new Date();
    const p = await projectAt(TOOLS, () => now);
    const waiting = await proposed(p, planOf([create('1', 'a', BIG)]));
    const approved = await runnable(p, planOf([create('1', 'b', BIG)]));
    const failing = {
      declared_goal: BIG.slice(0, 1_500),
      effect: { kind: 'tool' as const, tool: 'fail', arguments: {} },
    };
    const failed = await p.keyturn.intents.propose(failing);
    await p.keyturn.intents.approve({ intent_id: failed.intent_id, hash: failed.hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id: failed.intent_id, hash: failed.hash, signer: p.ada });
    expect((await runSeen(p.keyturn, { ...failed, confirm: async () => true })).result).toBe('failure');
    const needed = await Promise.all([waiting, approved].map((one) => effectOf(p, one)));
    needed.push(failed.hash);
    expect((await look(p, EVEN_UNDOABLE)).removes).toEqual([]);
    const seen = needed.map((digest) => ({ digest, undo: [] }));
    const asked = { runs: [], objects: seen, reason: 'full', signer: p.ada };
    expect((await p.keyturn.system.gc(asked)).objects).toMatchObject({
      objects: 0,
      kept: expect.arrayContaining(needed),
    });
    now = new Date(now.getTime() + 25 * 3600 * 1000);
    const { removes } = await look(p, { older_than_s: 3600 });
    expect(removes.map(({ digest }) => digest)).toEqual(expect.arrayContaining(needed));
    await gc(p, { older_than_s: 3600 });
    await p.keyturn.ledger.verifyStore({ deep: true });
  });

  it('stay while a run that needs them can be undone; once that is given up, the rollback is refused', async () => {
    const p = await project();
    const { report, ...intent } = await ran(p, planOf([create('1', 'n', BIG)]));
    const kept = await look(p, ALL);
    expect(kept.removes).toEqual([]);
    expect(whyOf(kept)).toContain('undoable');
    const effect = await effectOf(p, intent);
    const unsaid = { runs: [], objects: [{ digest: effect, undo: [] }], reason: 'full', signer: p.ada };
    expect((await p.keyturn.system.gc(unsaid)).objects).toMatchObject({ objects: 0, kept: [effect] });

    expect((await look(p, EVEN_UNDOABLE)).removes.map(({ undo: lost }) => lost)).toContainEqual([
      report.execution_id,
    ]);
    expect((await gc(p, EVEN_UNDOABLE)).objects).toBeGreaterThan(0);
    expect(await kindsOf(p, intent)).toContain('backups.expired');
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
    await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
    expect(existsSync(join(p.root, 'n'))).toBe(true);
    await p.keyturn.ledger.verifyStore({ deep: true });
  });

  it('that two intents share stay while one of them needs it, and are stored again when they are needed again', async () => {
    const p = await project({}, `${TOOLS}# ${'a long registry '.repeat(100)}\n`);
    const first = await over(p);
    const { registry_digest: registry } = await p.keyturn.intents.get({ intent_id: first.intent_id });
    const second = await proposed(p, planOf([create('1', 'm', BIG)]));
    expect((await look(p, ALL)).removes.map(({ digest }) => digest)).not.toContain(registry);
    await p.keyturn.intents.reject({ ...second, signer: p.ada, reason: 'no' });
    expect((await look(p, ALL)).removes.map(({ digest }) => digest)).toContain(registry);
    await gc(p, ALL);
    await expectRefusal('OBJECT_MISSING', () => objectOf(p.keyturn, registry));
    await proposed(p, planOf([create('1', 'k', BIG)]));
    expect((await objectOf(p.keyturn, registry)).length).toBeGreaterThan(1_000);
    await p.keyturn.ledger.verifyStore({ deep: true });

    sqlite(storeOf(p), (db) => db.exec(`DELETE FROM object WHERE digest = '${registry}'`));
    await expectRefusal('OBJECT_MISSING', () => p.keyturn.ledger.verifyStore({ deep: true }));
  });

  // The clock is read once when what needs the objects is looked up, and then for the signatures, just before the commit.
  it.each([1, 2])('that another process proposes again at reading %i of the clock stay', async (reading) => {
    const registry_text = `${TOOLS}# ${'a long registry '.repeat(100)}\n`;
    const model = await project({}, registry_text);
    const { intent_id } = await over(model);
    const { registry_digest: registry } = await model.keyturn.intents.get({ intent_id });
    const { removes } = await look(model, ALL);
    expect(removes.map(({ digest }) => digest)).toContain(registry);
    let left = Number.POSITIVE_INFINITY;
    const clock = () => {
      left -= 1;
      if (left === 0) {
        const words = ['propose', '--tool', 'say', '--arg', 'word=again', '--goal', 'Say it again'];
        const { status, stderr } = spawnSync(process.execPath, [CLI, ...words], { cwd: model.root });
        expect(status, String(stderr)).toBe(0);
      }
      return new Date();
    };
    const keyturn = await Keyturn.open({ at: model.root, ...steady(clock) });
    onTestFinished(() => keyturn.close());
    left = reading;
    const { objects } = await keyturn.system.gc({
      runs: [],
      objects: removes,
      reason: 'full',
      signer: model.ada,
    });
    expect(left, 'it was proposed meanwhile').toBeLessThanOrEqual(0);
    expect(objects).toMatchObject({ objects: removes.length - 1, kept: [registry], code: null });
    expect((await objectOf(keyturn, registry)).length).toBeGreaterThan(1_000);
    await keyturn.ledger.verifyStore({ deep: true });
  });

  it('go once where two gc, a run and a rollback come at the same moment', async () => {
    const p = await project({ a: 'one' });
    const other = await Keyturn.open({ at: p.root });
    await over(p);
    await over(p, 'm');
    const { report } = await ran(p, planOf([create('1', 'k', BIG)]));
    const intent = await runnable(p, planOf([remove('1', 'a')]));
    const { removes } = await look(p, EVEN_UNDOABLE);
    const asked = { runs: [], objects: removes, reason: 'full', signer: p.ada };
    const [, , result] = await Promise.all([
      p.keyturn.system.gc(asked),
      other.system.gc(asked),
      runSeen(p.keyturn, { ...intent, confirm: async () => true }),
      undo(p, report).catch((error) => expect(error).toMatchObject({ code: 'BACKUPS_EXPIRED' })),
    ]);
    expect(result.result).toBe('success');
    for (const { digest } of removes)
      expect((await entriesAbout(p.keyturn, digest)).length, 'removed at most once').toBeLessThan(2);
    await other.close();
    await expectProvable(p);
    await p.keyturn.ledger.verifyStore({ deep: true });
  });

  it('that no entry names, or that are damaged, stay and are named', async () => {
    const p = await project();
    const effect = await effectOf(p, await over(p));
    const unnamed = 'ab'.repeat(32);
    sqlite(storeOf(p), (db) =>
      db.exec(`UPDATE object SET bytes = zeroblob(4000) WHERE digest = '${effect}';
        INSERT INTO object (tenant, digest, bytes) SELECT tenant, '${unnamed}', zeroblob(2000) FROM object LIMIT 1`),
    );
    const { keeps, removes } = await look(p, ALL);
    expect(keeps).toContainEqual({ why: 'unnamed', objects: 1, bytes: 2_000, digests: [unnamed] });
    expect(keeps).toContainEqual({ why: 'damaged', objects: 1, bytes: 4_000, digests: [effect] });
    expect(removes.map(({ digest }) => digest)).not.toContain(effect);
    const seen = [effect, unnamed].map((digest) => ({ digest, undo: [] }));
    const { objects } = await p.keyturn.system.gc({ runs: [], objects: seen, reason: 'full', signer: p.ada });
    expect(objects).toMatchObject({ objects: 0, kept: [effect] });
    const store = await opened(storeOf(p));
    const held: string[] = [];
    for await (const batch of store.objects()) held.push(...batch.map(({ digest }) => digest));
    await store.close();
    expect(held).toEqual(expect.arrayContaining([effect, unnamed]));
  });

  it('of policies and capabilities stay, and only an enrolled human removes any', async () => {
    const p = await project();
    await over(p);
    expect(whyOf(await look(p, EVEN_UNDOABLE))).toContain('rules');
    const { removes } = await look(p, ALL);
    const eve = await enrolled(p, 'eve');
    await p.keyturn.people.revoke({ name: 'eve', reason: 'left', signer: p.ada });
    await expectRefusal('KEY_REVOKED', () =>
      p.keyturn.system.gc({ runs: [], objects: removes, reason: 'full', signer: eve }),
    );
    for (const policy of [{}, { keep_bytes: -1 }, { older_than_s: -1 }, { keep_bytes: 0.5 }])
      await expectRefusal('USAGE', () => p.keyturn.system.previewGc(policy));
  });
});
