import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type Digest, sha256 } from '../canonical/digest.ts';
import { parseJson } from '../canonical/json.ts';
import { refuse } from '../refusal.ts';

/** One file of the console, under the one path at which it is served. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly sha256: Digest;
  readonly text: string;
}

const listed = z.array(
  z.strictObject({
    path: z.string().regex(/^\/(console\/[A-Za-z0-9.-]+)?$/),
    // `keyturn/audit` for a browser is in the package once, beside the console.
    file: z.string().regex(/^(?:\.\.\/audit\.browser\.js|[A-Za-z0-9.-]+)$/),
    type: z.string(),
    sha256: z.string(),
  }),
);

/**
 * The console, as the build made it. Each file is read once and answered from memory: no path of a request is ever a path of this host.
 * None where this installation has no console.
 */
export function consoleAssets(folder = consoleFolder()): readonly Asset[] {
  if (folder === null) return [];
  const list = listed.safeParse(parseJson(readFileSync(join(folder, 'assets.json'))));
  if (!list.success) refuse('CONSOLE_CHANGED', 'The list of the files of the console cannot be read.');
  return list.data.map(({ path, file, type, sha256: expected }) => {
    const bytes = readFileSync(join(folder, file));
    if (sha256(bytes) !== expected) refuse('CONSOLE_CHANGED', `${file} is not as it was built.`, { file });
    return { path, type, sha256: expected, text: bytes.toString('utf8') };
  });
}

/** `dist/console/`: beside the bundle, one folder up, or in the source tree. */
function consoleFolder(): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [join(here, 'console'), join(here, '../console'), join(here, '../../dist/console')];
  return places.find((one) => existsSync(join(one, 'assets.json'))) ?? null;
}
