import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('npm run demo plays the whole journey, from the first proposal to an undone conversation', () => {
  const demo = fileURLToPath(new URL('../../demo/demo.mjs', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect([status, stdout.slice(-2000), stderr.slice(-2000)]).toEqual([
    0,
    expect.stringContaining('That was the journey.'),
    expect.anything(),
  ]);
});
