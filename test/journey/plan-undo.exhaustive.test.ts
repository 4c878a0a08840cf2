import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Keyturn, type Result, type Signer } from '../../src/keyturn.ts';
import { picture, text } from '../plan/engine/story.ts';
import { until } from '../support/processes.ts';
import { type Project, ready } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import {
  create,
  enrolled,
  expectProvable,
  kindsOf,
  planOf,
  planProjects,
  ran,
  remove,
  rename,
  replace,
  reportsOf,
  run,
  runnable,
  statusOf,
  undo,
  when,
} from './plan-story.ts';

const planProject = planProjects();

const FILES = { a: 'one', b: 'two', c: 'three', bystander: 'x' };
const PLAN = planOf([
  replace('1', 'a', 'one', '1'),
  remove('2', 'b'),
  rename('3', 'c', 'd'),
  create('4', 'new/deep/n'),
]);

const checkpointOf = (p: Project, report: Result<'runs.run'>, path: string) =>
  reportsOf(p, report).rollback_manifest.checkpoints.find(({ file_path }) => file_path === path)!;

describe('a rollback by hand', () => {
  it('can be signed elsewhere, and is ended by another process of the host', async () => {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const { report } = await ran(p, PLAN);
    const act = (keyturn: Keyturn) => (signer: Signer) =>
      keyturn.plans.rollback({ execution_id: report.execution_id, reason: 'not wanted', signer });
    const draft = await p.keyturn.draft(p.ada, act(p.keyturn));
    const proofs = await p.ada.sign(draft.statements.map((one) => Buffer.from(one)));
    const other = await Keyturn.open({ at: p.root });
    try {
      expect(await other.finish(draft, proofs, act(other))).toMatchObject({ status: 'rolled_back' });
    } finally {
      await other.close();
    }
    expect(picture(p.root)).toEqual(before);
  });

  it('brings back content, mode, times and existence, and removes the folders that the plan made', async () => {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const { report, ...intent } = await ran(p, PLAN);
    const outcome = await undo(p, report);
    expect(outcome).toMatchObject({ status: 'rolled_back', folders_removed: ['new/deep', 'new'] });
    expect(picture(p.root)).toEqual(before);
    expect(await p.keyturn.intents.get({ intent_id: intent.intent_id })).toMatchObject({
      status: 'undone',
      rollback: { round: 1, from: 'succeeded', by: 'ada', result: 'complete' },
    });
    await expectProvable(p);
  });

  it('a preview says what it would do, touches nothing and records nothing', async () => {
    const p = await planProject(FILES);
    const { report, ...intent } = await ran(p, PLAN);
    const [found, entries] = [picture(p.root), await kindsOf(p, intent)];
    const preview = await p.keyturn.plans.previewRollback({ run: report.execution_id });
    expect(preview.status).toBe('preview');
    expect(Object.fromEntries(preview.paths.map(({ path, step }) => [path, step]))).toMatchObject({
      a: 'restore',
      b: 'restore',
      c: 'move_back',
      'new/deep/n': 'remove',
    });
    expect(picture(p.root)).toEqual(found);
    expect(await kindsOf(p, intent)).toEqual(entries);
  });

  it('a second one is harmless and adds nothing to the ledger', async () => {
    const p = await planProject(FILES);
    const { report, ...intent } = await ran(p, PLAN);
    await undo(p, report);
    writeFileSync(join(p.root, 'a'), 'edited since');
    const [found, entries] = [picture(p.root), await kindsOf(p, intent)];
    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back', paths: [] });
    expect(picture(p.root)).toEqual(found);
    expect(await kindsOf(p, intent)).toEqual(entries);
  });

  it('two at the same moment undo it once', async () => {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const { report, ...intent } = await ran(p, PLAN);
    await Promise.allSettled([undo(p, report), undo(p, report), undo(p, report)]);
    expect(picture(p.root)).toEqual(before);
    expect(await statusOf(p, intent)).toBe('undone');
    expect((await kindsOf(p, intent)).filter((kind) => kind === 'rollback.finished')).toHaveLength(1);
    await expectProvable(p);
  });

  it('of one checkpoint restores that file and no other, and the rest can follow', async () => {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const { report, ...intent } = await ran(p, PLAN);
    await undo(p, report, [checkpointOf(p, report, 'a').checkpoint_id]);
    expect(text(p.root, 'a')).toBe('one');
    expect([existsSync(join(p.root, 'b')), existsSync(join(p.root, 'd'))]).toEqual([false, true]);
    expect(await p.keyturn.intents.get({ intent_id: intent.intent_id })).toMatchObject({
      status: 'succeeded',
      rollback: { round: 1, result: 'partial' },
    });
    await undo(p, report);
    expect(picture(p.root)).toEqual(before);
    expect(await statusOf(p, intent)).toBe('undone');
    await expectProvable(p);
  });

  it('of an unknown checkpoint, or of half of a rename, is refused and changes nothing', async () => {
    const p = await planProject(FILES);
    const { report } = await ran(p, PLAN);
    const found = picture(p.root);
    await expectRefusal('CHECKPOINT_UNKNOWN', () =>
      p.keyturn.plans.previewRollback({
        run: report.execution_id,
        ...{
          checkpoints: ['0c9d8a52-7d3b-4f0e-9a43-0d6a3f3a5d01'],
        },
      }),
    );
    await expectRefusal('CHECKPOINT_CHAINED', () =>
      p.keyturn.plans.previewRollback({
        run: report.execution_id,
        ...{
          checkpoints: [checkpointOf(p, report, 'd').checkpoint_id],
        },
      }),
    );
    expect(picture(p.root)).toEqual(found);
  });

  it('keeps what others put into a folder that the plan made', async () => {
    const p = await planProject(FILES);
    const { report } = await ran(p, PLAN);
    writeFileSync(join(p.root, 'new/theirs'), 'x');
    mkdirSync(join(p.root, 'later'));
    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back', folders_removed: ['new/deep'] });
    expect(existsSync(join(p.root, 'new/theirs'))).toBe(true);
    expect(existsSync(join(p.root, 'later'))).toBe(true);
    expect(existsSync(join(p.root, 'new/deep'))).toBe(false);
  });
});

