import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** What the dock says when something is in the way, and that nothing hostile looks like the console. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
  stage.write('notes.md', '# Notes\n');
});

const open = ({ page }: { readonly page: Page }, route: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, route);

async function looking(person = ada, over = {}): Promise<string> {
  const { intent_id } = await stage.propose(over);
  await open(person, `/decide/${intent_id}`);
  return intent_id;
}

const approvals = async (intent_id: string) =>
  (await stage.keyturn.intents.get({ intent_id })).approvals.length;
const presence = (enabled: boolean) =>
  ada.cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: ada.authenticator, enabled });

describe('the dock', () => {
  it('goes back when the gesture is cancelled, and nothing was signed', { timeout: TIME }, async () => {
    const intent_id = await looking();
    await reached(ada, 'ready');
    await presence(false);
    await ada.page.keyboard.press('a');
    await reached(ada, 'armed');
    await ada.page.keyboard.press('Escape');
    await reached(ada, 'ready');
    await presence(true);
    expect(await approvals(intent_id)).toBe(0);
  });

  it('says that it was withdrawn while it was read', { timeout: TIME }, async () => {
    const { intent_id, receipt } = await stage.keyturn.intents.propose({
      issuer: 'billing-agent',
      declared_goal: 'Never mind.',
      effect: { kind: 'tool', tool: 'say', arguments: { word: 'x' } },
    });
    await open(ada, `/decide/${intent_id}`);
    await ada.page.waitForSelector('.dock');
    await stage.keyturn.intents.withdraw({ intent_id, receipt, reason: 'A mistake.' });
    await reached(ada, 'withdrawn');
    expect(await ada.page.textContent('.dock')).toMatch(/billing-agent withdrew this/);
  });

  it('lets one of two tabs decide, and tells the other', { timeout: TIME }, async () => {
    const other = await stage.person();
    const intent_id = await looking();
    await open(other, `/decide/${intent_id}`);
    await reached(ada, 'ready');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await stage.keyturn.intents.waitFor({ intent_id });
    await reached(other, 'succeeded');
    expect((await stage.keyturn.intents.get({ intent_id })).runs).toHaveLength(1);
    await other.context.close();
  });

  it('asks to open a value that is cut before it offers to approve', { timeout: TIME }, async () => {
    await looking(ada, { effect: { kind: 'tool', tool: 'say', arguments: { word: 'w'.repeat(20_000) } } });
    await reached(ada, 'cut');
    await ada.page.keyboard.press('a');
    expect(await ada.page.isVisible('.dock[data-state="cut"]')).toBe(true);
    await ada.page.keyboard.press('o');
    await reached(ada, 'ready');
  });

  it('says that a plan is not what was drawn once its file changes and something happens', {
    timeout: TIME,
  }, async () => {
    const effect = {
      kind: 'plan',
      task_id: 'n',
      config: null,
      plan: {
        plan_id: 'n',
        action_plan: [
          {
            action_id: 'a',
            action_type: 'FILE_MODIFY',
            target: 'notes.md',
            operation: { type: 'line_insert', line_number: 1, content: 'x' },
          },
        ],
      },
    };
    const intent_id = await looking(ada, { effect });
    await reached(ada, 'ready');
    stage.write('notes.md', '# Notes of somebody else\n');
    await ada.page.keyboard.press('a');
    await reached(ada, 'failed');
    expect(await approvals(intent_id)).toBe(0);
    expect(readFileSync(join(stage.root, 'notes.md'), 'utf8')).toBe('# Notes of somebody else\n');
  });

  it('shows the command of the terminal where the person has no passkey', { timeout: TIME }, async () => {
    const away = await stage.person();
    await away.page.route('**/v1/people/list', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { principals: { credentials: { kind: string }[] }[] };
      for (const one of body.principals)
        one.credentials = one.credentials.filter(({ kind }) => kind === 'key');
      await route.fulfill({ response: answer, json: body });
    });
    await away.page.reload();
    const intent_id = await looking(away);
    await reached(away, 'no-passkey');
    expect(await away.page.textContent('.dock')).toContain(`keyturn turn ${intent_id.slice(0, 8)}`);
    await away.page.unrouteAll({ behavior: 'wait' });
    await away.context.close();
  });
});

