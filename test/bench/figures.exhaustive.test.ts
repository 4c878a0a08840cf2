import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FIGURES } from '../../bench/figures.ts';

describe('the bench', () => {
  it('can measure every figure', { timeout: 900_000 }, async () => {
    const words = ['--expose-gc', '--import', 'tsx', 'bench/main.ts', '--quick'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
    expect(stdout).not.toMatch(/ {2}failed /);
    for (const { name } of FIGURES) expect(stderr).toContain(`${name}: measured in`);
  });
});
