import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChildOutcome } from '../../src/effect/child.ts';
import { isRoot, ownUser, userFor } from '../../src/effect/user.ts';
import { effectDigest } from '../../src/tool/effect.ts';
import { prepareRun } from '../../src/tool/run.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from './fixture.ts';

const AROUND = { hidden: [], protected: [] };
const BOXED = { read: [], write: [] };

async function outputOf(folder: string, entry: object): Promise<string> {
  const prepared = prepareRun(effectOf(folder, { executable: 'tool.sh', ...entry }), AROUND);
  let outcome: ChildOutcome;
  try {
    outcome = await prepared.run();
  } finally {
    prepared.close();
  }
  return Buffer.from(outcome.stdout.bytes).toString();
}

const WHO = 'id -u; id -g; grep -E "^Groups|^CapEff" /proc/self/status';
const expected = userFor(null);

describe('the user that a tool runs as', () => {
  it('is part of what is approved', () => {
    const folder = scratch();
    const plain = effectOf(folder, {});
    const named = effectOf(folder, { run_as: ownUser().name });
    expect([plain.run_as, named.run_as]).toEqual([null, ownUser().name]);
    expect(effectDigest(plain)).not.toBe(effectDigest({ ...plain, run_as: 'root' }));
  });

  it.each([['none'], [BOXED]])(
    'is nobody where Keyturn is root, and its own user elsewhere (%o)',
    async (sandbox) => {
      const folder = scratch();
      script(folder, WHO);
      const [uid, gid, groups, rights] = (await outputOf(folder, { sandbox })).trim().split('\n');
      expect([uid, gid]).toEqual([String(expected.uid), String(expected.gid)]);
      if (isRoot()) {
        // Inside its namespace a group that is not mapped counts as 65534.
        expect(groups!.replace(/\D+/g, ' ').trim()).toBe('');
        expect(rights).toMatch(/CapEff:\s*0+$/);
      }
    },
  );

  it('is refused when it cannot be had', async () => {
    const folder = scratch();
    const run = (run_as: string) => prepareRun(effectOf(folder, { run_as }), AROUND).close();
    await expectRefusal('RUN_AS_UNAVAILABLE', () => run('no-such-user-here'));
    if (!isRoot()) await expectRefusal('RUN_AS_UNAVAILABLE', () => run('root'));
    for (const run_as of ['', 'a b', '0', '../x', 'a:b', 5]) {
      await expectRefusal('REGISTRY_MALFORMED', () => effectOf(folder, { run_as }));
    }
  });
});

if (isRoot())
  describe('the user that a tool of root runs as', () => {
    it('is root when the registry says so', async () => {
      const folder = scratch();
      script(folder, 'id -u');
      for (const sandbox of ['none', BOXED]) {
        expect(await outputOf(folder, { sandbox, run_as: 'root' })).toBe('0\n');
      }
    });

    it('must reach what the effect names, or it is refused before the run', async () => {
      const folder = scratch();
      mkdirSync(join(folder, 'closed'), { mode: 0o700 });
      mkdirSync(join(folder, 'closed/inner'), { mode: 0o777 });
      mkdirSync(join(folder, 'open'), { mode: 0o755 });
      writeFileSync(join(folder, 'secret'), '', { mode: 0o600 });
      script(folder, 'echo hi');
      writeFileSync(join(folder, 'closed/tool.sh'), '#!/bin/sh\n', { mode: 0o755 });
      writeFileSync(join(folder, 'unreadable.sh'), '#!/bin/sh\n', { mode: 0o711 });
      const cases: [object, string][] = [
        [{ sandbox: { read: ['closed'] } }, 'closed.'],
        [{ sandbox: { read: ['closed/inner'] } }, 'closed, which is above'],
        [{ sandbox: { read: ['secret'] } }, 'secret'],
        [{ sandbox: BOXED, executable: 'closed/tool.sh' }, 'closed, which is above'],
        [{ sandbox: BOXED, executable: 'unreadable.sh' }, 'unreadable.sh'],
        [{ sandbox: 'none', cwd: 'closed' }, 'closed'],
      ];
      for (const [entry, path] of cases) {
        const derive = () => effectOf(folder, { executable: 'tool.sh', ...entry });
        const { message } = await expectRefusal('RUN_AS_CANNOT_REACH', derive);
        for (const word of ['nobody', join(folder, path)]) expect(message).toContain(word);
        effectOf(folder, { executable: 'tool.sh', ...entry, run_as: 'root' });
      }
      chownSync(join(folder, 'open'), 0, 0);
      const effect = {
        ...effectOf(folder, { executable: 'tool.sh' }),
        sandbox: { network: false, read: [], write: [join(folder, 'open')] },
      };
      await expectRefusal('RUN_AS_CANNOT_REACH', () => prepareRun(effect, AROUND));
      effectOf(folder, { executable: 'tool.sh', sandbox: { read: ['open'] } });
    });

    it('is given a path by an access control list too', async () => {
      const folder = scratch();
      const data = join(folder, 'data');
      mkdirSync(data, { mode: 0o700 });
      script(folder, `echo written > ${data}/file; cat ${data}/file`);
      if (spawnSync('setfacl', ['-m', 'u:nobody:rwx', data]).status !== 0) chmodSync(data, 0o777);
      const effect = {
        ...effectOf(folder, { executable: 'tool.sh' }),
        sandbox: { network: false, read: [], write: [data] },
      };
      const prepared = prepareRun(effect, AROUND);
      await prepared.run();
      prepared.close();
      expect(readFileSync(join(data, 'file'), 'utf8')).toBe('written\n');
      expect(statSync(join(data, 'file')).uid).toBe(expected.uid);
    });
  });
else
  describe('the user that a tool of another user runs as', () => {
    it('must reach what the effect names, also where it is the user of Keyturn', async () => {
      const folder = scratch();
      mkdirSync(join(folder, 'closed'), { mode: 0o500 });
      const effect = effectOf(folder, { sandbox: { write: ['closed'] } });
      await expectRefusal('RUN_AS_CANNOT_REACH', () => prepareRun(effect, AROUND));
    });
  });
