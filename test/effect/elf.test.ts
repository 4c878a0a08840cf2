import { closeSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeElf, looksLikeElf } from '../../src/effect/elf.ts';
import { executableForm } from '../../src/effect/executable-form.ts';

const NODE = readFileSync(realpathSync(process.execPath)).subarray(0, 1024 * 1024);
const reader = (bytes: Buffer) => (at: number, length: number) => bytes.subarray(at, at + length);
const judge = (bytes: Buffer, arch?: string) => judgeElf(reader(bytes), arch);

/** The program that runs this test, changed. Its headers are at the beginning. */
function changed(change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(NODE);
  change(bytes);
  return bytes;
}

const table = Number(NODE.readBigUInt64LE(32));
const at = (type: number) => {
  for (let i = 0; i < NODE.readUInt16LE(56); i++)
    if (NODE.readUInt32LE(table + i * 56) === type) return table + i * 56;
  return expect.fail(`no program header of type ${type}`);
};
const LOAD = 1;
const INTERPRETER = 3;

describe('judgeElf', () => {
  it('accepts every binary among the programs of this machine, and says its loader', () => {
    const found = readdirSync('/usr/bin').flatMap((name) => {
      const path = join('/usr/bin', name);
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return [];
      const fd = openSync(path, 'r');
      try {
        const form = looksLikeElf(readFileSync(path).subarray(0, 4)) ? executableForm(fd, path) : null;
        return form ? [form] : [];
      } finally {
        closeSync(fd);
      }
    });
    expect(found.length).toBeGreaterThan(20);
    expect(
      found.every(({ kind, next }) => kind === 'binary' && (next === null || next.startsWith('/'))),
    ).toBe(true);
    expect(judge(NODE)).toEqual({ loader: expect.stringMatching(/^\/lib.*\/ld-/) });
  });

  it.each<[string, Buffer]>([
    ['is only its magic', NODE.subarray(0, 4)],
    ['ends within its header', NODE.subarray(0, 63)],
    ['ends before its program headers', NODE.subarray(0, 64)],
    ['is of another class', changed((b) => b.writeUInt8(1, 4))],
    ['is of another byte order', changed((b) => b.writeUInt8(2, 5))],
    ['is for another machine', changed((b) => b.writeUInt16LE(8, 18))],
    ['is an object file', changed((b) => b.writeUInt16LE(1, 16))],
    ['is a core dump', changed((b) => b.writeUInt16LE(4, 16))],
    ['has no program headers', changed((b) => b.writeUInt16LE(0, 56))],
    ['has more program headers than the kernel reads', changed((b) => b.writeUInt16LE(0xffff, 56))],
    ['has program headers of another size', changed((b) => b.writeUInt16LE(32, 54))],
    ['has program headers behind its end', changed((b) => b.writeBigUInt64LE(2n ** 40n, 32))],
    ['has program headers at no offset', changed((b) => b.writeBigUInt64LE(2n ** 64n - 1n, 32))],
    ['names an empty loader', changed((b) => b.writeBigUInt64LE(1n, at(INTERPRETER) + 32))],
    ['names too long a loader', changed((b) => b.writeBigUInt64LE(4097n, at(INTERPRETER) + 32))],
    ['names a loader without an end', changed((b) => b.writeBigUInt64LE(5n, at(INTERPRETER) + 32))],
    ['names a loader behind its end', changed((b) => b.writeBigUInt64LE(2n ** 30n, at(INTERPRETER) + 8))],
    ['names a relative loader', changed((b) => b.write('x', Number(b.readBigUInt64LE(at(INTERPRETER) + 8))))],
    ['has a property note of nonsense', changed((b) => b.writeUInt32LE(0x6474e553, at(INTERPRETER)))],
    [
      'has nothing to load',
      changed((b) => {
        for (let i = 0; i < b.readUInt16LE(56); i++)
          if (b.readUInt32LE(table + i * 56) === LOAD) b.writeUInt32LE(0, table + i * 56);
      }),
    ],
  ])('refuses a file that %s', (_, bytes) => {
    expect(judge(bytes)).toEqual(expect.any(String));
  });

  it('refuses every binary on a machine that it does not know', () => {
    expect(judge(NODE, 'mips')).toEqual(expect.stringContaining('mips'));
  });
});
