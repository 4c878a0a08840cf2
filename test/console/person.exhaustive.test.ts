import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { open } from './screens.ts';
import { openStage, type Person, reached, type Stage } from './stage.ts';

/** One person, one decision with the keyboard alone, and what the console tells about it afterwards. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;
const sent: string[] = [];

beforeAll(async () => {
  stage = await openStage();
  ada = await stage.person();
  ada.page.on('request', (request) => sent.push(request.postData() ?? ''));
  await stage.enrol(ada, 'ada');
}, TIME);
afterAll(() => stage?.close());

/** What has the focus, and whether a person sees that. */
const focused = () =>
  ada.page.evaluate(() => {
    const now = document.activeElement!;
    const { outlineStyle, outlineWidth } = getComputedStyle(now);
    const is_button = now.tagName === 'BUTTON';
    const is_seen = outlineStyle !== 'none' && outlineWidth !== '0px';
    return { text: now.textContent ?? '', is_button, is_seen };
  });

describe('with the keyboard alone', () => {
  it('each control of a proposal is reached in turn and is seen to have the focus; the last one approves', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    const { intent_id } = await stage.propose();
    await open(page, `/decide/${intent_id}`);
    await reached(ada, 'ready');
    // The focus is where the proposal begins.
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('main');
    const passed: string[] = [];
    for (let is_there = false; !is_there; ) {
      expect(passed.length).toBeLessThan(60);
      await page.keyboard.press('Tab');
      const { text, is_button, is_seen } = await focused();
      expect(is_seen, text).toBe(true);
      passed.push(text);
      is_there = is_button && text.includes('Approve and run once');
    }
    expect(passed.some((text) => text.includes('Reject…'))).toBe(true);
    // A press right after the dock changed is ignored.
    await page.waitForSelector('.dock[data-steady="true"]');
    await page.keyboard.press('Enter');
    await reached(ada, 'done');
    expect((await stage.keyturn.intents.waitFor({ intent_id })).status_word).toBe('succeeded');
  });
});

describe('afterwards', () => {
  it('the week stands in one line, which this browser keeps and sends nowhere', {
    timeout: TIME,
  }, async () => {
    await open(ada.page, '/queue');
    const line = ada.page.locator('.week');
    await expect.poll(() => line.textContent()).toMatch(/^1 decision in seven days\. You looked for \d+ s/);
    expect(await ada.page.evaluate(() => localStorage.getItem('keyturn.looks'))).toContain('"seconds"');
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((text) => /"seconds"|"opened"/.test(text))).toEqual([]);
  });

  it('the page of figures counts it', { timeout: TIME }, async () => {
    await open(ada.page, '/figures');
    await ada.page.waitForSelector('.plot');
    const text = (await ada.page.textContent('main'))!;
    expect(text).toContain('1 in 14 days, at most 1 a day');
    expect(text).toMatch(/median .+ of 1 decision/);
    expect(text).toContain('none in 14 days');
    expect(await ada.page.locator('.plot svg, svg.plot').count()).toBeGreaterThan(0);
  });

  it('policies that would have decided otherwise are shown with the decisions that would change', {
    timeout: TIME,
  }, async () => {
    stage.write(
      'policies/no-runs.cedar',
      '@id("no-runs")\n@version("1")\n@scope("capability")\n@rationale("Nothing runs.")\nforbid (principal, action == Keyturn::Action::"grant", resource);\n',
    );
    await open(ada.page, '/policies');
    await ada.page.waitForSelector('text=Which recent decisions would change');
    const text = (await ada.page.textContent('main'))!;
    expect(text).toContain('Added: no-runs');
    expect(text).toMatch(/Allowed, would be denied/);
  });
});