describe('a rollback that is stuck', () => {
  /** A run, and then a user edits one of its files. */
  async function edited() {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const { report, ...intent } = await ran(p, PLAN);
    writeFileSync(join(p.root, 'a'), 'edited after the run');
    return { p, before, report, intent };
  }

  it('restores the others, leaves that file, and says exactly what to do', async () => {
    const { p, report, intent } = await edited();
    const outcome = await undo(p, report);
    const { backup_location, original_hash } = checkpointOf(p, report, 'a');
    expect(outcome.status).toBe('stuck');
    expect(outcome.paths.find(({ path }) => path === 'a')).toMatchObject({
      step: 'refuse',
      done: false,
      code: 'CHANGED_SINCE_RUN',
    });
    expect(outcome.instructions).toEqual([
      expect.stringContaining(`a: a was changed by another program after the run.`),
    ]);
    expect(outcome.instructions[0]).toContain(`${backup_location} (SHA-256 ${original_hash}, mode 640)`);
    expect(text(p.root, 'a')).toBe('edited after the run');
    expect([text(p.root, 'b'), text(p.root, 'c')]).toEqual(['two', 'three']);
    expect(await statusOf(p, intent)).toBe('stuck');
    await expectRefusal('ROLLBACK_STUCK', () => run(p, intent));
    await expectRefusal('RETRY_NOT_DUE', () =>
      p.keyturn.runs.retry({ intent_id: intent.intent_id, reason: 'x', signer: p.ada }),
    );
    await expectProvable(p);
  });

  it('is completed by the next one when the human has done what it said', async () => {
    const { p, before, report, intent } = await edited();
    expect((await undo(p, report)).status).toBe('stuck');
    expect((await undo(p, report)).status, 'nothing is forced by asking again').toBe('stuck');
    copyFileSync(join(p.root, checkpointOf(p, report, 'a').backup_location!), join(p.root, 'a'));
    chmodSync(join(p.root, 'a'), 0o640);
    utimesSync(join(p.root, 'a'), 1_600_000_000.25, 1_600_000_001.5);
    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back', instructions: [] });
    expect(picture(p.root)).toEqual(before);
    expect(await p.keyturn.intents.get({ intent_id: intent.intent_id })).toMatchObject({
      status: 'undone',
      rollback: { round: 3, from: 'succeeded' },
    });
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXECUTED');
    await expectProvable(p);
  });

  it('is foretold by the preview', async () => {
    const { p, report } = await edited();
    const preview = await p.keyturn.plans.previewRollback({ run: report.execution_id });
    expect(preview.paths.find(({ path }) => path === 'a')).toMatchObject({ code: 'CHANGED_SINCE_RUN' });
    expect(preview.instructions).toHaveLength(1);
  });

  it('can also come from the run itself, and is then half done until a human mends it', async () => {
    const p = await planProject(FILES);
    const spoil = () => {
      writeFileSync(join(p.root, 'a'), 'edited during the run');
      rmSync(join(p.root, 'b'));
    };
    const { report, ...intent } = await ran(p, PLAN, when('2', spoil));
    expect(report.result).toBe('partial');
    const { execution_report } = reportsOf(p, report);
    expect(execution_report).toMatchObject({ status: 'FAILED', escalate: true, rollback_performed: false });
    expect(execution_report.instructions).toHaveLength(1);
    expect(execution_report.errors[0]).toMatchObject({ recovery_action: 'MANUAL_REQUIRED' });
    expect((await p.keyturn.runs.inDoubt()).runs.map(({ intent_id }) => intent_id)).toEqual([
      intent.intent_id,
    ]);
    copyFileSync(join(p.root, checkpointOf(p, report, 'a').backup_location!), join(p.root, 'a'));
    chmodSync(join(p.root, 'a'), 0o640);
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(await statusOf(p, intent)).toBe('rolled_back');
    await expectProvable(p);
  });

  it('a manifest that somebody changed is refused, and no file is touched', async () => {
    const p = await planProject(FILES);
    const { report, ...intent } = await ran(p, PLAN);
    const path = join(p.root, report.folder!, 'rollback_manifest.json');
    const { rollback_manifest } = reportsOf(p, report);
    const [first, ...rest] = rollback_manifest.checkpoints;
    const forged = {
      ...rollback_manifest,
      checkpoints: [{ ...first!, original_hash: 'ab'.repeat(32) }, ...rest],
    };
    writeFileSync(path, JSON.stringify(forged));
    const found = picture(p.root);
    await expectRefusal('MANIFEST_CORRUPT', () =>
      p.keyturn.plans.previewRollback({ run: report.execution_id }),
    );
    await expectRefusal('MANIFEST_CORRUPT', () => undo(p, report));
    expect(picture(p.root)).toEqual(found);
    expect(await statusOf(p, intent), 'a refusal claims nothing').toBe('succeeded');
    writeFileSync(path, JSON.stringify(rollback_manifest));
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(await statusOf(p, intent)).toBe('undone');
  });

  it('a manifest that somebody removed leaves nothing to roll back with, and that is said', async () => {
    const p = await planProject(FILES);
    const { report, ...intent } = await ran(p, PLAN);
    rmSync(join(p.root, 'agent_outputs'), { recursive: true });
    const found = picture(p.root);
    await expectRefusal('MANIFEST_CORRUPT', () =>
      p.keyturn.plans.previewRollback({ run: report.execution_id }),
    );
    await expectRefusal('MANIFEST_CORRUPT', () => undo(p, report));
    expect(picture(p.root)).toEqual(found);
    expect(await statusOf(p, intent)).toBe('succeeded');
  });
});

