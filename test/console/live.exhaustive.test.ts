import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { open } from './screens.ts';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** The stream, two people at one intent, an address without passkeys, and what a screen or a person needs. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
});

async function looking({ page }: Person, over = {}): Promise<string> {
  const { intent_id } = await stage.propose(over);
  await open(page, `/decide/${intent_id}`);
  await page.waitForSelector(`[data-intent="${intent_id}"]`);
  return intent_id;
}

declare global {
  interface Window {
    /** Ids of the entries that the page was sent, in their order. */
    heard: string[];
    cut(): void;
    /** While it is there, no stream begins. */
    held: Promise<void> | null;
    release(): void;
  }
}

/** Runs in the page before its scripts: the stream is the real one, and can be cut. */
function cutStream(): void {
  const real = window.fetch;
  window.heard = [];
  window.held = null;
  window.fetch = async (to, options) => {
    if (to !== '/v1/events') return real(to, options);
    await window.held;
    const stop = new AbortController();
    window.cut = () => {
      window.held = new Promise((done) => {
        window.release = done;
      });
      stop.abort();
    };
    const signal = AbortSignal.any([options!.signal!, stop.signal]);
    const answer = await real(to, { ...options, signal });
    const [mine, theirs] = answer.body!.tee();
    const listen = async () => {
      let text = '';
      const reader = mine.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (text + part.value).split('\n');
        text = lines.pop()!;
        for (const line of lines) if (line.startsWith('id: ')) window.heard.push(line.slice(4));
      }
    };
    void listen().catch(() => {});
    return new Response(theirs, { status: answer.status, headers: answer.headers });
  };
}

describe('a stream that was cut', () => {
  it('goes on where it was, and neither loses nor doubles an entry', { timeout: TIME }, async () => {
    const { page, context } = await stage.person();
    await context.addInitScript(cutStream);
    await page.reload();
    await page.waitForSelector('.live.live', { state: 'attached' });
    const listed = () =>
      page.locator('.queue a.item').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    const before = await listed();
    const made: string[] = [];
    const propose = async () => made.push((await stage.propose()).intent_id);
    await propose();
    await page.waitForSelector(`.queue a[href$="${made[0]}"]`);
    for (let i = 0; i < 2; i++) {
      await page.evaluate(() => window.cut());
      await page.waitForSelector('.live.lost', { state: 'attached' });
      await propose();
      await propose();
      await page.evaluate(() => window.release());
      await page.waitForSelector('.live.live', { state: 'attached' });
      await page.waitForSelector(`.queue a[href$="${made.at(-1)}"]`);
    }
    const heard = (await page.evaluate(() => window.heard)).map((id) => Number(id.split('.')[0]));
    const last = (await stage.keyturn.ledger.entries({ limit: 1 })).entries[0]!.seq;
    expect(heard).toEqual(Array.from({ length: last - heard[0]! + 1 }, (_, i) => heard[0]! + i));
    const after = await listed();
    expect(after).toHaveLength(before.length + made.length);
    expect(new Set(after).size).toBe(after.length);
    await context.close();
  });
});

describe('two gestures at once', () => {
  it('run it once, whichever proof comes first', { timeout: TIME }, async () => {
    const other = await stage.person();
    await stage.enrol(other, 'ada', -7, 'phone');
    const intent_id = await looking(ada);
    await open(other.page, `/decide/${intent_id}`);
    const both = [ada, other];
    for (const person of both) {
      await person.page.selectOption('.me select', {
        label: both.indexOf(person) ? 'ada, “phone”' : 'ada, “laptop”',
      });
      await reached(person, 'ready');
    }
    // Both have signed before either proof arrives.
    let arrived = 0;
    let release = () => {};
    const all = new Promise<void>((done) => {
      release = done;
    });
    for (const { page } of both)
      await page.route('**/v1/intents/turn', async (route) => {
        if (route.request().postData()?.includes('"proofs"')) {
          if (++arrived === both.length) release();
          await all;
        }
        await route.continue();
      });
    for (const { page } of both) {
      await page.bringToFront();
      await page.keyboard.press('a');
    }
    await stage.keyturn.intents.waitFor({ intent_id });
    await expect
      .poll(async () => (await stage.keyturn.intents.get({ intent_id })).status_word, { timeout: 20_000 })
      .toBe('succeeded');
    for (const { page } of both)
      await page.waitForSelector('.dock:not([data-state="armed"]):not([data-state="sending"])');
    expect((await stage.keyturn.intents.get({ intent_id })).runs).toHaveLength(1);
    await ada.page.unrouteAll({ behavior: 'wait' });
    await other.context.close();
  });
});

