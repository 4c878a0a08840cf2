import { chmodSync, existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/canonical/digest.ts';
import type { TextReplace } from '../../../src/plan/edit/operation.ts';
import type { Action, ActionEffect, PipelineStep } from '../../../src/plan/model.ts';
import { loadManifest } from '../../../src/plan/rollback/manifest.ts';
import { blocked } from '../../support/processes.ts';
import { scratch } from '../../support/scratch.ts';
import {
  action,
  create,
  derive,
  deriveAndExecute,
  execute,
  lay,
  modify,
  picture,
  plan,
  REPORTS,
  remove,
  rename,
  text,
} from './story.ts';

const statuses = (outcome: Awaited<ReturnType<typeof execute>>) =>
  outcome.actions.map(({ status }) => status);

describe('a plan that succeeds', () => {
  it('does every kind of file action, keeps the mode and reports what it did', async () => {
    const root = scratch();
    lay(root, { 'a.txt': 'hello\n', 'old.txt': 'old\n', 'gone.txt': 'gone\n' }, 0o600);
    const outcome = await deriveAndExecute(
      root,
      plan([
        modify('a1', 'a.txt', 'hello', 'goodbye'),
        create('a2', 'deep/er/new.txt', 'fresh\n'),
        rename('a3', 'old.txt', 'deep/moved.txt'),
        remove('a4', 'gone.txt'),
      ]),
    );
    expect(outcome).toMatchObject({ status: 'SUCCESS', left_behind: true, errors: [] });
    expect(text(root, 'a.txt')).toBe('goodbye\n');
    expect(text(root, 'deep/er/new.txt')).toBe('fresh\n');
    expect(text(root, 'deep/moved.txt')).toBe('old\n');
    expect(existsSync(join(root, 'gone.txt'))).toBe(false);
    expect(existsSync(join(root, 'old.txt'))).toBe(false);
    expect(statSync(join(root, 'a.txt')).mode & 0o7777).toBe(0o600);
    expect(outcome.changes.map(({ path, operation }) => [path, operation])).toEqual([
      ['a.txt', 'MODIFY'],
      ['deep/er/new.txt', 'CREATE'],
      ['old.txt', 'RENAME'],
      ['deep/moved.txt', 'RENAME'],
      ['gone.txt', 'DELETE'],
    ]);
  });

  it('the JSON edit of 004 section 12.1 says what the specification says', async () => {
    const root = scratch();
    lay(root, { 'esquemas/esquema_bd.json': '{\n  "properties": {}\n}\n' });
    const operation = {
      type: 'json_add_property',
      path: '$.properties',
      key: 'new_field',
      value: { type: 'string' },
    };
    const outcome = await deriveAndExecute(
      root,
      plan([action('a001', 'FILE_MODIFY', 'esquemas/esquema_bd.json', operation)]),
    );
    expect(outcome.actions[0]).toMatchObject({
      status: 'SUCCESS',
      output: "Property 'new_field' added successfully",
    });
  });

  it('a schema that stays valid is updated', async () => {
    const root = scratch();
    lay(root, { 's.json': '{"type":"object","properties":{}}' });
    const operation = {
      type: 'json_add_property',
      path: '$.properties',
      key: 'n',
      value: { type: 'number' },
    };
    const outcome = await deriveAndExecute(root, plan([action('a1', 'SCHEMA_UPDATE', 's.json', operation)]));
    expect(outcome.status).toBe('SUCCESS');
    expect(JSON.parse(text(root, 's.json')).properties).toEqual({ n: { type: 'number' } });
  });

  it('several edits of one file and chains of renames follow each other', async () => {
    const root = scratch();
    lay(root, { a: 'one', b: 'bee' });
    const outcome = await deriveAndExecute(
      root,
      plan([
        modify('1', 'a', 'one', 'two'),
        modify('2', 'a', 'two', 'three'),
        rename('3', 'b', 'c'),
        rename('4', 'a', 'b'),
        modify('5', 'b', 'three', 'four'),
        create('6', 'a', 'anew'),
      ]),
    );
    expect(outcome.status).toBe('SUCCESS');
    expect([text(root, 'a'), text(root, 'b'), text(root, 'c')]).toEqual(['anew', 'four', 'bee']);
  });

  it('the manifest is on disk with every checkpoint before the first change', async () => {
    const root = scratch();
    lay(root, { a: 'one' });
    const effect = await derive(root, plan([modify('1', 'a', 'one', 'two'), create('2', 'n')]));
    let seen: string[] = [];
    await execute(root, effect, {
      onProgress: ({ phase }) => {
        if (phase !== 'action' || seen.length > 0) return;
        expect(text(root, 'a')).toBe('one');
        seen = loadManifest(root, REPORTS).checkpoints.map(({ file_path }) => file_path);
      },
    });
    expect(seen).toEqual(['a', 'n']);
  });

  it.each(['parallel', 'dependency_based'] as const)(
    '%s order waits for dependencies',
    async (execution_order) => {
      const root = scratch();
      const done: string[] = [];
      const running = new Set<string>();
      let most = 0;
      const actions = Array.from({ length: 12 }, (_, i) =>
        create(`n${i}`, `f${i}`, 'x', { depends_on: i >= 6 ? [`n${i - 6}`] : [] }),
      );
      const outcome = await deriveAndExecute(root, plan(actions, { execution_order }), {
        onProgress: (progress) => {
          if (progress.phase === 'action') running.add(progress.action_id);
          most = Math.max(most, running.size);
          if (progress.phase !== 'action_done') return;
          running.delete(progress.action_id);
          done.push(progress.action_id);
        },
      });
      expect(outcome.status).toBe('SUCCESS');
      expect(most).toBe(4);
      for (let i = 6; i < 12; i++) expect(done.indexOf(`n${i}`)).toBeGreaterThan(done.indexOf(`n${i - 6}`));
    },
  );
});

/** An action whose file another process removes or changes while the run goes on. */
async function disturbed(
  actions: readonly Action[],
  files: Record<string, string>,
  before: string,
  disturb: (root: string) => void,
  instructions = {},
) {
  const root = scratch();
  lay(root, files);
  const effect = await derive(root, plan(actions, instructions));
  const outcome = await execute(root, effect, {
    onProgress: (progress) => {
      if (progress.phase === 'action' && progress.action_id === before) disturb(root);
    },
  });
  return { root, outcome };
}

const THREE = [modify('a001', 'a', 'x', 'y'), modify('a002', 'b', 'x', 'y'), modify('a003', 'c', 'x', 'y')];
const FILES = { a: 'x', b: 'x', c: 'x' };

describe('a plan that fails', () => {
  it('the example of 004 section 12.2: the file vanishes during the run, and the rest is rolled back', async () => {
    const { root, outcome } = await disturbed(THREE, FILES, 'a002', (root) => rmSync(join(root, 'b')));
    expect(outcome).toMatchObject({ status: 'ROLLED_BACK', left_behind: false });
    expect(statuses(outcome)).toEqual(['SUCCESS', 'FAILED', 'SKIPPED']);
    expect(outcome.errors).toHaveLength(1);
    expect(outcome.errors[0]).toMatchObject({
      error_code: 2001,
      error_category: 'FILE_SYSTEM_ERROR',
      error_type: 'FILE_NOT_FOUND',
      details: { action_id: 'a002', target: 'b', operation: 'FILE_MODIFY' },
      recovery_action: 'ROLLED_BACK',
    });
    expect(text(root, 'a')).toBe('x');
    expect(existsSync(join(root, 'b'))).toBe(false);
    expect(outcome.manifest?.status).toBe('EXECUTED');
  });

  it('a file that somebody changes during the run stops it, and stays as they left it', async () => {
    const { root, outcome } = await disturbed(
      THREE,
      FILES,
      'a002',
      (root) => writeFileSync(join(root, 'b'), 'theirs'),
      { stop_on_error: false, rollback_on_failure: false },
    );
    expect(outcome.errors[0]?.error_type).toBe('PLAN_DRIFT');
    expect(outcome.status).toBe('ROLLED_BACK');
    expect([text(root, 'a'), text(root, 'b'), text(root, 'c')]).toEqual(['x', 'theirs', 'x']);
  });

  it('a file that somebody puts where one is to be created is never replaced', async () => {
    const { root, outcome } = await disturbed([create('1', 'n', 'ours')], {}, '1', (root) =>
      writeFileSync(join(root, 'n'), 'theirs'),
    );
    expect(outcome.errors[0]?.error_type).toBe('PLAN_DRIFT');
    expect(text(root, 'n')).toBe('theirs');
  });

  it('without stop and rollback the independent actions go on and dependents are skipped', async () => {
    const actions = [
      ...THREE,
      create('a004', 'd', 'x', { depends_on: ['a002'] }),
      create('a005', 'e', 'x', { depends_on: ['a004'] }),
    ];
    const { root, outcome } = await disturbed(actions, FILES, 'a002', (root) => rmSync(join(root, 'b')), {
      stop_on_error: false,
      rollback_on_failure: false,
    });
    expect(outcome.status).toBe('PARTIAL');
    expect(statuses(outcome)).toEqual(['SUCCESS', 'FAILED', 'SUCCESS', 'SKIPPED', 'SKIPPED']);
    expect(outcome.actions[3]).toMatchObject({ reason: 'Dependency a002 failed', code: 'DEPENDENCY_FAILED' });
    expect(outcome.actions[4]).toMatchObject({
      reason: 'Dependency a004 not completed',
      code: 'DEPENDENCY_NOT_COMPLETED',
    });
    expect(outcome.errors[0]?.recovery_action).toBe('SKIPPED');
    expect(outcome.rollback).toBeNull();
    expect([text(root, 'a'), text(root, 'c')]).toEqual(['y', 'y']);
  });

  it('a later action on the path of a failed one is skipped, also when it declares no dependency', async () => {
    const actions = [modify('1', 'a', 'x', 'y'), modify('2', 'a', 'y', 'z')];
    const { outcome } = await disturbed(actions, FILES, '1', (root) => rmSync(join(root, 'a')), {
      stop_on_error: false,
      rollback_on_failure: false,
    });
    expect(outcome.actions[1]).toMatchObject({ status: 'SKIPPED', reason: 'Dependency 1 failed' });
    expect(outcome.status).toBe('FAILED');
  });

  it('a file that changed since the approval is drift, and nothing is touched', async () => {
    const root = scratch();
    lay(root, FILES);
    const effect = await derive(root, plan(THREE));
    writeFileSync(join(root, 'c'), 'changed');
    const before = picture(root);
    const outcome = await execute(root, effect);
    expect(outcome).toMatchObject({ status: 'FAILED', left_behind: false });
    expect(outcome.errors[0]?.error_type).toBe('PLAN_DRIFT');
    expect(outcome.manifest).toBeNull();
    expect(statuses(outcome)).toEqual(['SKIPPED', 'SKIPPED', 'SKIPPED']);
    expect(picture(root)).toEqual(before);
  });

  it('a mode that changed since the approval is drift too', async () => {
    const root = scratch();
    lay(root, FILES);
    const effect = await derive(root, plan(THREE));
    chmodSync(join(root, 'a'), 0o600);
    expect((await execute(root, effect)).errors[0]?.error_type).toBe('PLAN_DRIFT');
  });

  it('a result that is not the approved one is never written', async () => {
    const root = scratch();
    lay(root, FILES);
    const effect = await derive(root, plan([modify('1', 'a', 'x', 'y')]));
    const first = effect.actions[0] as ActionEffect<'FILE_MODIFY'>;
    const operation = { ...(first.operation as TextReplace), replacement: 'evil' };
    const forged = { ...effect, actions: [{ ...first, operation }] };
    const outcome = await execute(root, forged);
    expect(outcome.errors[0]?.error_type).toBe('RESULT_MISMATCH');
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(text(root, 'a')).toBe('x');
  });

  it('a folder that becomes a symbolic link during the run leads nowhere', async () => {
    const outside = scratch();
    const { root, outcome } = await disturbed(
      [create('1', 'f/n', 'ours')],
      { 'f/keep': 'k' },
      '1',
      (root) => {
        rmSync(join(root, 'f'), { recursive: true });
        symlinkSync(outside, join(root, 'f'));
      },
    );
    expect(outcome.errors[0]?.error_type).toBe('FILE_IS_SYMLINK');
    expect(existsSync(join(outside, 'n'))).toBe(false);
    expect(existsSync(join(root, 'f/n'))).toBe(false);
  });
});

describe('validation after the run', () => {
  it.each([
    [{ type: 'file_exists', path: 'nowhere' }],
    [{ type: 'file_absent', path: 'a' }],
    [{ type: 'hash_equals', path: 'a', sha256: sha256('other') }],
    [{ type: 'json_valid', path: 'a' }],
    [{ type: 'json_valid', path: 'twice' }],
    [{ type: 'json_valid', path: 'deep' }],
    [{ type: 'yaml_valid', path: 'y' }],
    [{ type: 'yaml_valid', path: 'deep' }],
    [{ type: 'contains', path: 'a', text: 'not there' }],
  ] as const)('a rule that does not hold rolls everything back: %j', async (rule) => {
    const root = scratch();
    lay(root, { a: 'x', y: 'a: [', twice: '{"k":1,"k":2}', deep: '['.repeat(100_000) });
    const before = picture(root);
    const made = plan([modify('1', 'a', 'x', 'y z')], { rollback_on_failure: false }, [rule]);
    const outcome = await deriveAndExecute(root, made);
    expect(outcome.errors[0]?.error_type).toBe('PLAN_RULE_BROKEN');
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(picture(root)).toEqual(before);
  });

  it('rules that hold let the plan succeed', async () => {
    const root = scratch();
    lay(root, { a: '{"x":1}', y: 'k: v' });
    const outcome = await deriveAndExecute(
      root,
      plan([modify('1', 'a', '1', '2')], {}, [
        { type: 'file_exists', path: 'a' },
        { type: 'file_absent', path: 'b' },
        { type: 'hash_equals', path: 'a', sha256: sha256('{"x":2}') },
        { type: 'json_valid', path: 'a' },
        { type: 'yaml_valid', path: 'y' },
        { type: 'contains', path: 'a', text: '2' },
      ]),
    );
    expect(outcome.status).toBe('SUCCESS');
  });

  it.each([true, false])(
    'a path that is changed behind the last action is found, verify_hashes %s',
    async (verify_hashes) => {
      const root = scratch();
      lay(root, { a: 'x' });
      const effect = await derive(root, plan([modify('1', 'a', 'x', 'y')], { verify_hashes }));
      const outcome = await execute(root, effect, {
        onProgress: ({ phase }) => {
          if (phase === 'validation') writeFileSync(join(root, 'a'), 'somebody else');
        },
      });
      expect(outcome.errors[0]?.error_type).toBe('RESULT_MISMATCH');
      expect(outcome.rollback?.status).toBe('stuck');
      expect(outcome.status).toBe('FAILED');
      expect(outcome.escalate).toBe(true);
      expect(outcome.errors[0]?.recovery_action).toBe('MANUAL_REQUIRED');
      expect(text(root, 'a')).toBe('somebody else');
    },
  );
});

describe('time and Ctrl-C', () => {
  it('an abort cancels the run and rolls it back', async () => {
    const root = scratch();
    lay(root, FILES);
    const before = picture(root);
    const abort = new AbortController();
    const effect = await derive(root, plan(THREE, { rollback_on_failure: false, stop_on_error: false }));
    const outcome = await execute(root, effect, {
      abort: abort.signal,
      onProgress: (progress) => {
        if (progress.phase === 'action_done' && progress.action_id === 'a002') abort.abort();
      },
    });
    expect(outcome.status).toBe('CANCELLED');
    expect(statuses(outcome)).toEqual(['SUCCESS', 'SUCCESS', 'SKIPPED']);
    expect(outcome.errors[0]?.error_type).toBe('PLAN_CANCELLED');
    expect(picture(root)).toEqual(before);
  });

  it('a late plan is stopped and rolled back, whatever it says about errors', async () => {
    const root = scratch();
    lay(root, FILES);
    const before = picture(root);
    const made = plan(THREE, { rollback_on_failure: false, stop_on_error: false, timeout_ms: 200 });
    const effect = await derive(root, made);
    const outcome = await execute(root, effect, {
      onProgress: (progress) => {
        if (progress.phase === 'action' && progress.action_id === 'a002')
          blocked(300, 'the time of the plan is over after 200');
      },
    });
    expect(outcome.errors[0]?.error_type).toBe('PLAN_TIMED_OUT');
    expect(outcome.status).toBe('ROLLED_BACK');
    expect(picture(root)).toEqual(before);
  });

  it('a late action changes nothing', async () => {
    const root = scratch();
    const pipelines = {
      resolve: () => [],
      run: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('killed'))),
        ),
    };
    const made = plan([action('p', 'PIPELINE_RUN', 'nightly', { pipeline: 'nightly' }, { timeout_ms: 50 })], {
      rollback_on_failure: false,
    });
    const outcome = await deriveAndExecute(root, made, { runners: { pipelines } });
    expect(outcome.errors[0]?.error_type).toBe('ACTION_TIMED_OUT');
    expect(outcome.status).toBe('FAILED');
  });
});