describe('a rollback is not due', () => {
  it('for an execution that does not exist', async () => {
    const p = await planProject(FILES);
    const execution_id = '0c9d8a52-7d3b-4f0e-9a43-0d6a3f3a5d01';
    await expectRefusal('EXECUTION_NOT_FOUND', () => p.keyturn.plans.previewRollback({ run: execution_id }));
    await expectRefusal('EXECUTION_NOT_FOUND', () =>
      p.keyturn.plans.rollback({ execution_id, reason: 'x', signer: p.ada }),
    );
  });

  it('for a tool call', async () => {
    const p = await planProject();
    const effect = { kind: 'tool' as const, tool: 'say', arguments: { word: 'hello' } };
    const intent = await p.keyturn.intents.propose({ declared_goal: 'x', effect });
    await ready(p, intent);
    const report = await run(p, { intent_id: intent.intent_id, hash: intent.hash });
    await expectRefusal('ROLLBACK_NOT_DUE', () => undo(p, report));
    await expectRefusal('ROLLBACK_NOT_DUE', () =>
      p.keyturn.plans.previewRollback({ run: report.execution_id }),
    );
  });

  it('while the run is still at work', async () => {
    const p = await planProject(FILES);
    let refused: Promise<unknown> = Promise.resolve();
    const meanwhile = async () => {
      const [{ execution_id } = expect.fail('no run')] = (await p.keyturn.runs.inDoubt()).runs;
      await expectRefusal('RUN_STILL_ALIVE', () => p.keyturn.plans.previewRollback({ run: execution_id }));
      return expectRefusal('RUN_STILL_ALIVE', () =>
        p.keyturn.plans.rollback({ execution_id, reason: 'now', signer: p.ada }),
      );
    };
    const { report } = await ran(
      p,
      PLAN,
      when('2', () => {
        refused = meanwhile();
      }),
    );
    await refused;
    expect(report.result).toBe('success');
  });

  it('without a human: an agent, a stranger and a revoked key undo nothing', async () => {
    const p = await planProject(FILES);
    const { report } = await ran(p, PLAN);
    const found = picture(p.root);
    const bob = await enrolled(p, 'bob');
    await p.keyturn.people.enrol({ name: 'bot', principal: 'agent', public_key: null, signer: p.ada });
    await p.keyturn.people.revoke({ name: 'bob', reason: 'left', signer: p.ada });
    const by = (signer: typeof p.ada) => () => undo({ ...p, ada: signer }, report);
    await expectRefusal('NOT_HUMAN', by({ ...p.ada, name: 'bot' }));
    await expectRefusal('PRINCIPAL_UNKNOWN', by({ ...p.ada, name: 'stranger' }));
    await expectRefusal('KEY_REVOKED', by(bob));
    expect(picture(p.root)).toEqual(found);
  });

  it('but it works after the intent and its approval expired', async () => {
    const p = await planProject(FILES);
    const before = picture(p.root);
    const expiry = new Date(Date.now() + 8000);
    const intent = await runnable(p, PLAN, { expiry: expiry.toISOString() });
    const report = await run(p, intent);
    await until(() => new Date() > expiry);
    await undo(p, report);
    expect(picture(p.root)).toEqual(before);
  });
});
