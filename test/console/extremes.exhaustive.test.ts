import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { longestTurn } from '../../bench/loop.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { open } from './screens.ts';
import { drawnAnew, type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** Proposals that are too large, too many, or written to look like something else; and a connection that goes away. */

const TIME = 100_000;
/** Without the wait for a core. What the tests themselves do is counted, too. */
const LONGEST_TURN_MS = 500;
const HOSTILE = '<img src=x onerror="document.title=1"><svg/onload=alert(1)></script>';
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
});

const action = (i: number, target: string, content: string) => ({
  action_id: `step-${i}`,
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content },
});
const planOf = (plan_id: string, action_plan: readonly object[]) => ({
  issuer: 'docs-bot',
  effect: { kind: 'plan', task_id: plan_id, config: null, plan: { plan_id, action_plan } },
});

async function looking(over: object, state = 'ready'): Promise<string> {
  const { intent_id } = await stage.propose(over as Record<string, unknown>);
  await open(ada.page, `/decide/${intent_id}`);
  await ada.page.waitForSelector(`[data-intent="${intent_id}"]`, { timeout: 60_000 });
  await reached(ada, state);
  return intent_id;
}

/** Nothing that an agent or another human wrote became an element or ran. */
async function expectOnlyText(): Promise<void> {
  const found = await ada.page.evaluate(() => ({
    elements: document.querySelectorAll('main img, main script, main svg[onload]').length,
    title: document.title,
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  expect(found.elements).toBe(0);
  expect(found.title).toMatch(/Keyturn$/);
  expect(found.wide).toBeLessThanOrEqual(0);
}

describe('a proposal that is large', () => {
  it('of 100 actions draws each of them, and says how many were not seen', { timeout: TIME }, async () => {
    const actions = Array.from({ length: 100 }, (_, i) => action(i, `many/file-${i}.txt`, `content ${i}\n`));
    const intent_id = await looking(planOf('hundred', actions));
    expect(await ada.page.locator('.file').count()).toBe(100);
    expect(await ada.page.textContent('.dock')).toMatch(/Not seen yet: .* and \d+ more/);
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    expect((await stage.keyturn.intents.waitFor({ intent_id })).status_word).toBe('succeeded');
  });

  it('of 50 MB of diff is drawn where it is looked at, stays usable, and holds up nobody else', {
    timeout: 200_000,
  }, async () => {
    const text = (i: number) => `${`${i} `.padEnd(120, 'x')}\n`.repeat(Math.floor(5_000_000 / 121));
    const actions = Array.from({ length: 10 }, (_, i) => {
      stage.write(`source-${i}.txt`, text(i));
      return {
        action_id: `copy-${i}`,
        action_type: 'FILE_CREATE',
        target: `large/copy-${i}.txt`,
        operation: { type: 'create', content_file: `source-${i}.txt` },
      };
    });
    const { intent_id } = await stage.propose(planOf('large', actions));
    const { page, cdp } = ada;
    const turns = longestTurn();
    await open(page, `/decide/${intent_id}`);
    await page.waitForSelector('.dock[data-state="ready"]', { timeout: 120_000 });
    expect(await page.locator('.file').count()).toBe(10);
    expect(await page.textContent('.facts')).toContain(
      `+${(10 * Math.floor(5_000_000 / 121)).toLocaleString('en')}`,
    );
    // To the middle of the last file, whose lines came from nowhere yet.
    await page.evaluate(() => {
      const last = [...document.querySelectorAll('.file')].at(-1)!;
      scrollTo(0, last.getBoundingClientRect().top + scrollY + last.clientHeight / 2);
    });
    await page.waitForFunction(() =>
      [...[...document.querySelectorAll('.file')].at(-1)!.querySelectorAll('.ln .tx')].some((line) => {
        const { top, bottom } = line.getBoundingClientRect();
        return line.textContent!.startsWith('9 xxx') && bottom > 0 && top < innerHeight;
      }),
    );
    // The service runs in this process.
    expect(turns.end()).toBeLessThan(LONGEST_TURN_MS);
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(20_000);
    await cdp.send('HeapProfiler.collectGarbage');
    const { usedSize } = await cdp.send('Runtime.getHeapUsage');
    expect(usedSize).toBeLessThan(50 * 1024 * 1024);
    await page.keyboard.press('r');
    await page.keyboard.type('Too much to read.');
    await page.keyboard.press('Enter');
    await reached(ada, 'done');
  });

  it('with words of 10,000 characters and a goal that is written from right to left stays within the screen', {
    timeout: TIME,
  }, async () => {
    await looking(
      {
        declared_goal: `${'ש'.repeat(2_000)} \u202e${'W'.repeat(2_000)}`,
        effect: { kind: 'tool', tool: 'say', arguments: { word: 'W'.repeat(10_000) } },
      },
      'cut',
    );
    await expectOnlyText();
    await ada.page.keyboard.press('o');
    await reached(ada, 'ready');
    await expectOnlyText();
    expect(await ada.page.textContent('.words')).not.toContain('\u202e');
  });
});

describe('what was written to be something else', () => {
  it('is a file name in a diff: it is shown as its characters, and makes no element', {
    timeout: TIME,
  }, async () => {
    // Markup in a path is refused before a human sees it; what is left are names that read like ours.
    const markup = planOf('markup', [action(0, 'a/<img src=x onerror=alert(1)>.md', 'x')]);
    await expect(stage.propose(markup)).rejects.toThrow('is not accepted');
    const name = 'docs/Approve and run once, undo exact.md';
    await looking(planOf('names', [action(0, name, `${HOSTILE}\n\u202etxt.exe\u2066\n`)]));
    expect(await ada.page.textContent('.file header')).toContain('Approve and run once, undo exact.md');
    expect(await ada.page.locator('main button:has-text("Approve and run once")').count()).toBe(1);
    const diff = (await ada.page.textContent('.file'))!;
    expect(diff).toContain('<svg/onload=alert(1)>');
    expect(diff).not.toMatch(/[\u202e\u2066]/);
    await expectOnlyText();
  });

  it('is in every field that somebody else writes: goal, arguments, plan, reasons, output, labels', {
    timeout: TIME,
  }, async () => {
    const asked = { issuer: 'docs-bot', declared_goal: HOSTILE };
    await looking({ ...asked, ...planOf('p', [action(0, 'h.svg', HOSTILE)]) });
    await expectOnlyText();
    const intent_id = await looking({
      ...asked,
      effect: { kind: 'tool', tool: 'say', arguments: { word: HOSTILE } },
    });
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    await stage.keyturn.intents.waitFor({ intent_id });
    const { intent_id: no, hash } = await stage.propose(asked);
    await stage.keyturn.intents.reject({ intent_id: no, hash, reason: HOSTILE, signer: stage.ada });
    await stage.keyturn.system.freeze({ scope: 'tool', name: 'wait', reason: HOSTILE, signer: stage.ada });
    for (const [route, drawn] of [
      [`/story/${intent_id}`, '.printed'],
      [`/story/${no}`, '.story'],
      [`/decide/${no}`, '.dock[data-state="rejected"]'],
      ['/history', '.list li'],
      ['/running', '.list li'],
      ['/health', '.banner'],
      ['/ledger', '.entries li'],
    ] as const) {
      await open(ada.page, route);
      await ada.page.waitForSelector(drawn);
      await expectOnlyText();
    }
  });

  it('is a call of an MCP server: arguments, the definition in its words, how it starts; one touch sends it', {
    timeout: TIME,
  }, async () => {
    mkdirSync(join(stage.root, 'files'));
    writeServers(
      stage.root,
      { odd: { script: SERVERS.filesystem, args: ['{files}'] } },
      join(stage.root, 'files'),
    );
    await accepted(stage.keyturn, 'odd', stage.ada);
    const { tools } = await stage.keyturn.mcp.tools();
    const path = join(stage.root, 'files', 'note.txt');
    expect(tools.map(({ called }) => called)).toContain('odd__write_file');
    const intent_id = await looking({
      declared_goal: HOSTILE,
      effect: { kind: 'mcp', server: 'odd', tool: 'write_file', arguments: { path, content: HOSTILE } },
    });
    const drawn = (await ada.page.textContent('main'))!;
    expect(drawn).toContain('wants to call odd__write_file');
    expect(drawn).toContain('Exactly this is called');
    expect(drawn).toContain('So the server is started');
    expect(drawn).toContain('IN THE WORDS OF THE SERVER: write_file');
    const { definition } = tools.find(({ called }) => called === 'odd__write_file')!;
    expect(drawn).toContain((definition as { description: string }).description);
    expect(drawn).toMatch(/Server claims.*\(not checked\)/);
    expect(drawn).toContain(HOSTILE);
    await expectOnlyText();
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    expect((await stage.keyturn.intents.waitFor({ intent_id })).status_word).toBe('succeeded');
  });
});

describe('many at once', () => {
  it('40 that are proposed before the first answer are all in the open queue', {
    timeout: TIME,
  }, async () => {
    const first = await looking({});
    const held: (() => void)[] = [];
    let is_held = true;
    const asked = /\/v1\/intents\/(list|get)$/;
    await ada.page.route(asked, async (route) => {
      if (is_held) await new Promise<void>((go) => held.push(go));
      await route.continue();
    });
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push((await stage.propose({ declared_goal: `Burst ${i}.` })).intent_id);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    is_held = false;
    for (const go of held) go();
    // Items far from the screen are not drawn: what was drawn at either end of the list counts.
    const drawn = new Map<string, string>();
    const missing = async () => {
      for (const end of [0, 100_000]) {
        await ada.page.evaluate((to) => document.querySelector('.queue')!.scrollTo(0, to), end);
        await drawnAnew(ada);
        for (const item of await ada.page.$$eval('.queue .item', (all) =>
          all.map((one) => [one.getAttribute('href')!, one.textContent!] as const),
        ))
          drawn.set(...item);
      }
      return ids.filter((id, i) => !drawn.get(`#/decide/${id}`)?.includes(`Burst ${i}.`)).length;
    };
    await expect.poll(missing, { timeout: 20_000 }).toBe(0);
    await ada.page.unrouteAll({ behavior: 'wait' });
    for (const intent_id of [first, ...ids]) {
      const { hash } = await stage.keyturn.intents.get({ intent_id });
      await stage.keyturn.intents.reject({ intent_id, hash, reason: 'No.', signer: stage.ada });
    }
  });

  it('200 that wait are listed, in order, and each is reached by one key', { timeout: TIME }, async () => {
    const ids: string[] = [];
    for (let i = 0; i < 200; i++) ids.push((await stage.propose()).intent_id);
    await open(ada.page, `/decide/${ids[0]}`);
    await ada.page.waitForSelector(`.item[aria-current][href="#/decide/${ids[0]}"]`);
    await expect.poll(() => ada.page.textContent('.bar .step'), { timeout: 20_000 }).toMatch(/ of 2\d\d/);
    for (const id of ids.slice(1, 12)) {
      await ada.page.keyboard.press('j');
      await ada.page.waitForSelector(`[data-intent="${id}"]`);
      await ada.page.waitForSelector(`.item[aria-current][href="#/decide/${id}"]`);
    }
    await expect.poll(() => ada.page.textContent('.bar .step')).toMatch(/ of 2\d\d/);
    // The queue goes along; the proposal is read from its top.
    expect(await ada.page.evaluate(() => scrollY)).toBe(0);
    expect(await ada.page.evaluate(() => document.querySelector('.queue')!.scrollTop)).toBeGreaterThan(0);
  });
});

describe('what changes while it is read', () => {
  it('is replaced by a human: the dock says so, leads to the new one, and that shows the difference', {
    timeout: TIME,
  }, async () => {
    const intent_id = await looking({});
    const { intent_id: next } = await stage.keyturn.intents.edit({
      intent_id,
      arguments: { word: 'another word' },
      signer: stage.ada,
    });
    await reached(ada, 'replaced');
    await ada.page.click('.dock >> text=Compare and decide');
    await ada.page.waitForSelector(`[data-intent="${next}"]`);
    await ada.page.waitForSelector('text=In place of');
    expect(await ada.page.textContent('main')).toContain('another word');
  });
});

describe('a connection', () => {
  it('that is lost turns signing off, and back on when it is there again, without a reload', {
    timeout: TIME,
  }, async () => {
    await looking({});
    await ada.page.route('**/v1/events', (route) => route.abort());
    await ada.context.setOffline(true);
    // What is open stays open: the page is asked to listen again, as after a broken line.
    await stage.restart();
    await reached(ada, 'lost');
    expect(await ada.page.textContent('.live')).toBe('No connection');
    await ada.page.keyboard.press('a');
    expect(await ada.page.isVisible('.dock[data-state="lost"]')).toBe(true);
    await ada.page.unrouteAll({ behavior: 'wait' });
    await ada.context.setOffline(false);
    // Another process knows no session of the first one.
    await reached(ada, 'over');
    expect(await ada.page.textContent('.dock')).toContain('This session is over.');
    await ada.page.reload();
    await ada.page.waitForSelector('text=This browser has no session.');
  });
});
