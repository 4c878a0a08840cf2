import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { thisProcess } from '../../src/effect/process.ts';
import { sayGoing, unsayGoing } from '../../src/effect/spool.ts';
import { limits } from '../../src/limits.ts';
import { openSqliteStore } from '../store/open.ts';
import { elapsed } from '../support/processes.ts';
import { type Project, project, TOOLS } from '../support/project.ts';
import { authority, granted } from './authority.ts';
import { claimElsewhere, rollBackElsewhere } from './claim-elsewhere.ts';
import { create, planOf, ran } from './plan-story.ts';

const storeOf = (p: Project, clock = () => new Date()) =>
  openSqliteStore({ path: p.keyturn.layout.store, tenant: 'default', clock, mode: 'write' });

const runsOf = ({ root }: Project) => join(root, '.keyturn', 'runs');

const NO_ROLLBACK = { status: 'rolling_back', status_word: 'IN DOUBT', is_over: false };

describe('who waits for the end of an intent', () => {
  it('is told that the process which rolled it back is gone', async () => {
    const p = await project(TOOLS);
    const intent = await ran(p, planOf([create('1', 'a')]));
    const dead = { ...thisProcess(), pid: 4194304 };
    await rollBackElsewhere(p, await storeOf(p), intent, dead);
    expect(await p.keyturn.intents.waitFor({ intent_id: intent.intent_id })).toMatchObject(NO_ROLLBACK);
  });

  it('waits for what another host works on until that host is silent for too long', async () => {
    let forward_ms = 0;
    const clock = () => new Date(Date.now() + forward_ms);
    const [undone, begun] = [await project(TOOLS, clock), await authority(clock)];
    const { report, ...old } = await ran(undone, planOf([create('1', 'a')]));
    await rollBackElsewhere(undone, await storeOf(undone, clock), old);
    const intent = await granted(begun);
    const execution_id = await claimElsewhere(begun, await storeOf(begun, clock), intent);
    const works = [
      { p: undone, intent_id: old.intent_id, execution_id: report.execution_id, told: NO_ROLLBACK },
      { p: begun, intent_id: intent.intent_id, execution_id, told: { ...NO_ROLLBACK, status: 'claimed' } },
    ];
    for (const { p, ...work } of works) await sayGoing(runsOf(p), work.execution_id);
    forward_ms = limits.beat_missed_ms + 1_000;
    let over = 0;
    const waits = works.map(async ({ p, intent_id, told }) => {
      const found = await p.keyturn.intents.waitFor({ intent_id });
      over += 1;
      expect(found).toMatchObject(told);
    });
    await elapsed(500, 'nothing may happen while both hosts say that they go on');
    expect(over).toBe(0);
    for (const { p, ...work } of works) await unsayGoing(runsOf(p), work.execution_id);
    await Promise.all(waits);
  });
});
