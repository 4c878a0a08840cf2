import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  create,
  expectProvable,
  planOf,
  planProjects,
  ran,
  remove,
  replace,
  reportsOf,
  undo,
} from '../journey/plan-story.ts';
import { hasStrace, killAtCall } from '../plan/engine/crash.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';

/** Needs the build in dist/. */

const project = planProjects();
const script = fileURLToPath(new URL('../support/plan-child.mjs', import.meta.url));
/** strace counts each kind of call by itself. */
const CALLS = ['fsync', 'fdatasync', 'rename', 'unlink', 'rmdir'];

/** Kills a gc of two backups at its `when`th such call; says how many backups are left, or null when it ended by itself. */
async function killedAt(call: string, when: number): Promise<number | null> {
  const p = await project({ a: 'one', b: 'bee' });
  const { report } = await ran(p, planOf([replace('1', 'a', 'one', 'two'), remove('2', 'b')]));
  const folder = join(p.root, report.folder!, 'backups');
  const { killed, output } = killAtCall(script, [p.root, 'gc', report.execution_id], call, when);
  if (!killed) {
    expect(output).toContain('removed');
    return null;
  }
  const left = existsSync(folder) ? readdirSync(folder).length : 0;
  const run = (await p.keyturn.intents.get({ intent_id: report.intent_id })).runs[0]!;
  if (run.expired_at === null) {
    expect(left, 'nothing goes before it is recorded').toBe(2);
    expect((await undo(p, report)).status).toBe('rolled_back');
  } else {
    if (left < 2) expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
    await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
    const { removes } = await p.keyturn.system.previewGc({ older_than_s: 3600 });
    const { runs } = await p.keyturn.system.gc({ runs: removes, reason: 'again', signer: p.ada });
    expect(runs.every(({ removed }) => removed)).toBe(true);
    expect(existsSync(folder)).toBe(false);
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXPIRED');
  }
  await expectProvable(p);
  return left;
}

/** Kills a gc of objects at its `when`th such call; says whether they are still there, or null when it ended by itself. */
async function objectsKilledAt(call: string, when: number): Promise<boolean | null> {
  const p = await project();
  const { report } = await ran(p, planOf([create('1', 'n', 'x'.repeat(5_000))]));
  const policy = { keep_bytes: 0, undoable_too: true };
  const { removes } = (await p.keyturn.system.previewGc(policy)).objects;
  const { killed, output } = killAtCall(script, [p.root, 'gc-objects', report.execution_id], call, when);
  if (!killed) {
    expect(output).toContain('removed');
    return null;
  }
  await p.keyturn.ledger.verifyStore({ deep: true });
  const { effect_digest, runs } = await p.keyturn.intents.get({ intent_id: report.intent_id });
  const is_there = (await entriesAbout(p.keyturn, effect_digest)).length === 0;
  expect(runs[0]!.expired_at === null, 'both or neither').toBe(is_there);
  if (is_there) expect((await undo(p, report)).status).toBe('rolled_back');
  else await expectRefusal('BACKUPS_EXPIRED', () => undo(p, report));
  const next = await p.keyturn.system.previewGc(policy);
  expect(next.objects.removes.length === 0).toBe(!is_there);
  await p.keyturn.system.gc({
    runs: next.removes,
    objects: next.objects.removes,
    reason: 'again',
    signer: p.ada,
  });
  expect(removes.length).toBeGreaterThan(0);
  for (const { digest } of removes) await expectRefusal('OBJECT_MISSING', () => objectOf(p.keyturn, digest));
  await p.keyturn.ledger.verifyStore({ deep: true });
  return is_there;
}

describe('P8: a gc that is killed', () => {
  it('at every sync leaves objects that are all there, or all recorded as removed', async () => {
    expect(hasStrace, 'this sweep needs strace').toBe(true);
    const there: boolean[] = [];
    for (const call of ['fsync', 'fdatasync']) {
      for (let when = 1, found: boolean | null = true; found !== null; when++) {
        found = await objectsKilledAt(call, when);
        if (found !== null) there.push(found);
      }
    }
    expect(there, 'killed before and after the commit').toEqual(expect.arrayContaining([true, false]));
  }, 300_000);

  it('at every change of a name and every sync leaves backups that are whole and can be used, or are refused', async () => {
    expect(hasStrace, 'this sweep needs strace').toBe(true);
    const left: number[] = [];
    for (const call of CALLS) {
      for (let when = 1, found: number | null = 0; found !== null; when++) {
        found = await killedAt(call, when);
        if (found !== null) left.push(found);
      }
    }
    expect(left, 'killed before, in the middle of and after the files').toEqual(
      expect.arrayContaining([2, 1, 0]),
    );
  }, 300_000);
});
