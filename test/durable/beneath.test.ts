import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFileBeneath, readRegularFile } from '../../src/durable/beneath.ts';
import type { Refusal } from '../../src/refusal.ts';
import { isRunning, until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const text = (read: { bytes: Uint8Array }) => Buffer.from(read.bytes).toString();

describe('readRegularFile', () => {
  it('gives the bytes and the mode of one open file', () => {
    const path = join(scratch(), 'f');
    writeFileSync(path, 'hello');
    chmodSync(path, 0o440);
    const read = readRegularFile(path, 5);
    expect([text(read), read.mode]).toEqual(['hello', 0o440]);
  });

  it('reads a file that says it has no size', () => {
    expect(text(readRegularFile('/proc/self/status', 100_000))).toContain('Name:');
  });

  it('refuses what is not there', async () => {
    await expectRefusal('FILE_NOT_FOUND', () => readRegularFile(join(scratch(), 'none'), 10));
  });

  it('refuses a symbolic link', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'real'), 'x');
    symlinkSync('real', join(folder, 'link'));
    await expectRefusal('FILE_IS_SYMLINK', () => readRegularFile(join(folder, 'link'), 10));
  });

  it('refuses a folder, a socket, a device and a named pipe, and waits for none of them', async () => {
    const folder = scratch();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const server = createServer().listen(join(folder, 'socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    for (const path of [folder, join(folder, 'socket'), join(folder, 'pipe'), '/dev/zero']) {
      await expectRefusal('FILE_NOT_REGULAR', () => readRegularFile(path, 10));
    }
  });

  it('refuses one byte more than it may read, also when the size is a lie', async () => {
    const path = join(scratch(), 'f');
    writeFileSync(path, '123456');
    await expectRefusal('INPUT_TOO_LARGE', () => readRegularFile(path, 5));
    await expectRefusal('INPUT_TOO_LARGE', () => readRegularFile('/proc/self/status', 5));
  });

  it('refuses a file that cannot be read', async () => {
    // Also for root: this one may be opened and not read.
    await expectRefusal('FILE_UNREADABLE', () => readRegularFile('/proc/self/mem', 10));
  });
});

describe('readFileBeneath', () => {
  it('walks down to a file', () => {
    const root = scratch();
    mkdirSync(join(root, 'a/b'), { recursive: true });
    writeFileSync(join(root, 'a/b/c'), 'deep');
    expect(text(readFileBeneath(root, 'a/b/c', 100))).toBe('deep');
  });

  it.each(['..', '../x', 'a/../x', '/etc/passwd', '', 'a//b', './a', 'a/', 'a\0b', 'a\nb'])(
    'refuses %j, which is no plain walk downwards',
    async (path) => {
      await expectRefusal('PATH_ESCAPES', () => readFileBeneath(scratch(), path, 10));
    },
  );

  it('refuses a symbolic link at the end and on the way', async () => {
    const root = scratch();
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real/f'), 'x');
    symlinkSync('real', join(root, 'way'));
    symlinkSync('real/f', join(root, 'end'));
    await expectRefusal('FILE_IS_SYMLINK', () => readFileBeneath(root, 'way/f', 10));
    await expectRefusal('FILE_IS_SYMLINK', () => readFileBeneath(root, 'end', 10));
  });

  it('refuses a file with a second name', async () => {
    const root = scratch();
    writeFileSync(join(root, 'f'), 'x');
    linkSync(join(root, 'f'), join(root, 'g'));
    await expectRefusal('FILE_HARD_LINKED', () => readFileBeneath(root, 'f', 10));
  });

  it('refuses a folder, and a file where a folder should be', async () => {
    const root = scratch();
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'f'), 'x');
    await expectRefusal('FILE_NOT_REGULAR', () => readFileBeneath(root, 'd', 10));
    await expectRefusal('FILE_NOT_REGULAR', () => readFileBeneath(root, 'f/x', 10));
    await expectRefusal('FILE_NOT_FOUND', () => readFileBeneath(root, 'd/x', 10));
  });

  it('is never raced out of its root by a folder that turns into a link and back', async () => {
    const root = scratch();
    const outside = scratch();
    writeFileSync(join(outside, 'f'), 'secret');
    mkdirSync(join(root, 'd'));
    writeFileSync(join(root, 'd/f'), 'public');
    const stop = join(outside, 'stop');
    const swapper = `cd ${root}; while [ ! -e ${stop} ]; do mv d kept; ln -s ${outside} d; rm d; mv kept d; done`;
    const pid = execFileSync('sh', ['-c', `(${swapper}) >/dev/null 2>&1 & echo $!`], { encoding: 'utf8' });
    const seen = new Set<string>();
    try {
      for (let i = 0; i < 5000; i++) seen.add(attempt(root));
    } finally {
      writeFileSync(stop, '');
      await until(() => !isRunning(Number(pid)));
    }
    expect(seen).not.toContain('secret');
    expect(seen).toContain('public');
  });
});

function attempt(root: string): string {
  try {
    return text(readFileBeneath(root, 'd/f', 100));
  } catch (error) {
    return (error as Refusal).code;
  }
}
