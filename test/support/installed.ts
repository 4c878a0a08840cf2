import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dist } from './dist.ts';

/** What `npm install keyturn` leaves in a folder, from a build of this tree. */
export function installDist(folder: string, { folder: dist }: Dist): void {
  const place = join(folder, 'node_modules/keyturn');
  mkdirSync(place, { recursive: true });
  symlinkSync(dist, join(place, 'dist'));
  writeFileSync(
    join(place, 'package.json'),
    JSON.stringify({ name: 'keyturn', type: 'module', exports: './dist/keyturn.js' }),
  );
}
