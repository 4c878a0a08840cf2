import { openSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OpenFiles } from '../../src/durable/open-files.ts';
import { openIn } from '../support/open-files.ts';
import { scratch } from '../support/scratch.ts';

it('a file that was replaced is there until it is closed, and then gone', async () => {
  const folder = scratch();
  const path = join(folder, 'a');
  for (const name of ['a', 'b']) writeFileSync(join(folder, name), name);
  const files = new OpenFiles();
  files.keep(openSync(path, 'r'));
  renameSync(join(folder, 'b'), path);
  expect(openIn(folder)).toEqual([`${path} (deleted)`]);
  await files.close();
  expect(openIn(folder)).toEqual([]);
});

it('closing twice closes nothing twice', async () => {
  const files = new OpenFiles();
  files.keep(openSync('/dev/null', 'r'));
  await files.close();
  const other = openSync('/dev/null', 'r'); // most likely under the same number
  await files.close();
  expect(readlinkSync(`/proc/self/fd/${other}`)).toBe('/dev/null');
});
