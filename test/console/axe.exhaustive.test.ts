import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Furnished, furnish, open, screensOf } from './screens.ts';
import { openStage, type Person, type Stage } from './stage.ts';

const TIME = 110_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

let stage: Stage;
let ada: Person;
let there: Furnished;

beforeAll(async () => {
  stage = await openStage();
  ada = await stage.person();
  await stage.enrol(ada, 'ada');
  there = await furnish(stage, ada);
}, TIME);
afterAll(() => stage?.close());

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function violations(person: Person): Promise<string[]> {
  const found = (await person.page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  )) as readonly Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 160)}`),
  );
}

describe.each([
  ['light', 1440, 900],
  ['dark', 390, 844],
  ['dark', 1440, 900],
  ['light', 390, 844],
] as const)('WCAG 2.2 AA, %s, %i pixels wide', (colorScheme, width, height) => {
  it('has no violation on any screen', { timeout: TIME }, async () => {
    const { page } = ada;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.evaluate(AXE);
    const found: string[] = [];
    for (const [name, route, drawn] of screensOf(there)) {
      await open(page, route);
      await page.waitForSelector(drawn);
      for (const one of await violations(ada)) found.push(`${name}: ${one}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${name}: ${wide} pixels wider than the screen`);
    }
    for (const key of ['f', '?']) {
      await page.keyboard.press(key);
      await page.waitForSelector('[role=dialog]');
      for (const one of await violations(ada)) found.push(`${key}: ${one}`);
      await page.keyboard.press('Escape');
    }
    expect(found).toEqual([]);
  });
});
