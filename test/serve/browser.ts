import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** A tab of Debian's Chromium with an authenticator that a person has touched. */
export async function tab(): Promise<Page> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  });
  onTestFinished(() => browser.close());
  const context: BrowserContext = await browser.newContext();
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return page;
}

/** Waits until the page says this. */
export const told = (page: Page, words: string): Promise<void> =>
  page.locator('#told', { hasText: words }).waitFor();

/** The page of an enrolment: made with one touch, signed with the other. */
export async function touchTwice(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await told(page, 'touch the passkey twice');
  await page.click('#go');
  await told(page, 'Touch it once more');
  await page.click('#go');
}
