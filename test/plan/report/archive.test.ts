import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveRecords, expireManifests, manifestAt } from '../../../src/plan/report/archive.ts';
import { loadManifest } from '../../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { journalOf } from '../engine/story.ts';
import { projectWith, ran, replace } from './scene.ts';

const DAY_MS = 24 * 3600 * 1000;
const STARTED = Date.parse('2026-02-03T10:15:30.123Z');
const during = new Date(STARTED + 29 * DAY_MS);
const afterwards = new Date(STARTED + 31 * DAY_MS);

const one = () => ran(projectWith({ 'a.txt': 'x\n' }), [replace('m', 'a.txt', 'x', 'y')]);

describe('a rollback manifest grows old', () => {
  it('it is active until its time is up, and is kept when it is', async () => {
    const { root, folder } = await one();
    expect(manifestAt(loadManifest(root, folder), during).status).toBe('ACTIVE');
    expect(await expireManifests(root, during)).toEqual([]);
    expect(await expireManifests(root, afterwards)).toEqual([folder]);
    expect(loadManifest(root, folder).status).toBe('EXPIRED');
    expect(await expireManifests(root, afterwards)).toEqual([]);
    expect(readdirSync(join(root, folder, 'backups'))).toHaveLength(1);
  });

  it('of many, only one whose time may be up is read: a proposal costs the same after a thousand plans', async () => {
    const { root, folder } = await one();
    const known = new Map();
    await expireManifests(root, during, known);
    expect([...known]).toEqual([[folder, STARTED + 30 * DAY_MS]]);
    const gone = 'agent_outputs/reports/gone';
    const later = new Map([
      [folder, afterwards.getTime() + 1],
      [gone, 0],
    ]);
    expect(await expireManifests(root, afterwards, later)).toEqual([]);
    expect(later.has(gone)).toBe(false);
    expect(await expireManifests(root, afterwards, known)).toEqual([folder]);
    expect(known.get(folder)).toBe(Number.POSITIVE_INFINITY);
  });

  it('one that was rolled back does not expire', async () => {
    const { root, folder, outcome } = await one();
    await rollBack(outcome.manifest!, { root, journal: journalOf(root, folder) });
    expect(await expireManifests(root, afterwards)).toEqual([]);
    expect(loadManifest(root, folder).status).toBe('EXECUTED');
  });

  it('a project without reports has nothing that expires', async () => {
    expect(await expireManifests(projectWith({}), afterwards)).toEqual([]);
  });
});

describe('the archive of reports', () => {
  it('the records of a run are copied, and everything a rollback needs stays', async () => {
    const { root, folder, outcome } = await one();
    const archive = await archiveRecords(root, folder);
    expect(archive).toBe('agent_outputs/archive/20260203T101530123Z_task-7');
    expect(readdirSync(join(root, archive)).sort()).toEqual([
      'change_log.json',
      'execution_report.json',
      'rollback_manifest.json',
    ]);
    expect((await rollBack(outcome.manifest!, { root, journal: journalOf(root, folder) })).status).toBe(
      'rolled_back',
    );
  });

  it('only the folder of a report has an archive', async () => {
    const { root } = await one();
    await expectRefusal('PATH_ESCAPES', () => archiveRecords(root, 'agent_outputs/reports/../../a'));
    await expectRefusal('PATH_ESCAPES', () => archiveRecords(root, 'a.txt'));
  });
});
