import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT: string = join(ROOT, 'scripts/build.mjs');

/** Builds and packs into a folder, and leaves `dist/` of the tree alone. */
export async function packInto(folder: string, { types }: { readonly types: boolean }) {
  const stage = mkdtempSync(join(ROOT, 'node_modules/.package-'));
  try {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const name of ['package.json', ...manifest.files])
      if (existsSync(join(ROOT, name)) && name !== 'dist')
        cpSync(join(ROOT, name), join(stage, name), { recursive: true });
    const { build } = await import(SCRIPT);
    await build({ types, dist: join(stage, 'dist') });
    // So that there is compiled code, which must not be packed.
    execFileSync(process.execPath, [join(stage, manifest.bin.keyturn), 'explain', 'USAGE']);
    expect(readdirSync(join(stage, 'dist/chunks')).some((name) => name.endsWith('.cache'))).toBe(true);
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const [{ filename, files }] = JSON.parse(execFileSync('npm', pack, { cwd: stage, encoding: 'utf8' }));
    return {
      file: join(folder, filename as string),
      paths: (files as { path: string }[]).map(({ path }) => path),
    };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