describe('an address without passkeys', () => {
  /** As a proxy in front does it: another name, without https. */
  async function atOtherName(name: string) {
    const { port } = new URL(stage.address());
    const own = `localhost:${port}`;
    const proxy = createServer((asked, answer) => {
      const { origin, ...headers } = asked.headers;
      const to = request(
        {
          port,
          host: 'localhost',
          path: asked.url,
          method: asked.method,
          headers: { ...headers, host: own, ...(origin && { origin: stage.address() }) },
        },
        (told) => {
          answer.writeHead(told.statusCode!, told.headers);
          told.pipe(answer);
        },
      );
      to.on('error', () => answer.destroy());
      answer.on('close', () => to.destroy());
      asked.pipe(to);
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=MAP ${name} 127.0.0.1`],
    });
    const close = async () => {
      await browser.close();
      proxy.closeAllConnections();
      proxy.close();
    };
    return { address: `http://${name}:${(proxy.address() as AddressInfo).port}`, browser, close };
  }

  it('says why, and what to do at the terminal', { timeout: TIME }, async () => {
    const { address, browser, close } = await atOtherName('keyturn.test');
    try {
      const { cookies, origins } = await ada.context.storageState();
      const storageState = {
        cookies: cookies.map((one) => ({ ...one, domain: 'keyturn.test' })),
        origins: origins.map((one) => ({ ...one, origin: address })),
      };
      const page = await (await browser.newContext({ storageState })).newPage();
      const { intent_id } = await stage.propose();
      await page.goto(`${address}/#/decide/${intent_id}`);
      await page.waitForSelector('.dock[data-state="no-passkey"]');
      const said = await page.textContent('.dock');
      expect(said).toContain('This address cannot use passkeys.');
      expect(said).toContain('Browsers allow them on https and on http://localhost');
      expect(said).toContain(`keyturn turn ${intent_id.slice(0, 8)}`);
      expect(await page.locator('.dock button.yes').count()).toBe(0);
    } finally {
      await close();
    }
  });
});

describe('a diff', () => {
  const effect = {
    kind: 'plan',
    task_id: 'd',
    config: null,
    plan: {
      plan_id: 'd',
      action_plan: [
        {
          action_id: 'a',
          action_type: 'FILE_MODIFY',
          target: 'poem.md',
          operation: { type: 'text_replace', pattern: 'red', replacement: 'blue', max_matches: 1 },
        },
      ],
    },
  };
  const shape = (page: Page) =>
    page.evaluate(() => ({
      pairs: document.querySelectorAll('.file .pair').length,
      marks: [...document.querySelectorAll('.file mark')].map((one) => one.textContent),
      sideways: document.documentElement.scrollWidth > innerWidth,
    }));

  it('is side by side where there is room, in one column where not, and marks the words', {
    timeout: TIME,
  }, async () => {
    stage.write('poem.md', 'roses are red\nviolets are not\n');
    await looking(ada, { issuer: 'docs-bot', effect });
    await ada.page.waitForSelector('.file .pair mark');
    const wide = await shape(ada.page);
    expect([wide.pairs > 0, wide.marks, wide.sideways]).toEqual([true, ['red', 'blue'], false]);
    await ada.page.setViewportSize({ width: 390, height: 844 });
    await ada.page.waitForFunction(() => document.querySelectorAll('.file .pair').length === 0);
    const narrow = await shape(ada.page);
    expect([narrow.pairs, narrow.marks, narrow.sideways]).toEqual([0, ['red', 'blue'], false]);
    await ada.page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe('a person who wants no motion', () => {
  it('sees nothing that moves by itself', { timeout: TIME }, async () => {
    await looking(ada);
    await reached(ada, 'ready');
    const moving = () =>
      ada.page.evaluate(
        () =>
          [...document.querySelectorAll('*')].filter((one) => {
            const { animationName, transitionDuration } = getComputedStyle(one);
            return animationName !== 'none' || transitionDuration.split(', ').some((time) => time !== '0s');
          }).length,
      );
    expect(await moving()).toBeGreaterThan(0);
    await ada.page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
    await ada.page.emulateMedia({ reducedMotion: null });
  });
});

describe('letters that look like others', () => {
  /** The first letter is Greek, and the o in "once" Cyrillic. */
  const WORDS = '\u0391pprove and run \u043ence';

  it('are told by their codes, and make no button, no title and no words of the console', {
    timeout: TIME,
  }, async () => {
    await looking(ada, {
      declared_goal: WORDS,
      effect: { kind: 'tool', tool: 'say', arguments: { word: WORDS } },
    });
    await reached(ada, 'ready');
    const found = await ada.page.evaluate((words) => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const outside: string[] = [];
      let inside = 0;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.textContent?.includes(words)) continue;
        // The box of the agent's words, a value with a dotted line, or the goal in the list.
        if (node.parentElement!.closest('.words, .val, .goal')) inside++;
        else outside.push(node.parentElement!.outerHTML.slice(0, 200));
      }
      return { inside, outside, buttons: document.querySelectorAll('.dock button.yes').length };
    }, '\\u0391pprove and run \\u043ence');
    expect(found.outside).toEqual([]);
    expect(found.inside).toBeGreaterThan(1);
    expect(found.buttons).toBe(1);
  });
});
