import { describe, expect, it } from 'vitest';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { open } from './screens.ts';
import { type Person, type Stage, stageOfFile } from './stage.ts';

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile(async (opened, person) => {
  [stage, ada] = [opened, person];
});

const banner = (words: string) =>
  ada.page.waitForSelector(
    `.banner:has-text("Shadow mode: calls pass without an approval.") >> text=${words}`,
  );

describe('shadow mode in the console', () => {
  it('is said on every screen as soon as a human accepted it, with servers and tools; Health has a row', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    await open(page, '/health');
    await page.waitForSelector('.steps li:has-text("Shadow mode"):has-text("good")');
    expect(await page.$('.banner')).toBeNull();
    const more = { sandbox: 'none', run_as: 'root', mode: 'shadow' };
    writeServers(stage.root, { odd: { script: SERVERS.odd, more } }, stage.root);
    await accepted(stage.keyturn, 'odd', stage.ada);
    // The page was open meanwhile.
    await banner('1 tool of odd.');
    const row = await page.waitForSelector('.steps li:has-text("Shadow mode"):has-text("look")');
    expect(await row.textContent()).toContain(
      'Calls pass without an approval, and are recorded. 1 tool of odd.',
    );
    for (const route of ['/', '/history', '/grants', '/people', '/ledger']) {
      await open(page, route);
      await banner('1 tool of odd.');
    }
    await page.click('.banner >> text=Which…');
    await page.waitForSelector('.steps li:has-text("Shadow mode"):has-text("mcp accept SERVER")');
  });

  it('is gone when a human took the server back', { timeout: TIME }, async () => {
    const { page } = ada;
    await stage.keyturn.mcp.remove({ server: 'odd', reason: 'enough', signer: stage.ada });
    await page.waitForSelector('.banner', { state: 'detached' });
    await page.waitForSelector('.steps li:has-text("Shadow mode"):has-text("good")');
  });
});
