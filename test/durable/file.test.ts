import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  appendDurably,
  createDurably,
  makeFolderDurably,
  removeDurably,
  replaceDurably,
} from '../../src/durable/file.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

const bytes = (text: string) => Buffer.from(text);
const text = (path: string) => readFileSync(path, 'utf8');
const mode = (path: string) => statSync(path).mode & 0o777;

describe('createDurably', () => {
  it('writes the bytes with the mode that was asked for, whatever the umask', () => {
    const path = join(scratch(), 'new');
    const before = process.umask(0o077);
    try {
      createDurably(path, bytes('hello'), 0o644);
    } finally {
      process.umask(before);
    }
    expect([text(path), mode(path)]).toEqual(['hello', 0o644]);
  });

  it('refuses a name that exists and leaves it alone', async () => {
    const path = join(scratch(), 'old');
    writeFileSync(path, 'old');
    const refusal = await expectRefusal('WRITE_FAILED', () => createDurably(path, bytes('new')));
    expect(refusal.facts.errno).toBe('EEXIST');
    expect(text(path)).toBe('old');
  });

  it('does not write through a symbolic link that waits at the name', async () => {
    const folder = scratch();
    symlinkSync(join(folder, 'victim'), join(folder, 'name'));
    await expectRefusal('WRITE_FAILED', () => createDurably(join(folder, 'name'), bytes('x')));
    expect(existsSync(join(folder, 'victim'))).toBe(false);
  });
});

describe('replaceDurably', () => {
  it('puts new bytes under the name and leaves nothing else in the folder', () => {
    const folder = scratch();
    const path = join(folder, 'f');
    writeFileSync(path, 'old');
    replaceDurably(path, bytes('new'), 0o600);
    expect([text(path), mode(path), readdirSync(folder)]).toEqual(['new', 0o600, ['f']]);
  });

  it('gives the name a new file, so that a second name keeps the old bytes', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'f'), 'old');
    linkSync(join(folder, 'f'), join(folder, 'second'));
    replaceDurably(join(folder, 'f'), bytes('new'));
    expect(text(join(folder, 'second'))).toBe('old');
  });

  it('refuses to replace a folder and removes its temporary file', async () => {
    const folder = scratch();
    makeFolderDurably(join(folder, 'f'));
    await expectRefusal('WRITE_FAILED', () => replaceDurably(join(folder, 'f'), bytes('new')));
    expect(readdirSync(folder)).toEqual(['f']);
  });
});

describe('appendDurably', () => {
  it('appends whole records by path and by descriptor, and creates the file once', () => {
    const path = join(scratch(), 'log');
    appendDurably(path, bytes('one\n'), 0o640);
    appendDurably(path, bytes('two\n'), 0o600);
    const fd = openSync(path, 'a');
    appendDurably(fd, bytes('three\n'));
    closeSync(fd);
    expect([text(path), mode(path)]).toEqual(['one\ntwo\nthree\n', 0o640]);
  });

  it('refuses with DISK_FULL when the disk is full', async () => {
    await expectRefusal('DISK_FULL', () => appendDurably('/dev/full', bytes('x')));
  });

  it('refuses a symbolic link', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'victim'), '');
    symlinkSync('victim', join(folder, 'log'));
    await expectRefusal('WRITE_FAILED', () => appendDurably(join(folder, 'log'), bytes('x')));
    expect(text(join(folder, 'victim'))).toBe('');
  });

  it('takes back a record that was written only in part, and refuses', () => {
    // RLIMIT_FSIZE stops the write after 8192 bytes, as a disk does that fills up in the middle of it.
    const result = limitedScript(
      ['prlimit', '--fsize=8192', '--'],
      `try { appendDurably('log', Buffer.alloc(10_000)); console.log('acknowledged'); }
       catch (error) { console.log(error.code, statSync('log').size); }`,
    );
    expect(result).toBe('DISK_FULL 0');
  });
});

describe('removeDurably and makeFolderDurably', () => {
  it('remove a file and make a folder', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'f'), '');
    removeDurably(join(folder, 'f'));
    makeFolderDurably(join(folder, 'sub'), 0o700);
    expect([readdirSync(folder), mode(join(folder, 'sub'))]).toEqual([['sub'], 0o700]);
  });

  it('refuse what is not there, and what is there already', async () => {
    const folder = scratch();
    await expectRefusal('WRITE_FAILED', () => removeDurably(join(folder, 'none')));
    await expectRefusal('WRITE_FAILED', () => makeFolderDurably(folder));
    await expectRefusal('WRITE_FAILED', () => makeFolderDurably(join(folder, 'a', 'b')));
  });
});

it('a full disk leaves no half-written file behind', () => {
  const small = ['bwrap', '--dev-bind', '/', '/', '--size', '16384', '--tmpfs', '/mnt', '--'];
  const result = limitedScript(
    small,
    `for (const act of [() => createDurably('/mnt/a', big), () => replaceDurably('/mnt/b', big)]) {
       try { act(); console.log('acknowledged'); } catch (error) { console.log(error.code); }
     }
     console.log(JSON.stringify(readdirSync('/mnt')));`,
  );
  expect(result.split('\n')).toEqual(['DISK_FULL', 'DISK_FULL', '[]']);
});

/** Runs a few lines with the durable verbs in a process of their own, under a limit. */
function limitedScript(prefix: readonly string[], body: string): string {
  const folder = scratch();
  const script = join(folder, 'script.mts');
  const source = join(import.meta.dirname, '../../src/durable/file.ts');
  writeFileSync(
    script,
    `import { readdirSync, statSync } from 'node:fs';
     import { appendDurably, createDurably, replaceDurably } from ${JSON.stringify(source)};
     process.on('SIGXFSZ', () => {});
     const big = Buffer.alloc(100_000);
     ${body}`,
  );
  const tsx = join(import.meta.dirname, '../../node_modules/tsx/dist/loader.mjs');
  const [program, ...args] = [...prefix, process.execPath, '--import', tsx, script];
  return execFileSync(program!, args, { cwd: folder, encoding: 'utf8' }).trim();
}
