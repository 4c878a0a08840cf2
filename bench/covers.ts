import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coveredFiles } from '../src/effect/covered.ts';
import { createDigests } from '../src/effect/program.ts';
import type { Row } from './table.ts';
import { timed, usual } from './timing.ts';
import type { Workshop } from './workshop.ts';

const FILES = 1_000;
const FILE_BYTES = 8_000;
const ROUNDS = 40;
const MOST = 1.3;

/** Hashing what `covers` names, beside reading and hashing the same files by their names. Nothing is remembered. */
export const COVERS = {
  name: 'covers',
  async rows({ folder }: Workshop): Promise<Row[]> {
    const root = join(folder, 'covered');
    const paths = writeFiles(root);
    const times: { bare: number; covered: number }[] = [];
    for (let i = 0; i <= ROUNDS; i++) {
      const bare = await timed(() => {
        for (const path of paths) createHash('sha256').update(readFileSync(path)).digest('hex');
      });
      const covered = await timed(() => coveredFiles(root, ['**/*.py'], createDigests()));
      if (i > 0) times.push({ bare, covered });
    }
    const [bare, covered] = [usual(times.map((t) => t.bare)), usual(times.map((t) => t.covered))];
    return [
      {
        figure: `digest of ${FILES.toLocaleString('en')} covered files`,
        measured: `${(covered / bare).toFixed(2)} x`,
        asked: `<= ${MOST}`,
        verdict: covered / bare <= MOST ? 'ok' : 'MISSED',
        baseline: `${covered.toFixed(1)} ms against ${bare.toFixed(1)} ms to read and hash them`,
      },
    ];
  },
};

function writeFiles(root: string): string[] {
  return Array.from({ length: FILES }, (_, i) => {
    const path = join(root, `part-${i % 20}`, `module-${i}.py`);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `${i}\n`.padEnd(FILE_BYTES, 'x'));
    return path;
  });
}
