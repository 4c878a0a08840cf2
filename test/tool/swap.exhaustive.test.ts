import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChildOutcome } from '../../src/effect/child.ts';
import { Refusal } from '../../src/refusal.ts';
import type { ToolEffect } from '../../src/tool/effect.ts';
import { prepareRun, type Surroundings } from '../../src/tool/run.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';
import { effectOf, script } from './fixture.ts';

/** The attacker may write beside the folders that a tool was approved for, and turns them into links to the keys. */

function project() {
  const folder = scratch();
  mkdirSync(join(folder, '.keyturn/keys'), { recursive: true });
  writeFileSync(join(folder, '.keyturn/keys/human-key'), 'secret');
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/approved'), '');
  const around: Surroundings = { hidden: [join(folder, '.keyturn')], protected: [] };
  return { folder, around };
}

const BOXED = { sandbox: { read: ['data'] } };
const BOXED_WRITE = { sandbox: { write: ['data'] } };
const BARE = { sandbox: 'none', cwd: 'data' };

function lister(folder: string, entry: object): ToolEffect {
  script(folder, `ls -R ${'cwd' in entry ? '.' : 'data'}`);
  return effectOf(folder, { executable: 'tool.sh', ...entry });
}

function swap(folder: string, to = '.keyturn'): void {
  renameSync(join(folder, 'data'), join(folder, 'data.real'));
  symlinkSync(to, join(folder, 'data'));
}

async function finish(prepared: ReturnType<typeof prepareRun>): Promise<ChildOutcome> {
  try {
    return await prepared.run();
  } finally {
    prepared.close();
  }
}

const out = ({ stdout }: ChildOutcome) => Buffer.from(stdout.bytes).toString();

describe.each([
  ['a folder that is read', BOXED],
  ['a folder that is written', BOXED_WRITE],
  ['a working folder', BARE],
])('%s', (_, entry) => {
  it('is what was approved when nobody touches it', async () => {
    const { folder, around } = project();
    expect(out(await finish(prepareRun(lister(folder, entry), around)))).toContain('approved');
  });

  it('is refused when it became a link after the approval', async () => {
    const { folder, around } = project();
    const effect = lister(folder, entry);
    swap(folder);
    await expectRefusal('FILE_IS_SYMLINK', () => prepareRun(effect, around));
  });

  it('is not used when it became a link after the claim', async () => {
    const { folder, around } = project();
    const prepared = prepareRun(lister(folder, entry), around);
    swap(folder);
    const outcome = await finish(prepared);
    expect(outcome).toMatchObject({ started: false });
    expect(out(outcome)).toBe('');
  });

  it('never shows the keys, however often it is swapped meanwhile', { timeout: 120_000 }, async () => {
    const { folder, around } = project();
    const effect = lister(folder, entry);
    const swapper = await swapping(folder);
    const seen: string[] = [];
    for (let i = 0; i < 60; i++) {
      try {
        seen.push(out(await finish(prepareRun(effect, around))));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }
    swapper.kill('SIGKILL');
    expect(seen.filter((text) => text.includes('human-key'))).toEqual([]);
    expect(seen.filter((text) => text.includes('approved')).length).toBeGreaterThan(0);
  });
});

describe('what a tool in a sandbox inherits', () => {
  it('is no folder through which it could walk out', async () => {
    const { folder, around } = project();
    const body = `for f in /proc/[0-9]*/fd/*; do
      if [ -d "$f" ]; then echo "folder $(readlink $f)"; ls $f/.. ; fi; done; ls -l /proc/[0-9]*/fd >&2`;
    script(folder, body);
    const entry = { executable: 'tool.sh', sandbox: { read: ['.'], write: ['data'] } };
    const outcome = await finish(prepareRun(effectOf(folder, entry), around));
    expect(outcome).toMatchObject({ started: true });
    const open = Buffer.from(outcome.stderr.bytes).toString();
    expect(open).toContain('/proc/1/fd');
    expect(open).not.toContain(`${folder}/data`);
    expect(out(outcome)).not.toContain(`folder ${folder}`);
    expect(out(outcome)).not.toContain('.keyturn');
  });
});

/** Another process that swaps the folder and puts it back, again and again. */
async function swapping(folder: string): Promise<ChildProcess> {
  const source = `
    const fs = require('node:fs');
    process.chdir(${JSON.stringify(folder)});
    const pause = new Int32Array(new SharedArrayBuffer(4));
    process.stdout.write('ready');
    for (let i = 0; ; i++) {
      fs.renameSync('data', 'data.real');
      fs.symlinkSync('.keyturn', 'data');
      Atomics.wait(pause, 0, 0, i % 4);
      fs.unlinkSync('data');
      fs.renameSync('data.real', 'data');
      Atomics.wait(pause, 0, 0, i % 7);
    }`;
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout!, 'data');
  return child;
}

describe('the guards of a run', () => {
  it('keep the place of a protected folder that does not exist yet', async () => {
    const { folder, around } = project();
    script(
      folder,
      'mkdir -p policies conf/deep; echo evil > policies/a; echo evil > conf/deep/b; echo x > mine',
    );
    const entry = { executable: 'tool.sh', sandbox: { write: ['.'] } };
    const guarded = { ...around, protected: [join(folder, 'policies'), join(folder, 'conf/deep/b')] };
    await finish(prepareRun(effectOf(folder, entry), guarded));
    expect(() => readFileSync(join(folder, 'policies/a'))).toThrow('ENOENT');
    expect(() => readFileSync(join(folder, 'conf/deep/b'))).toThrow('ENOENT');
    expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('x\n');
  });

  it("hide another project's own folder at the top of a bind", async () => {
    const { folder, around } = project();
    const other = scratch();
    mkdirSync(join(other, '.keyturn'));
    writeFileSync(join(other, '.keyturn/store.db'), 'secret');
    script(folder, `cat ${other}/.keyturn/store.db; ls -A ${other}/.keyturn; echo end`);
    for (const read of [[other], [other, join(other, '.keyturn')], [join(other, '.keyturn')]]) {
      const outcome = await finish(
        prepareRun(effectOf(folder, { executable: 'tool.sh', sandbox: { read } }), around),
      );
      expect(out(outcome)).toBe('end\n');
    }
  });

  it('refuse a run when what they hide is gone', async () => {
    const { folder, around } = project();
    const effect = lister(folder, BOXED);
    rmSync(join(folder, 'data'), { recursive: true });
    renameSync(join(folder, '.keyturn'), join(folder, 'data'));
    await expectRefusal('FILE_NOT_FOUND', () => prepareRun(effect, around));
  });
});
