import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ownPagesOf } from './pages.ts';
import { type Furnished, furnish, open, screensOf } from './screens.ts';
import { type Person, type Stage, stageOfFile } from './stage.ts';
import { HOSTILE, MARKUP, statesOf } from './states.ts';

const TIME = 200_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

let stage: Stage;
let ada: Person;
let there: Furnished;

stageOfFile(async (opened, person) => {
  [stage, ada] = [opened, person];
  there = await furnish(stage, ada);
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function violations(page: Page): Promise<string[]> {
  const found = (await page.evaluate(
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
      for (const one of await violations(page)) found.push(`${name}: ${one}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) found.push(`${name}: ${wide} pixels wider than the screen`);
    }
    for (const key of ['f', '?']) {
      await page.keyboard.press(key);
      await page.waitForSelector('[role=dialog]');
      for (const one of await violations(page)) found.push(`${key}: ${one}`);
      await page.keyboard.press('Escape');
    }
    expect(found).toEqual([]);
  });
});

const LOOKS = [
  ['light', 1440, 900],
  ['dark', 390, 844],
] as const;

async function foundIn(page: Page, name: string, found: string[]): Promise<void> {
  for (const [colorScheme, width, height] of LOOKS) {
    // Otherwise it is measured while colours go from one look to the other.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    for (const one of await violations(page)) found.push(`${name}, ${width}: ${one}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) found.push(`${name}: ${wide} pixels wider than ${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe('WCAG 2.2 AA with what was written to be something else', () => {
  it('has no violation on any screen that shows it', { timeout: TIME }, async () => {
    const asked = { issuer: 'docs-bot', declared_goal: HOSTILE };
    const action = { action_id: 'a', action_type: 'FILE_CREATE', target: 'Approve and run once.md' };
    const plan = {
      plan_id: 'p',
      action_plan: [{ ...action, operation: { type: 'create', content: HOSTILE } }],
    };
    const { intent_id: plan_id } = await stage.propose({
      ...asked,
      effect: { kind: 'plan', task_id: 'p', config: null, plan },
    });
    const no = await stage.propose({
      ...asked,
      effect: { kind: 'tool', tool: 'say', arguments: { word: MARKUP.repeat(50) } },
    });
    await stage.keyturn.intents.reject({ ...no, reason: HOSTILE, signer: stage.ada });
    const frozen = { scope: 'tool' as const, name: 'wait', signer: stage.ada };
    await stage.keyturn.system.freeze({ ...frozen, reason: HOSTILE });
    await ada.page.evaluate(AXE);
    const found: string[] = [];
    for (const [name, route, drawn] of [
      ...screensOf({ ...there, plan: plan_id }),
      ['rejected', `/story/${no.intent_id}`, '.story li'],
    ] as const) {
      await open(ada.page, route);
      await ada.page.waitForSelector(drawn);
      await foundIn(ada.page, name, found);
    }
    await stage.keyturn.system.unfreeze({ ...frozen, reason: 'It was a test.' });
    expect(found).toEqual([]);
  });

  it('has no violation in any state of the dock, of a dialog, or of the connection', {
    timeout: TIME,
  }, async () => {
    const found: string[] = [];
    for (const [name, arrange] of statesOf(stage, ada)) {
      const end = await arrange();
      await ada.page.evaluate(AXE);
      await foundIn(ada.page, name, found);
      await end?.();
    }
    expect(found).toEqual([]);
  });

  it('has no violation on the pages of a link, and where a run is in doubt', { timeout: TIME }, async () => {
    const found: string[] = [];
    for (const [name, arrange] of await ownPagesOf(stage)) {
      const { page, end } = await arrange();
      await page.evaluate(AXE);
      await foundIn(page, name, found);
      await end();
    }
    expect(found).toEqual([]);
  });
});
