import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { can_name } from '../journey/executing-process.ts';
import { until } from '../support/processes.ts';
import { isAlive, killedRun } from './pages.ts';
import { open } from './screens.ts';
import { openStage, type Person, type Stage } from './stage.ts';

/** What only a human can say, with a passkey: how a run in doubt ended, and which rules hold. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

beforeAll(async () => {
  stage = await openStage();
}, TIME);
afterAll(() => stage?.close());

async function give(reason: string): Promise<void> {
  await ada.page.keyboard.type(reason);
  await ada.page.keyboard.press('Enter');
}

describe('a run in doubt', () => {
  it('is settled by who looked, with a passkey; the ledger has the word and the reason', {
    timeout: TIME,
  }, async () => {
    // Another process is the executor, and is killed.
    await stage.stopService();
    const happened = await killedRun(stage);
    const not = await killedRun(stage);
    const there = can_name ? [await killedRun(stage, 'elsewhere')] : [];
    await stage.restart();
    ada = await stage.person();
    await stage.enrol(ada, 'ada');
    const { page } = ada;
    for (const [intent_id, button, word] of [
      [happened, 'It happened…', 'happened'],
      [not, 'It did not happen…', 'failed'],
      ...there.map((one) => [one, 'It did not happen…', 'failed'] as const),
    ] as const) {
      // The tool may outlive its executor for a while. Another host is silent for a while before it is taken for gone.
      const status = async () => (await stage.keyturn.intents.get({ intent_id })).status_word;
      await until(async () => !(await isAlive(stage, intent_id)) && (await status()) === 'IN DOUBT');
      await open(page, `/story/${intent_id}`);
      await page.waitForSelector('text=It is not known whether this happened.');
      const on_other_host = there.includes(intent_id) ? 1 : 0;
      expect(await page.locator('.says:has-text("It ran on elsewhere")').count()).toBe(on_other_host);
      await page.click(`text=${button}`);
      await give('The courier told me.');
      await expect.poll(status, { timeout: 20_000 }).toBe(word);
      await page.waitForSelector('.story li:has-text("The courier told me.")');
      expect(await page.locator('text=It is not known whether').count()).toBe(0);
    }
  });
});

describe('other rules', () => {
  it('are compared with those that hold, and hold from the touch on', { timeout: TIME }, async () => {
    const { page } = ada;
    const { keyturn } = stage;
    const before = (await keyturn.policies.files()).active;
    stage.write(
      'policies/never-wait.cedar',
      '@id("never-wait")\n@version("1")\n@scope("capability")\n@rationale("Nobody waits here.")\nforbid (principal, action == Keyturn::Action::"grant", resource)\nwhen { resource.categories.contains("waiting") };\n',
    );
    await open(page, '/policies');
    await page.waitForSelector('text=Added: never-wait');
    await page.waitForSelector('text=Which recent decisions would change');
    await page.waitForSelector('.dock >> text=Activate these policies…');
    await page.click('text=Activate these policies…');
    await give('Waiting is over.');
    await expect.poll(async () => (await keyturn.policies.files()).same, { timeout: 20_000 }).toBe(true);
    expect((await keyturn.policies.files()).active).not.toBe(before);
    await page.waitForSelector('text=The files in policies/ are what decides.');
    const { entries } = await keyturn.ledger.entries({ subject: 'system', limit: 5 });
    const activated = entries.find(({ kind }) => kind === 'policy.activated');
    expect(activated?.words).toContain('ada');
  });
});
