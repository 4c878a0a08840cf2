import { describe, expect, it } from 'vitest';
import { freshSigner } from '../support/keys.ts';
import { open } from './screens.ts';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** What people do beside deciding: grants, taking back, trying again, undoing, watching. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;
const bot = freshSigner('keyed-bot');

stageOfFile(async (opened, person) => {
  [stage, ada] = [opened, person];
  await stage.keyturn.people.enrol({
    name: 'keyed-bot',
    principal: 'agent',
    public_key: bot.public_key,
    signer: stage.ada,
  });
});

const ended = (intent_id: string) => stage.keyturn.intents.waitFor({ intent_id });
/** The reason of an act, and its touch. */
async function give(reason: string): Promise<void> {
  await ada.page.keyboard.type(reason);
  await ada.page.keyboard.press('Enter');
}

describe('a grant from the console', () => {
  it('lets one tool run so often, with these arguments, for so long; the page makes its bounds itself', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    await open(page, '/grants');
    await page.selectOption('.grant select >> nth=1', 'tool:refund');
    await page.selectOption('[aria-label="Limit of amount"]', 'to');
    await page.fill('[aria-label="Value of amount"]', '500');
    await page.selectOption('[aria-label="Limit of currency"]', 'is');
    await page.fill('[aria-label="Value of currency"]', 'eur');
    await page.fill('.form input >> nth=0', '2');
    await page.click('text=Grant this…');
    await give('Small refunds today.');
    await page.waitForSelector('text=Granted.');
    const { delegations } = await stage.keyturn.agents.delegations();
    const [granted] = delegations;
    expect([granted!.delegate, granted!.actions, granted!.approves, granted!.grant!.uses]).toEqual([
      'keyed-bot',
      ['tool:refund'],
      true,
      2,
    ]);
  });

  it('is refused by the page where the service would have other bounds signed', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    await page.route('**/v1/agents/delegate', async (route) => {
      const asked = route.request().postDataJSON() as { request: { grant: { uses: number } } };
      asked.request.grant.uses = 100;
      await route.continue({ postData: JSON.stringify(asked) });
    });
    await open(page, '/health');
    await open(page, '/grants');
    await page.click('text=Grant this…');
    await give('Only twenty.');
    await page.waitForSelector('text=something else than this page shows: grant.');
    await page.unrouteAll({ behavior: 'wait' });
    expect((await stage.keyturn.agents.delegations()).delegations).toHaveLength(1);
  });
});

describe('who proposed something', () => {
  it('takes it back in the console, signed', { timeout: TIME }, async () => {
    const { intent_id } = await stage.keyturn.intents.propose({
      declared_goal: 'My own wish.',
      effect: { kind: 'tool', tool: 'say', arguments: { word: 'mine' } },
      signer: stage.ada,
    });
    await open(ada.page, `/decide/${intent_id}`);
    await ada.page.waitForSelector('.dock >> text=Withdraw…');
    await ada.page.keyboard.press('w');
    await give('Not needed any more.');
    await reached(ada, 'done');
    const { status_word, reason } = await stage.keyturn.intents.result({ intent_id });
    expect([status_word, reason]).toEqual(['withdrawn', 'Not needed any more.']);
  });
});

describe('after a run', () => {
  it('a failed one gets one more attempt by one signature, and runs by another', {
    timeout: TIME,
  }, async () => {
    const { intent_id } = await stage.propose({ effect: { kind: 'tool', tool: 'fail', arguments: {} } });
    await open(ada.page, `/decide/${intent_id}`);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    expect((await ended(intent_id)).status_word).toBe('failed');
    await open(ada.page, `/story/${intent_id}`);
    await ada.page.click('text=Allow another attempt…');
    await give('The network is back.');
    await ada.page.waitForSelector('.dock >> text=Run once');
    await ada.page.waitForSelector('.dock[data-steady="true"]');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await expect
      .poll(async () => (await stage.keyturn.intents.get({ intent_id })).runs.length, { timeout: 20_000 })
      .toBe(2);
    await ended(intent_id);
  });

  it('the declared undo of a tool is proposed in the name of who asks, and decided on like any other', {
    timeout: TIME,
  }, async () => {
    const { intent_id } = await stage.propose({
      effect: { kind: 'tool', tool: 'switch-on', arguments: { lamp: 'hall' } },
    });
    await open(ada.page, `/decide/${intent_id}`);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    expect((await ended(intent_id)).status_word).toBe('succeeded');
    await open(ada.page, `/story/${intent_id}`);
    await ada.page.waitForSelector('text=switch-off undoes switch-on.');
    await ada.page.keyboard.press('u');
    await give('Nobody is there.');
    await ada.page.waitForSelector('h1:has-text("ada wants to run switch-off on hall")');
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    const { intents } = await stage.keyturn.intents.list({ tool: 'switch-off' });
    expect((await ended(intents[0]!.intent_id)).status_word).toBe('succeeded');
    expect([intents[0]!.proposer, intents[0]!.proposer_verified]).toEqual(['ada', true]);
  });
});

describe('while something runs', () => {
  it('its output is drawn as it comes, without what steers a terminal, and it can be stopped', {
    timeout: TIME,
  }, async () => {
    const { intent_id } = await stage.propose({ effect: { kind: 'tool', tool: 'count', arguments: {} } });
    await open(ada.page, `/decide/${intent_id}`);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await open(ada.page, '/running');
    await ada.page.waitForSelector('.live-run pre:has-text("line 3")');
    expect(await ada.page.textContent('.live-run pre')).toContain('line 1');
    expect(await ada.page.textContent('.live-run pre')).toContain('\\x1b[31mred');
    await ada.page.keyboard.press('s');
    await give('Enough.');
    await ada.page.waitForSelector('text=It is being stopped.');
    expect(['partial', 'failed', 'IN DOUBT', 'stopped']).toContain((await ended(intent_id)).status_word);
  });
});

describe('what was granted', () => {
  it('runs at once within its limits; what is outside of them waits for a human', {
    timeout: TIME,
  }, async () => {
    // The caller runs it: no other executor is there to be first.
    await stage.stopService();
    const ask = (amount: number, currency: string) =>
      stage.keyturn.mcp.call({
        signer: bot,
        declared_goal: 'A refund.',
        effect: { kind: 'tool', tool: 'refund', arguments: { charge: `c${amount}`, amount, currency } },
      });
    expect((await ask(400, 'eur')).how).toBe('granted');
    const above = await ask(501, 'eur');
    expect([above.how, above.refused]).toEqual(['proposed', 'GRANT_OUTSIDE']);
    expect((await ask(300, 'usd')).refused).toBe('GRANT_OUTSIDE');
  });
});
