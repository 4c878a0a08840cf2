import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/canonical/digest.ts';
import { withPlace } from '../../../src/durable/beneath-write.ts';
import { readAt, type Seen, see, seeAgainAt } from '../../../src/plan/state/see.ts';
import { until } from '../../support/processes.ts';
import { scratch } from '../../support/scratch.ts';

/** A hash that no content has: where it is returned, the file was not hashed again. */
const MARK = 'ab'.repeat(32);

async function seen(): Promise<{ root: string; file: string; marked: Seen }> {
  const root = scratch();
  const file = join(root, 'f');
  writeFileSync(file, 'one');
  await until(async () => (await see(root, 'f'))!.settled);
  const found = (await see(root, 'f'))!;
  return { root, file, marked: { ...found, state: { ...found.state, sha256: MARK } } };
}

const again = (root: string, known: Seen) =>
  withPlace(root, 'f', (place) => [
    seeAgainAt(place, known)!.state.sha256,
    readAt(place, known)!.state.sha256,
  ]);

describe('a file that was seen before', () => {
  it('is not hashed again while it is the same', async () => {
    const { root, marked } = await seen();
    expect(await again(root, marked)).toEqual([MARK, MARK]);
  });

  it('is hashed again when it changed, even with the size and the time of before', async () => {
    const { root, file, marked } = await seen();
    const time = Number(marked.mtime_ns / 1_000_000n) / 1000;
    writeFileSync(file, 'two');
    utimesSync(file, time, time);
    expect(await again(root, marked)).toEqual([sha256('two'), sha256('two')]);
  });

  it('is hashed again when it was seen just after a change: another one could have the same time', async () => {
    const root = scratch();
    writeFileSync(join(root, 'f'), 'one');
    const found = (await see(root, 'f'))!;
    expect(found.settled).toBe(false);
    expect(await again(root, { ...found, state: { ...found.state, sha256: MARK } })).toEqual([
      sha256('one'),
      sha256('one'),
    ]);
  });

  it('is nothing when it is gone', async () => {
    const { root, marked } = await seen();
    expect(await withPlace(root, 'g', (place) => [seeAgainAt(place, marked), readAt(place, marked)])).toEqual(
      [null, null],
    );
  });
});
