import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyAttributes, readAttributes } from '../../src/effect/attributes.ts';
import { attributesAt, setAttribute, withTools } from '../support/attributes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { scratch } from '../support/scratch.ts';

describe('the attributes of files', () => {
  it(
    'are read for many files and folders at once, in order, whatever bytes they have',
    withTools(async () => {
      const root = scratch();
      const names = ['plain', 'with\nnewline', '-dash', 'folder', 'large'].map((name) => join(root, name));
      for (const name of names)
        name.endsWith('folder') ? mkdirSync(name) : writeFileSync(name, 'x'.repeat(1000));
      setAttribute(names[1]!, 'user.text', '0x0a3d00');
      setAttribute(names[3]!, 'user.of folder', 'f');
      expect(await readAttributes(names)).toEqual([
        [],
        [{ name: 'user.text', value: Buffer.from([10, 61, 0]).toString('base64') }],
        [],
        [{ name: 'user.of folder', value: Buffer.from('f').toString('base64') }],
        [],
      ]);
    }),
  );

  it('of a file without any are read without its contents, however large it is', async () => {
    const huge = join(scratch(), 'huge');
    writeFileSync(huge, '');
    truncateSync(huge, 2 ** 40);
    expect(await readAttributes([huge])).toEqual([[]]);
  });

  it(
    'of a folder into which others write meanwhile are read, as another plan may',
    withTools(async () => {
      const root = scratch();
      setAttribute(root, 'user.k', 'v');
      const writer = spawn('sh', ['-c', 'while :; do : > "$0/new"; rm "$0/new"; done', root]);
      try {
        const read = [{ name: 'user.k', value: Buffer.from('v').toString('base64') }];
        for (let i = 0; i < 30; i += 1) expect(await readAttributes([root])).toEqual([read]);
      } finally {
        writer.kill('SIGKILL');
        await once(writer, 'close');
      }
    }),
  );

  it('of no file are none, and need no program', async () => {
    expect(await readAttributes([])).toEqual([]);
  });

  it('of a file that is not there are refused, not taken as none', async () => {
    await expectRefusal('ATTRIBUTES_UNREADABLE', () => readAttributes([join(scratch(), 'missing')]));
  });

  it(
    'are copied to another file without its content, or it is refused',
    withTools(async () => {
      const root = scratch();
      const [from, to] = [join(root, 'from'), join(root, 'to')];
      writeFileSync(from, 'a');
      writeFileSync(to, 'b');
      setAttribute(from, 'user.k', 'v');
      await copyAttributes(from, to);
      expect(attributesAt([to])).toBe(attributesAt([from]).replace(from, to));
      await expectRefusal('ATTRIBUTES_NOT_KEPT', () => copyAttributes(join(root, 'missing'), to));
    }),
  );
});
