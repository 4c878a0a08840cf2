import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { scratch } from '../support/scratch.ts';

const ROOT = join(import.meta.dirname, '../..');

it('a build finds its runner beside the bundle and beside its chunks', async () => {
  // Beneath node_modules, so that the bundle finds DuckDB as an installed package does.
  const dist = mkdtempSync(join(ROOT, 'node_modules/.sql-dist-'));
  onTestFinished(() => rmSync(dist, { recursive: true, force: true }));
  await build({
    absWorkingDir: ROOT,
    entryPoints: {
      'sql-runner': 'src/effect/sql/runner.ts',
      flat: 'src/effect/sql/run.ts',
      'chunks/deep': 'src/effect/sql/run.ts',
    },
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
  });
  const root = scratch();
  for (const bundle of ['flat.js', 'chunks/deep.js']) {
    const script = join(dist, 'start.mjs');
    const request = { root, database: null, text: 'SELECT 42', expect_results: true };
    writeFileSync(
      script,
      `import { runSql } from './${bundle}';\nconsole.log(JSON.stringify((await runSql(${JSON.stringify(request)})).rows));`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stdout, stderr).toBe('[[42]]\n');
  }
  expect(readFileSync(join(dist, 'flat.js'), 'utf8')).not.toContain('@duckdb/node-bindings');
});