describe('a pipeline', () => {
  const made = plan([create('1', 'n'), action('p', 'PIPELINE_RUN', 'nightly', { pipeline: 'nightly' })]);
  const step: PipelineStep = {
    kind: 'sql',
    file: 'raise.sql',
    sha256: sha256('step'),
    text: 'select 1',
    database: 'shop.duckdb',
  };

  it('carries its steps and is declared impossible to undo', async () => {
    const runners = {
      pipelines: { resolve: () => [step], run: async () => ({ ok: true, output: 'ran' }) },
    };
    const effect = await derive(scratch(), made, runners);
    expect(effect.actions[1]).toMatchObject({ undo: 'none', steps: [step], changes: [] });
  });

  it('that fails leaves a run that is only partly undone', async () => {
    const root = scratch();
    const runners = {
      pipelines: { resolve: () => [step], run: async () => ({ ok: false, output: 'broken' }) },
    };
    const outcome = await deriveAndExecute(root, made, { runners });
    expect(outcome.errors[0]?.error_type).toBe('PIPELINE_FAILED');
    expect(outcome.rollback?.not_undone).toEqual(['p']);
    expect(outcome).toMatchObject({ status: 'PARTIAL', left_behind: true });
    expect(existsSync(join(root, 'n'))).toBe(false);
  });

  it.each([true, false])(
    'that fails alone may have left something behind, rollback %s',
    async (rollback_on_failure) => {
      const run = async () => ({ ok: false, output: 'broken' });
      const alone = plan(made.actions.slice(1), { rollback_on_failure });
      const runners = { pipelines: { resolve: () => [step], run } };
      expect(await deriveAndExecute(scratch(), alone, { runners })).toMatchObject({
        changes: [],
        left_behind: true,
      });
    },
  );

  it('that breaks in an unknown way is escalated', async () => {
    const root = scratch();
    const run = async () => JSON.parse('{');
    const outcome = await deriveAndExecute(root, made, {
      runners: { pipelines: { resolve: () => [step], run } },
    });
    expect(outcome.errors[0]?.error_type).toBe('INTERNAL');
    expect(outcome.escalate).toBe(true);
  });

  it('is refused where nobody registered any', async () => {
    await expect(derive(scratch(), made)).rejects.toMatchObject({ code: 'RUNNER_MISSING' });
  });
});

it('a reports folder that was used before is refused, and nothing is touched', async () => {
  const root = scratch();
  lay(root, FILES);
  mkdirSync(join(root, REPORTS, 'backups'), { recursive: true });
  const outcome = await deriveAndExecute(root, plan(THREE));
  expect(outcome.errors[0]?.error_type).toBe('FILE_EXISTS');
  expect(existsSync(join(root, REPORTS, 'backups'))).toBe(true);
  expect(text(root, 'a')).toBe('x');
});
