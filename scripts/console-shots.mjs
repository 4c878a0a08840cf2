/** Writes docs/console/: every screen of the console, light and dark, wide and narrow, from a real project in a real Chromium. */

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ownPagesOf } from '../test/console/pages.ts';
import { furnish, open, screensOf } from '../test/console/screens.ts';
import { openStage } from '../test/console/stage.ts';
import { statesOf } from '../test/console/states.ts';
import { build } from './build.mjs';
import { shootPlayground } from './playground-shot.mjs';
import { root } from './setup.mjs';

const OUT = join(root, 'docs/console');

await build({ types: false });
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
/** A state is shot in two looks, a screen in all four. */
const LOOKS = [
  ['light', 1440, 900],
  ['dark', 390, 844],
];

async function lookLike(page, [colorScheme, width, height]) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height });
}

async function shoot(page, name, looks) {
  for (const look of looks) {
    await lookLike(page, look);
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await page.screenshot({ path: join(OUT, `${name}-${look[0]}-${look[1]}.png`) });
  }
  await page.setViewportSize({ width: looks[0][1], height: looks[0][2] });
}

const stage = await openStage();
try {
  const ada = await stage.person();
  await stage.enrol(ada, 'ada');
  await shoot(ada.page, 'empty', LOOKS);
  const there = await furnish(stage, ada);
  const { page } = ada;
  for (const look of [...LOOKS, ['dark', 1440, 900], ['light', 390, 844]]) {
    await lookLike(page, look);
    for (const [name, route, drawn] of [['queue', '/', '.item'], ...screensOf(there)]) {
      await open(page, route);
      await page.waitForSelector(drawn);
      await shoot(page, name, [look]);
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const [name, arrange] of statesOf(stage, ada)) {
    const end = await arrange();
    await shoot(page, name, LOOKS);
    await end?.();
  }
  for (const [name, arrange] of await ownPagesOf(stage)) {
    const own = await arrange();
    await shoot(own.page, name, LOOKS);
    await own.end();
  }
} finally {
  await stage.close();
}
await shootPlayground(OUT);
