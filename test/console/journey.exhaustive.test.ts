import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditProof } from '../../src/audit/index.ts';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** What people do in the console, in a real Chromium with authenticators in software. */

const TIME = 100_000;
const DOCK = (state: string) => `.dock[data-state^="${state}"]`;
/** A press that comes too soon after the dock changed is ignored. */
const STEADY = '.dock[data-steady="true"]';
const press = async ({ page }: Person, text: string) => page.click(`${STEADY} button:has-text("${text}")`);
const plan = (target: string, content: string) => ({
  kind: 'plan',
  task_id: 'note',
  config: null,
  plan: {
    plan_id: 'add-a-note',
    action_plan: [
      {
        action_id: 'only',
        action_type: 'FILE_MODIFY',
        target,
        operation: { type: 'line_insert', line_number: 1, content },
      },
    ],
  },
});

let stage: Stage;
let ada: Person;

const wordOf = async (intent_id: string) => (await stage.keyturn.intents.get({ intent_id })).status_word;
const ended = (intent_id: string) => stage.keyturn.intents.waitFor({ intent_id });

async function decide({ page }: Person, intent_id: string): Promise<void> {
  await page.evaluate((id) => {
    location.hash = `/decide/${id}`;
  }, intent_id);
  await page.waitForSelector(`[data-intent="${intent_id}"]`);
}

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
  stage.write('notes.md', '# Notes\n\nNothing yet.\n');
});

describe('a person with a passkey', () => {
  it('approves with one touch, it runs once, and the proof verifies offline', { timeout: TIME }, async () => {
    const { intent_id } = await stage.propose();
    await decide(ada, intent_id);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    expect((await ended(intent_id)).status_word).toBe('succeeded');
    const { runs, approvals } = await stage.keyturn.intents.get({ intent_id });
    expect([runs.length, approvals[0]!.assurance]).toEqual([1, 'device_bound_passkey']);
    await ada.page.click('text=Open story');
    await ada.page.click('text=Verify here');
    await ada.page.waitForSelector('text=Proven in this browser');
    const saving = ada.page.waitForEvent('download');
    await ada.page.click('text=Export proof');
    const bytes = readFileSync(await (await saving).path());
    const { key } = await stage.keyturn.ledger.head();
    expect(auditProof(bytes, { key }).entries.length).toBeGreaterThan(5);
  });

  it('enrols a second one in the page, which signs from then on', { timeout: TIME }, async () => {
    const { page } = ada;
    await page.evaluate(() => {
      location.hash = '/people';
    });
    await page.fill('#label', 'phone');
    await page.click('text=Enrol it…');
    await page.waitForSelector('text=Enrolled. It can sign from now on.');
    const { credentials } = await stage.keyturn.people.credentials({ name: 'ada' });
    expect(credentials.map(({ label }) => label)).toEqual(['key file', 'laptop', 'phone']);
    await page.selectOption('.choose select', { label: 'ada, “phone”' });
    const { intent_id } = await stage.propose();
    await decide(ada, intent_id);
    await reached(ada, 'ready');
    await press(ada, 'Approve and run once');
    await reached(ada, 'done');
    expect((await ended(intent_id)).status_word).toBe('succeeded');
    await page.selectOption('.choose select', { label: 'ada, “laptop”' });
  });

  it('rejects with a reason that the proposer reads; an empty one is not possible', {
    timeout: TIME,
  }, async () => {
    const { intent_id } = await stage.propose();
    await decide(ada, intent_id);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('r');
    await ada.page.keyboard.press('Enter');
    expect(await ada.page.isVisible(DOCK('reason'))).toBe(true);
    await ada.page.keyboard.type('The wrong customer.');
    await ada.page.keyboard.press('Enter');
    await reached(ada, 'done');
    const { status_word, reason } = await stage.keyturn.intents.result({ intent_id });
    expect([status_word, reason]).toEqual(['rejected', 'The wrong customer.']);
  });

  it('decides on several with one touch, and each entry names the list of digests', {
    timeout: TIME,
  }, async () => {
    const asked = [await stage.propose(), await stage.propose(), await stage.propose()];
    for (const { intent_id } of asked) {
      await decide(ada, intent_id);
      await ada.page.keyboard.press('x');
    }
    await ada.page.click('text=Decide on them together');
    await press(ada, 'Approve 3, run each once');
    await reached(ada, 'done');
    for (const { intent_id } of asked) expect((await ended(intent_id)).status_word).toBe('succeeded');
    const { entries } = await stage.keyturn.ledger.entries({ kind: 'order.given', limit: 3 });
    const touches = entries.map(({ body }) => (body.signature as { touch: readonly string[] }).touch);
    expect(touches[0]).toHaveLength(3);
    expect(new Set(touches.map((one) => one.join()))).toHaveLength(1);
    await press(ada, 'Back to the queue');
  });

  it('changes a file by a plan, previews its undo, and undoes it', { timeout: TIME }, async () => {
    const before = readFileSync(join(stage.root, 'notes.md'), 'utf8');
    const { intent_id } = await stage.propose({
      issuer: 'docs-bot',
      effect: plan('notes.md', 'bot was here.'),
    });
    await decide(ada, intent_id);
    await ada.page.waitForSelector('.ln.add:has-text("bot was here.")');
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await ended(intent_id);
    expect(readFileSync(join(stage.root, 'notes.md'), 'utf8')).toBe(`bot was here.\n${before}`);
    await ada.page.click('text=Open story');
    await ada.page.waitForSelector('text=Preview undo');
    await ada.page.keyboard.press('u');
    await ada.page.waitForSelector('text=Restored');
    await ada.page.click('text=Undo this run…');
    await ada.page.keyboard.type('It was a trial.');
    await ada.page.keyboard.press('Enter');
    await ada.page.waitForSelector('text=Nothing is left to undo.');
    expect(readFileSync(join(stage.root, 'notes.md'), 'utf8')).toBe(before);
  });

  it('freezes everything with one key and a reason, and unfreezes it', { timeout: TIME }, async () => {
    const { page } = ada;
    await page.keyboard.press('f');
    await page.keyboard.type('Something is odd.');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Everything is frozen');
    expect((await stage.keyturn.system.get()).freezes).toHaveLength(1);
    const { intent_id } = await stage.propose();
    await page.keyboard.press('Escape');
    await decide(ada, intent_id);
    await page.waitForSelector('text=Approve, do not run yet');
    await page.evaluate(() => {
      location.hash = '/health';
    });
    await page.click('main .deed >> text=Unfreeze…');
    await page.keyboard.type('It was nothing.');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await stage.keyturn.system.get()).freezes.length).toBe(0);
    await decide(ada, intent_id);
    await reached(ada, 'ready');
  });
});

describe('two people in two browsers', () => {
  it('are needed where two must approve; the second yes runs it', { timeout: TIME }, async () => {
    await stage.human('grace');
    const grace = await stage.person();
    await stage.enrol(grace, 'grace');
    await grace.page.selectOption('.choose select', { label: 'grace, “laptop”' });
    stage.write('package.json', '{ "name": "harbor" }\n');
    const { intent_id } = await stage.propose({ effect: plan('package.json', ' ') });
    expect((await stage.keyturn.intents.get({ intent_id })).approvals_needed).toBe(2);
    await decide(ada, intent_id);
    await reached(ada, 'approve');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await decide(grace, intent_id);
    await reached(grace, 'ready');
    await grace.page.keyboard.press('a');
    await reached(grace, 'done');
    expect((await ended(intent_id)).status_word).toBe('succeeded');
    expect(await wordOf(intent_id)).toBe('succeeded');
  });
});
