import { describe, expect, it, onTestFinished } from 'vitest';
import { startNew, stopped } from '../cli/playground.ts';
import { scratch } from '../support/scratch.ts';
import { launched } from './stage.ts';

describe('npm start, in a browser', () => {
  it('opens the link into a queue with something to decide', { timeout: 200_000 }, async () => {
    const session = await startNew(scratch());
    const [link] = /http\S+#link=\S+/.exec(session.text) ?? [];
    const browser = await launched();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(link!);
    await page.waitForSelector('.queue .item');
    const goals = (await page.locator('.queue .item').allTextContents()).join('\n');
    const waiting = [...session.text.matchAll(/^ {2}waits +\S+ {2}(.+?)\s*$/gm)].map(([, goal]) => goal!);
    expect(waiting).not.toEqual([]);
    for (const goal of waiting) expect(goals).toContain(goal);
    await page.waitForSelector('.dock');
    await page.keyboard.press('j');
    await page.waitForSelector('[data-intent]');
    expect(await page.locator('.dock').textContent()).not.toContain('EFFECT_CHANGED');
    await browser.close();
    expect(await stopped(session)).toBe(0);
  });
});
