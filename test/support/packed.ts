import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';

const SCRIPT: string = resolve(import.meta.dirname, '../../scripts/pack.mjs');

/** Builds and packs into a folder, and leaves `dist/` of the tree alone. */
export async function packInto(folder: string, { types }: { readonly types: boolean }) {
  const pack = await import(SCRIPT);
  // So that there is compiled code, which must not be packed.
  const beforePacking = (stage: string) => {
    const { bin } = JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8'));
    execFileSync(process.execPath, [join(stage, bin.keyturn), 'explain', 'USAGE']);
    expect(readdirSync(join(stage, 'dist/chunks')).some((name) => name.endsWith('.cache'))).toBe(true);
  };
  const { filename, files } = await pack.packInto(folder, { types, beforePacking });
  return {
    file: join(folder, filename as string),
    paths: (files as { path: string }[]).map(({ path }) => path),
  };
}
