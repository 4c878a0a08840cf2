import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { createDigests, describePrograms } from '../../src/effect/program.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

function file(text: string, mode = 0o755, path = join(scratch(), 'tool')): string {
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const describeAll = (path: string, search = '/usr/bin:/bin') =>
  describePrograms(path, search, createDigests());
const paths = (path: string, search?: string) => describeAll(path, search).map((program) => program.path);

/** What `ldd` would say: the one loader of this machine's programs. */
const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
const LOADER = realpathSync(sharedObjects.find((path) => /\/ld-[^/]+$/.test(path))!);

describe('describePrograms', () => {
  it('names the real file of a link and hashes its bytes', () => {
    const folder = scratch();
    const path = file('#!/bin/sh\n', 0o755, join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    const [program] = describeAll(join(folder, 'link'));
    expect(program).toEqual({ called: join(folder, 'link'), path, sha256: sha256('#!/bin/sh\n') });
  });

  it('follows the interpreter of a script, of an interpreter that is a script, and the loader of a binary', () => {
    const shell = realpathSync('/bin/sh');
    const inner = file('#!/bin/sh -e\n');
    const outer = file(`#! ${inner}\targument\n`);
    expect(paths('/bin/true')).toEqual([realpathSync('/bin/true'), LOADER]);
    expect(paths(outer)).toEqual([outer, inner, shell, LOADER]);
  });

  it("finds what env would run, in the tool's own PATH", () => {
    const folder = scratch();
    const runner = file('#!/bin/sh\n', 0o755, join(folder, 'runner'));
    const env = realpathSync('/usr/bin/env');
    const shell = realpathSync('/bin/sh');
    expect(paths(file('#!/usr/bin/env runner\n'), `${folder}:/bin`)).toEqual([
      expect.any(String),
      env,
      runner,
      LOADER,
      shell,
    ]);
    expect(paths(file('#!/usr/bin/env -S runner --x\n'), folder)).toContain(runner);
  });

  it('refuses what does not exist', async () => {
    await expectRefusal('EXECUTABLE_MISSING', () => describeAll(join(scratch(), 'none')));
    await expectRefusal('EXECUTABLE_MISSING', () => describeAll(file('#!/no/such/interpreter\n')));
    await expectRefusal('EXECUTABLE_MISSING', () => describeAll(file('#!/usr/bin/env no-such-program\n')));
    // A relative entry of PATH would depend on the working folder.
    await expectRefusal('EXECUTABLE_MISSING', () => describeAll(file('#!/usr/bin/env sh\n'), '.:bin'));
  });

  it.each([
    ['has no execute permission', '#!/bin/sh\n', 0o644],
    ['would be handed to a shell by the C library', 'echo hello\n', 0o755],
    ['is empty', '', 0o755],
    ['has a relative interpreter', '#!bin/sh\n', 0o755],
    ['has no interpreter', '#!\n', 0o755],
    ['has a first line that the kernel would cut', `#!/bin/sh ${'x'.repeat(300)}\n`, 0o755],
    ['hides its interpreter behind options of env', '#!/usr/bin/env -i sh\n', 0o755],
    ['hides its interpreter behind an assignment', '#!/usr/bin/env -S PATH=/tmp sh\n', 0o755],
    ['has a carriage return after its interpreter', '#!/bin/sh\r\n', 0o755],
    ['has a carriage return after an argument', '#!/bin/sh -e\r\n', 0o755],
    ['has a blank that only people see as one', '#!/bin/sh\u00a0\n', 0o755],
    ['has a vertical tab before its interpreter', '#!\v/bin/sh\n', 0o755],
    ['has a NUL in its first line', '#!/bin/sh\0x\n', 0o755],
    ['gives env two words', '#!/usr/bin/env sh -e\n', 0o755],
  ])('refuses a file that %s', async (_, text, mode) => {
    await expectRefusal('EXECUTABLE_NOT_EXECUTABLE', () => describeAll(file(text, mode)));
  });

  it('never hashes another interpreter than the kernel runs', async () => {
    const folder = scratch();
    file('#!/bin/sh\n', 0o755, join(folder, 'interpreter'));
    file('#!/bin/sh\n', 0o755, join(folder, 'interpreter\r'));
    const tool = file(`#!${join(folder, 'interpreter')}\r\n`);
    await expectRefusal('EXECUTABLE_NOT_EXECUTABLE', () => describeAll(tool));
    expect(paths(file(`#! \t${join(folder, 'interpreter')} \t\n`))).toContain(join(folder, 'interpreter'));
  });

  it('refuses a folder and an interpreter that is its own', async () => {
    const folder = join(scratch(), 'folder');
    mkdirSync(folder);
    await expectRefusal('EXECUTABLE_NOT_EXECUTABLE', () => describeAll(folder));
    const loop = join(scratch(), 'loop');
    await expectRefusal('EXECUTABLE_NOT_EXECUTABLE', () => describeAll(file(`#!${loop}\n`, 0o755, loop)));
  });
});

describe('createDigests', () => {
  const LATER = () => Date.now() + 60_000;

  it('sees a change of the same size whose modification time was put back', () => {
    const path = file('aaaa');
    const digests = createDigests(LATER);
    const { atime, mtime } = statSync(path);
    const of = () => {
      const fd = openSync(path, 'r');
      try {
        return digests.of(fd);
      } finally {
        closeSync(fd);
      }
    };
    expect([of(), of()]).toEqual([sha256('aaaa'), sha256('aaaa')]);
    writeFileSync(path, 'bbbb');
    utimesSync(path, atime, mtime);
    expect(of()).toBe(sha256('bbbb'));
  });

  it('sees another interpreter in a first line of the same length', () => {
    const path = file('#!/bin/sh \n');
    const digests = createDigests(LATER);
    const interpreter = () => describePrograms(path, '/usr/bin:/bin', digests)[1]!.called;
    expect([interpreter(), interpreter()]).toEqual(['/bin/sh', '/bin/sh']);
    writeFileSync(path, '#!/bin/cat\n');
    expect(interpreter()).toBe('/bin/cat');
  });
});
