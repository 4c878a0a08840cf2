/** Writes docs/console/: every screen of the console, light and dark, wide and narrow, from a real project in a real Chromium. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { furnish, open, screensOf } from '../test/console/screens.ts';
import { openStage } from '../test/console/stage.ts';
import { build } from './build.mjs';
import { root } from './setup.mjs';

const OUT = join(root, 'docs/console');

await build({ types: false });
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const stage = await openStage();
try {
  const ada = await stage.person();
  await stage.enrol(ada, 'ada');
  const there = await furnish(stage, ada);
  const { page } = ada;
  for (const [colorScheme, width, height] of [
    ['light', 1440, 900],
    ['dark', 1440, 900],
    ['light', 390, 844],
    ['dark', 390, 844],
  ]) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    for (const [name, route, drawn] of [['queue', '/', '.item'], ...screensOf(there)]) {
      await open(page, route);
      await page.waitForSelector(drawn);
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      await page.screenshot({ path: join(OUT, `${name}-${colorScheme}-${width}.png`) });
    }
  }
} finally {
  await stage.close();
}
