import { describe, expect, it } from 'vitest';
import { open } from './screens.ts';
import { newAuthenticator, type Person, type Stage, stageOfFile } from './stage.ts';

/** A passkey of another person: a link, two touches in their browser, and a signature in this one. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
});

/** Asks for a link, and touches twice in a browser that knows nothing else of this service. */
async function invited(name: string): Promise<void> {
  const { page } = ada;
  await open(page, '/people');
  await page.fill('#invited', name);
  await page.click('text=Make a link');
  const code = page.locator(`[role="status"]:has-text("Give this link to ${name}") .invite-link`);
  const link = (await code.textContent())!;
  const context = await stage.browser.newContext();
  const theirs = await context.newPage();
  const cdp = await context.newCDPSession(theirs);
  await cdp.send('WebAuthn.enable');
  await newAuthenticator(cdp);
  await theirs.goto(link);
  await theirs.waitForSelector('#go:enabled');
  await theirs.click('#go');
  await theirs.click('text=Sign with the passkey');
  await page.waitForSelector(`text=Sign for ${name}…`);
  await context.close();
}

const isKnown = async (name: string) =>
  (await stage.keyturn.people.list()).principals.some((one) => one.name === name);

describe('the passkey of somebody else', () => {
  it('counts for nothing until it was signed for here, and then for its owner', {
    timeout: TIME,
  }, async () => {
    await invited('bob');
    expect(await isKnown('bob')).toBe(false);
    await ada.page.click('text=Sign for bob…');
    await ada.page.waitForSelector('h2:has-text("bob")');
    const bob = (await stage.keyturn.people.list()).principals.find(({ name }) => name === 'bob')!;
    expect([bob.kind, bob.credentials.map(({ kind }) => kind)]).toEqual(['human', ['passkey']]);
    expect(await ada.page.locator('[data-pending]').count()).toBe(0);
  });

  it('is not signed for where the service shows another key than it wants signed', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    await page.route('**/v1/enrolments/list', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { enrolments: { passkey: { label: string } | null }[] };
      for (const { passkey } of body.enrolments) if (passkey) passkey.label = 'another';
      await route.fulfill({ response: answer, json: body });
    });
    await invited('mallory');
    await page.click('text=Sign for mallory…');
    await page.waitForSelector('[role="alert"] >> text=ACT_OTHER');
    await page.unrouteAll({ behavior: 'wait' });
    expect(await isKnown('mallory')).toBe(false);
    await page.click('text=End');
    await page.waitForSelector('[data-pending]', { state: 'detached' });
  });
});
