import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/canonical/digest.ts';
import { reportsFolder } from '../../../src/plan/report/folder.ts';
import { appendLog, logOf } from '../../../src/plan/report/log.ts';
import { rollbackScript } from '../../../src/plan/report/script.ts';
import { changeLogBytes, reportBytes, writeReports } from '../../../src/plan/report/write.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { scratch } from '../../support/scratch.ts';
import { create, EXECUTION_ID, projectWith, ran, readJson, remove, rename, replace } from './scene.ts';

const SCHEMA = '{\n  "properties": {\n    "old": {"type": "string"}\n  }\n}\n';

describe('the reports of a run', () => {
  it('the first worked example reports success in the words of the specification', async () => {
    const root = projectWith({ 'esquemas/esquema_bd.json': SCHEMA });
    const { report, change_log } = await ran(root, [
      {
        action_id: 'a001',
        action_type: 'FILE_MODIFY',
        target: 'esquemas/esquema_bd.json',
        operation: {
          type: 'json_add_property',
          path: '$.properties',
          key: 'new_field',
          value: { type: 'string' },
        },
      },
    ]);
    expect(report).toMatchObject({
      plan_id: 'plan-001',
      status: 'SUCCESS',
      actions_summary: { total: 1, completed: 1, failed: 0, skipped: 0 },
      actions_completed: [
        { action_id: 'a001', status: 'SUCCESS', output: "Property 'new_field' added successfully" },
      ],
      rollback_performed: false,
    });
    expect(change_log.changes).toHaveLength(1);
    expect(change_log.changes[0]).toMatchObject({
      operation: 'MODIFY',
      before_state: { exists: true, hash: sha256(SCHEMA), size_bytes: SCHEMA.length },
      diff_summary: { lines_added: 4, lines_removed: 1 },
    });
    expect(change_log.changes[0]!.diff_summary.preview).toContain('+    "new_field"');
    expect(change_log.total_lines_changed).toBe(5);
  });

  it('the second worked example reports the failure, the skip and the rollback', async () => {
    const root = projectWith({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    let actions = 0;
    const { report, outcome } = await ran(
      root,
      [
        { ...replace('a001', 'a.txt', 'one', '1') },
        { ...replace('a002', 'b.txt', 'two', '2') },
        { ...create('a003', 'c.txt', 'x'), depends_on: ['a002'] },
      ],
      {},
      () => {
        actions += 1;
        if (actions === 2) rmSync(join(root, 'b.txt'));
      },
    );
    expect(report).toMatchObject({
      status: 'ROLLED_BACK',
      actions_summary: { total: 3, completed: 1, failed: 1, skipped: 1 },
      actions_failed: [{ action_id: 'a002', error_code: 2001, error_type: 'FILE_NOT_FOUND' }],
      actions_skipped: [{ action_id: 'a003' }],
      rollback_performed: true,
      rollback_manifest_id: outcome.manifest!.manifest_id,
      errors: [{ error_code: 2001, error_category: 'FILE_SYSTEM_ERROR', recovery_action: 'ROLLED_BACK' }],
    });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it('the change log tells creation, deletion and renaming, with the time before the run', async () => {
    const root = projectWith({ 'b.txt': 'two\n', 'c.txt': 'three\n' });
    utimesSync(join(root, 'b.txt'), 1_700_000_000, 1_700_000_000);
    const { change_log } = await ran(root, [
      create('c', 'new/d.txt', 'x\ny\n'),
      remove('d', 'b.txt'),
      rename('r', 'c.txt', 'e.txt'),
    ]);
    expect(change_log.changes).toMatchObject([
      {
        operation: 'CREATE',
        file_path: 'new/d.txt',
        before_state: { exists: false, hash: null, size_bytes: null, last_modified: null },
        diff_summary: { lines_added: 2, lines_removed: 0 },
      },
      {
        operation: 'DELETE',
        file_path: 'b.txt',
        before_state: { exists: true, last_modified: '2023-11-14T22:13:20.000Z' },
        after_state: { exists: false, hash: null },
        diff_summary: { lines_added: 0, lines_removed: 1 },
      },
      {
        operation: 'RENAME',
        file_path: 'c.txt',
        new_path: 'e.txt',
        before_state: { exists: true, hash: sha256('three\n') },
        after_state: { exists: true, hash: sha256('three\n') },
      },
    ]);
    expect(change_log.files_affected_count).toBe(4);
  });

  it('a file that is changed twice is compared once, as a whole', async () => {
    const root = projectWith({ 'a.txt': 'one\ntwo\n' });
    const { change_log } = await ran(root, [
      replace('x', 'a.txt', 'one', '1'),
      replace('y', 'a.txt', 'two', '2'),
    ]);
    expect(change_log.changes.map(({ diff_summary: d }) => [d.lines_added, d.lines_removed])).toEqual([
      [0, 0],
      [2, 2],
    ]);
    expect(change_log.files_affected_count).toBe(1);
  });

  it('a secret that a plan removes does not end up in the change log', async () => {
    const key = `${'AKIA'}IOSFODNN7EXAMPLQ`;
    const root = projectWith({ 'a.txt': `x\n${key}\n`, '.env': 'PASSWORD=swordfish\n' });
    const { root: project, folder } = await ran(root, [
      replace('m', 'a.txt', key, 'gone'),
      replace('e', '.env', 'swordfish', 'gone'),
    ]);
    const text = readFileSync(join(project, folder, 'change_log.json'), 'utf8');
    expect(text).toContain('[hidden]');
    expect(text).not.toContain(key);
    expect(text).not.toContain('swordfish');
  });

  it('the previews of diffs are cut at 500 characters, never inside one', async () => {
    const root = projectWith({ 'a.txt': 'x\n' });
    const { change_log } = await ran(root, [replace('m', 'a.txt', 'x', '😀'.repeat(600))]);
    const { preview } = change_log.changes[0]!.diff_summary;
    expect(preview.length).toBeLessThanOrEqual(500);
    expect(preview.length).toBeGreaterThan(490);
    expect(preview.isWellFormed()).toBe(true);
  });

  it('all files are where the specification says, private, and written once', async () => {
    const { root, folder, report, change_log } = await ran(projectWith({ 'a.txt': 'x\n' }), [
      replace('m', 'a.txt', 'x', 'y'),
    ]);
    expect(folder).toBe('agent_outputs/reports/20260203T101530123Z_task-7');
    expect(readdirSync(join(root, folder)).sort()).toEqual([
      'backups',
      'change_log.json',
      'execution_report.json',
      'journal.jsonl',
      'rollback.sh',
      'rollback_manifest.json',
    ]);
    expect(readJson(root, `${folder}/execution_report.json`)).toEqual(report);
    expect(statSync(join(root, folder, 'execution_report.json')).mode & 0o777).toBe(0o600);
    const again = {
      'execution_report.json': reportBytes(report),
      'change_log.json': changeLogBytes(change_log),
    };
    await expectRefusal('FILE_EXISTS', () => writeReports(root, folder, again));
  });

  it('a report that breaks its schema is not written', async () => {
    const { report, change_log } = await ran(projectWith({}), [create('c', 'a.txt', 'x')]);
    await expectRefusal('SHAPE_INVALID', () => reportBytes({ ...report, duration_ms: -1 }));
    await expectRefusal('SHAPE_INVALID', () => changeLogBytes({ ...change_log, total_lines_changed: -1 }));
    await expectRefusal('NAME_MALFORMED', () => reportsFolder(new Date(), '../x'));
  });
});

describe('the rollback script', () => {
  it('it only calls keyturn rollback for this execution, from the folder of the project', async () => {
    const { root, folder, outcome } = await ran(projectWith({ 'a.txt': 'x\n' }), [
      replace('m', 'a.txt', 'x', 'y'),
    ]);
    expect(outcome.manifest!.auto_rollback_script).toBe(`${folder}/rollback.sh`);
    const bin = scratch();
    writeFileSync(join(bin, 'keyturn'), '#!/bin/sh\necho "$PWD $*"\n');
    chmodSync(join(bin, 'keyturn'), 0o755);
    const said = execFileSync(join(root, folder, 'rollback.sh'), ['--preview'], {
      cwd: '/',
      env: { PATH: `${bin}:${process.env.PATH}` },
      encoding: 'utf8',
    });
    expect(said).toBe(`${join(root, folder)} rollback ${EXECUTION_ID} --preview\n`);
  });

  it('nothing but a UUID gets into it', async () => {
    await expectRefusal('ID_MALFORMED', () => rollbackScript('x; rm -rf /'));
  });
});

describe('the log of the executor', () => {
  it('it tells the run line by line and grows with each run', async () => {
    const { root, outcome } = await ran(projectWith({ 'a.txt': 'x\n' }), [replace('m', 'a.txt', 'x', 'y')]);
    const at = new Date('2026-02-03T10:00:00Z');
    await appendLog(root, at, logOf(outcome, EXECUTION_ID));
    await appendLog(root, at, logOf(outcome, EXECUTION_ID));
    const lines = readFileSync(join(root, 'agent_logs/executor/2026-02-03.jsonl'), 'utf8')
      .trimEnd()
      .split('\n');
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events).toEqual(['started', 'action', 'finished', 'started', 'action', 'finished']);
  });

  it('a failure and its rollback are in it with their code', async () => {
    const root = projectWith({ 'a.txt': 'x\n' });
    const { outcome } = await ran(root, [replace('m', 'a.txt', 'x', 'y')], {}, () => {
      rmSync(join(root, 'a.txt'));
      mkdirSync(join(root, 'a.txt'));
    });
    expect(logOf(outcome, EXECUTION_ID)).toMatchObject([
      { event: 'started' },
      { event: 'action', level: 'error', code: 'FILE_NOT_REGULAR' },
      { event: 'rollback' },
      { event: 'finished' },
    ]);
  });
});
