import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { moveNew, putNew, putOver, removeAt, withPlace } from '../../../src/durable/beneath-write.ts';
import { makeFolder } from '../../../src/plan/state/folders.ts';
import { readContent } from '../../../src/plan/state/see.ts';
import { stageBytes } from '../../../src/plan/state/stage.ts';
import { Refusal } from '../../../src/refusal.ts';

/** Another process swaps a folder for a link that leads outside, as fast as it can. */
const SWAPPER = `
const fs = require('node:fs');
const [inside, spare, outside] = process.argv.slice(1);
for (;;) {
  fs.renameSync(inside, spare);
  fs.symlinkSync(outside, inside);
  fs.unlinkSync(inside);
  fs.renameSync(spare, inside);
}`;

export interface Raced {
  readonly refused: number;
  readonly done: number;
}

/** Writes, creates, moves, removes and reads beneath the root all the while. Nothing may appear outside. */
export async function raceSwaps(root: string, outside: string, duration_ms: number): Promise<Raced> {
  const inside = join(root, 'in');
  mkdirSync(inside);
  writeFileSync(join(inside, 'f'), 'inside');
  writeFileSync(join(outside, 'f'), 'secret');
  const swapper = spawn(process.execPath, ['-e', SWAPPER, inside, join(root, 'spare'), outside], {
    stdio: 'inherit',
  });
  const counts = { refused: 0, done: 0 };
  try {
    const end = performance.now() + duration_ms;
    for (let i = 0; performance.now() < end; i++) {
      for (const step of STEPS) await step(root, i).then(() => counts.done++, expectRefused(counts));
    }
  } finally {
    const ended = once(swapper, 'exit');
    swapper.kill('SIGKILL');
    await ended; // until then it may put the folder back while the test removes everything
  }
  expect(readdirSync(outside)).toEqual(['f']);
  return counts;
}

const STEPS: readonly ((root: string, i: number) => Promise<unknown>)[] = [
  async (root) =>
    expect(Buffer.from((await readContent(root, 'in/f'))?.bytes ?? []).toString()).not.toBe('secret'),
  (root, i) =>
    withPlace(root, 'in/f', async (place) => {
      await stageBytes(place, `t${i}`, Buffer.from('inside'), { mode: 0o600 });
      putOver(place, `t${i}`);
    }),
  (root, i) =>
    withPlace(root, `in/n${i}`, async (place) => {
      await stageBytes(place, `u${i}`, Buffer.from('inside'), { mode: 0o600 });
      putNew(place, `u${i}`);
    }),
  (root, i) => withPlace(root, `in/n${i}`, (from) => withPlace(root, `in/m${i}`, (to) => moveNew(from, to))),
  (root, i) => withPlace(root, `in/m${i}`, (place) => removeAt(place)),
  async (root, i) => makeFolder(root, `in/d${i}`),
];

function expectRefused(counts: { refused: number }) {
  return (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    counts.refused += 1;
  };
}