describe('a service that lies', () => {
  it('cannot have another act signed than the page shows', { timeout: TIME }, async () => {
    const other = await stage.propose();
    const intent_id = await looking();
    await reached(ada, 'ready');
    await ada.page.route('**/v1/intents/turn', async (route) => {
      const asked = route.request().postDataJSON() as { request: { intent_id: string; hash: string } };
      const { shown: _, ...request } = { ...asked.request, shown: null, ...other };
      await route.continue({ postData: JSON.stringify({ ...asked, request }) });
    });
    await ada.page.keyboard.press('a');
    await reached(ada, 'failed');
    expect(await ada.page.textContent('.dock')).toContain('something else than this page shows');
    await ada.page.unrouteAll({ behavior: 'wait' });
    expect([await approvals(intent_id), await approvals(other.intent_id)]).toEqual([0, 0]);
  });

  it('cannot show another effect than the one that the hash covers', { timeout: TIME }, async () => {
    await ada.page.route('**/v1/intents/review', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { effect: { argv: string[] } };
      body.effect.argv[2] = 'something harmless';
      await route.fulfill({ response: answer, json: body });
    });
    await looking();
    await reached(ada, 'dishonest');
    expect(await ada.page.locator('.dock button').count()).toBe(0);
    await ada.page.unrouteAll({ behavior: 'wait' });
  });
});

describe('hostile content', () => {
  const HOSTILE =
    '<img src=x onerror="document.title=1"><svg/onload=alert(1)>\u202etxt.exe\u200b\u2066 </blockquote><button>Approve and run once</button>';

  it('is text in every field, boxed, without hidden characters, and makes no element', {
    timeout: TIME,
  }, async () => {
    const intent_id = await looking(ada, {
      declared_goal: HOSTILE,
      effect: {
        kind: 'tool',
        tool: 'say',
        arguments: { word: HOSTILE.replace(/[\u202e\u200b\u2066]/g, '') },
      },
    });
    await reached(ada, 'ready');
    const found = await ada.page.evaluate(() => ({
      text: document.body.textContent,
      images: document.querySelectorAll('main img, main svg[onload]').length,
      approve: [...document.querySelectorAll('button')].filter((one) =>
        one.textContent?.startsWith('Approve and run once'),
      ).length,
      boxed: document.querySelector('.words blockquote')?.textContent ?? '',
      title: document.querySelector('h1')?.textContent ?? '',
    }));
    expect(found.text).not.toMatch(/[\u202e\u200b\u2066]/);
    expect([found.images, found.approve]).toEqual([0, 1]);
    expect(found.boxed).toContain('\\u202etxt.exe\\u200b\\u2066');
    expect(found.title).toMatch(/^billing-agent wants to run say on /);
    await open(ada, `/story/${intent_id}`);
    await ada.page.waitForSelector('.story .words');
    expect(await ada.page.evaluate(() => document.querySelectorAll('main img').length)).toBe(0);
  });

  it('does not make the page wider than the screen', { timeout: TIME }, async () => {
    const phone = await stage.person({ viewport: { width: 390, height: 844 } });
    await looking(phone, {
      declared_goal: `מטרה ${'W'.repeat(3_000)}`,
      effect: { kind: 'tool', tool: 'say', arguments: { word: 'W'.repeat(10_000) } },
    });
    await reached(phone, 'cut');
    await phone.page.keyboard.press('o');
    await reached(phone, 'ready');
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await phone.context.close();
  });
});

describe('a connection that breaks off', () => {
  it('turns signing off, and a service that restarts during the gesture leaves nothing signed twice', {
    timeout: TIME,
  }, async () => {
    const intent_id = await looking();
    await reached(ada, 'ready');
    // The proof is on its way when the service goes: it comes to another process, which knows no session.
    await ada.page.route('**/v1/intents/turn', async (route) => {
      if (route.request().postData()?.includes('"proofs"')) await stage.restart();
      await route.continue();
    });
    await ada.page.keyboard.press('a');
    await reached(ada, 'failed');
    expect(await approvals(intent_id)).toBe(0);
    await ada.page.keyboard.press('Escape');
    // Sessions end with the service: only a new link helps.
    await reached(ada, 'over');
    await ada.page.unrouteAll({ behavior: 'wait' });
  });
});
