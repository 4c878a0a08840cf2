import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSimulation } from '../agent/agent-place.ts';
import { open } from './screens.ts';
import { openStage, type Person, type Stage } from './stage.ts';

/** What was asked for before: the history with its filters, and the conversations. */

const TIME = 100_000;
/** More than one page of the history has. */
const MANY = 52;
let stage: Stage;
let ada: Person;

beforeAll(async () => {
  stage = await openStage();
  ada = await stage.person();
}, TIME);
afterAll(() => stage?.close());

const rows = () => ada.page.locator('.list li');
const row = (words: string) => ada.page.waitForSelector(`.list li:has-text("${words}")`);

describe('the history', () => {
  it('is found by words and by where it stands, newest first, and further back a page at a time', {
    timeout: TIME,
  }, async () => {
    const { page } = ada;
    const refund = (goal: string) =>
      stage.propose({
        declared_goal: goal,
        effect: { kind: 'tool', tool: 'refund', arguments: { charge: goal, amount: 5, currency: 'eur' } },
      });
    const wrong = await refund('Refund order 1 by mistake');
    await refund('Refund order 2');
    const reason = 'It was paid once.';
    await stage.keyturn.intents.reject({ ...wrong, reason, signer: stage.ada });
    for (let i = 0; i < MANY; i += 1) await stage.propose({ declared_goal: `Greet customer ${i}` });
    await open(page, '/history');
    await row(`Greet customer ${MANY - 1}`);
    await expect.poll(() => rows().count()).toBe(50);
    expect(await rows().first().textContent()).toContain(`Greet customer ${MANY - 1}`);
    await page.click('text=Older');
    await expect.poll(() => rows().count()).toBe(MANY + 2);
    expect(await page.locator('text=Older').count()).toBe(0);

    await page.fill('#text', 'refund');
    await expect.poll(() => rows().count()).toBe(2);
    await page.selectOption('#status', 'rejected');
    await expect.poll(() => rows().count()).toBe(1);
    expect(await rows().first().textContent()).toContain('Refund order 1 by mistake');
    await page.fill('#text', 'nobody asked for this');
    await page.waitForSelector('text=Nothing fits.');
    await page.fill('#text', '');
    await expect.poll(() => rows().count()).toBe(1);
    await page.click('.list li a');
    await page.waitForSelector(`.story li:has-text("${reason}")`);

    const going = await stage.propose({ effect: { kind: 'tool', tool: 'wait', arguments: { seconds: 60 } } });
    await stage.keyturn.intents.turn({ ...going, signer: stage.ada });
    await open(page, '/history');
    await page.selectOption('#status', 'running');
    await row('Run wait');
    expect(await rows().count()).toBe(1);
    await page.selectOption('#status', 'IN DOUBT');
    await page.waitForSelector('text=Nothing fits.');
  });

  it('takes in what comes while it is looked at, as far as it fits', { timeout: TIME }, async () => {
    const { page } = ada;
    await open(page, '/history');
    await page.selectOption('#status', 'waiting');
    await page.fill('#text', 'lighthouse');
    await page.waitForSelector('text=Nothing fits.');
    await stage.propose({ declared_goal: 'Greet the harbour' });
    const { intent_id, hash } = await stage.propose({ declared_goal: 'Greet the lighthouse' });
    await row('Greet the lighthouse');
    expect(await rows().count()).toBe(1);
    await stage.keyturn.intents.reject({ intent_id, hash, reason: 'It is empty.', signer: stage.ada });
    await page.waitForSelector('text=Nothing fits.');
  });
});

describe('a conversation in the console', () => {
  it('shows what was said, how it was read, and what came of it', { timeout: TIME }, async () => {
    const { page } = ada;
    const { keyturn, root, ada: signer } = stage;
    const id = 'word.say';
    writeSimulation(root, {
      id,
      version: 1,
      family: 'words',
      risk: 'LOW',
      impactful: false,
      side_effecting: true,
      irreversible: false,
      access_action: id,
      summary: { en: 'Say a kind word' },
      phrases: { en: ['say a kind word'] },
      effect: { tool: 'say', arguments: { word: 'kind' } },
    });
    await keyturn.simulations.register({ id, reason: 'Words.', signer });
    await keyturn.simulations.activate({ id, reason: 'Words.', signer });
    await open(page, '/conversations');
    await page.waitForSelector('text=No conversations yet.');
    const hostile = 'say a kind word <img src=x onerror=alert(1)>';
    const asked = await keyturn.conversations.ask({ user_id: 'ada', utterance: hostile });
    const { correlation_id } = asked;
    await row('say a kind word <img');
    expect(await rows().first().textContent()).toMatch(/waiting|answer|confirm/i);
    await page.click('.list li a');
    await page.waitForSelector(`.plain li:has-text("${hostile}")`);
    expect(await page.locator('.page img').count()).toBe(0);
    if (asked.kind === 'CLARIFY')
      await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: 'yes' });
    const [plan] = (await keyturn.conversations.status({ correlation_id })).plans;
    const confirm = { correlation_id, user_id: 'ada', plan_id: plan!.plan_id };
    await keyturn.conversations.confirm({ ...confirm, text: 'perhaps' });
    await page.waitForSelector('.plain li:has-text("perhaps") >> text=read as ambiguous');
    await keyturn.conversations.confirm({ ...confirm, text: 'yes' });
    await page.waitForSelector('.plain li:has-text("yes") >> text=read as yes');
    await page.waitForSelector('.list li:has-text("word.say"):has-text("succeeded")');
    await page.click('.list li a');
    await page.waitForSelector('.story li');
  });
});
