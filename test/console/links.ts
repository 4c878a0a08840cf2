import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { foundWithPasskey } from '../../src/serve/founding.ts';
import { open } from './screens.ts';
import { newAuthenticator, type Person, type Stage } from './stage.ts';

/** The pages that a link opens in a browser which knows nothing else: before each touch, and after both. */

interface LinkPage {
  readonly page: Page;
  readonly end: () => Promise<unknown>;
}

/** Opens the page in a browser of its own. */
async function opened({ browser }: Stage, link: string): Promise<LinkPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await newAuthenticator(cdp);
  await page.goto(link);
  await page.waitForSelector('#go:enabled');
  return { page, end: () => context.close() };
}

async function invited({ page }: Person, name: string): Promise<string> {
  await open(page, '/people');
  await page.fill('#invited', name);
  await page.click('text=Make a link');
  return (await page
    .locator(`[role="status"]:has-text("Give this link to ${name}") .invite-link`)
    .textContent())!;
}

async function touchedTwice(page: Page): Promise<void> {
  await page.click('#go');
  await page.click('text=Sign with the passkey');
}

async function founding(): Promise<{ link: string; end: () => Promise<unknown> }> {
  const at = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-founding-'));
  const stop = new AbortController();
  let project: Promise<unknown> = Promise.resolve();
  const link = await new Promise<string>((onListening, failed) => {
    const asked = { at, name: 'ada', label: 'laptop', port: 0, signal: stop.signal, onListening };
    project = foundWithPasskey(asked).then((keyturn) => keyturn.close());
    project.catch(failed);
  });
  const end = async () => {
    stop.abort();
    await project.catch(() => {});
    rmSync(at, { recursive: true, force: true });
  };
  return { link, end };
}

export function linkPagesOf(
  stage: Stage,
  ada: Person,
): readonly (readonly [string, () => Promise<LinkPage>])[] {
  return [
    ['enrol', async () => opened(stage, await invited(ada, 'bob'))],
    [
      'enrol-signed',
      async () => {
        const there = await opened(stage, await invited(ada, 'carl'));
        await touchedTwice(there.page);
        await there.page.waitForSelector('#told:has-text("vouched for")');
        return there;
      },
    ],
    [
      'enrol-ended',
      async () => {
        const there = await opened(stage, await invited(ada, 'dora'));
        await ada.page.locator('li', { hasText: 'dora' }).getByText('End', { exact: true }).click();
        await ada.page.locator('[data-pending] li', { hasText: 'dora' }).waitFor({ state: 'detached' });
        await there.page.click('#go');
        await there.page.waitForSelector('#told.trouble');
        return there;
      },
    ],
    [
      'founding',
      async () => {
        const { link, end } = await founding();
        const there = await opened(stage, link);
        return { page: there.page, end: () => there.end().then(end) };
      },
    ],
    [
      'founded',
      async () => {
        const { link, end } = await founding();
        const there = await opened(stage, link);
        await touchedTwice(there.page);
        await there.page.waitForSelector('#told:has-text("the project is there")');
        return { page: there.page, end: () => there.end().then(end) };
      },
    ],
  ];
}
