import { afterEach, describe, expect, it } from 'vitest';
import type { ShownHunk } from '../../src/display/shown.ts';
import { elapsed } from '../support/processes.ts';
import { open } from './screens.ts';
import { drawnAnew, type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** Lines of a diff that are read apart from the proposal: late, short, changed, or not at all. */

const TIME = 100_000;
const HUNKS = '**/v1/intents/hunks';
/** Some come with the proposal; the rest are read in two questions. */
const LINES = 1_600;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
});
afterEach(() => ada.page.unrouteAll({ behavior: 'wait' }));

async function looking(name: string): Promise<string> {
  const content = Array.from({ length: LINES }, (_, i) => `${name} line ${i + 1}\n`).join('');
  const { intent_id } = await stage.propose({
    issuer: 'docs-bot',
    effect: {
      kind: 'plan',
      task_id: name,
      config: null,
      plan: {
        plan_id: name,
        action_plan: [
          {
            action_id: 'create',
            action_type: 'FILE_CREATE',
            target: `apart/${name}.txt`,
            operation: { type: 'create', content },
          },
        ],
      },
    },
  });
  await open(ada.page, `/decide/${intent_id}`);
  await ada.page.waitForSelector(`[data-intent="${intent_id}"]`);
  await reached(ada, 'ready');
  await ada.page.waitForSelector('.file .ln');
  return intent_id;
}

/** From top to bottom, as a human reads, a part of a screen at a time. */
const readToTheEnd = async () => {
  await ada.page.evaluate(() => scrollTo(0, 0));
  for (let before = -1, at = 0; before !== at; ) {
    await drawnAnew(ada);
    before = at;
    at = await ada.page.evaluate(() => {
      scrollBy(0, innerHeight / 2);
      return scrollY;
    });
  }
};
const dock = () => ada.page.textContent('.dock');
const drawn = () => ada.page.locator('.file .ln').count();
/** The end of the diff is on the screen, long enough for the page to say something else. */
async function stayAtTheEnd(): Promise<void> {
  await elapsed(500, 'the page does not say something else meanwhile');
  expect(
    await ada.page.evaluate(
      () => [...document.querySelectorAll('.file')].at(-1)!.getBoundingClientRect().bottom < innerHeight,
    ),
  ).toBe(true);
}

describe('a part of a diff that is read apart', () => {
  it('is not seen while its lines have not come, and is seen once they were on the screen', {
    timeout: TIME,
  }, async () => {
    const held: (() => void)[] = [];
    let is_held = true;
    await ada.page.route(HUNKS, async (route) => {
      if (is_held) await new Promise<void>((go) => held.push(go));
      await route.continue();
    });
    const intent_id = await looking('late');
    await readToTheEnd();
    await stayAtTheEnd();
    expect(held.length).toBeGreaterThan(0);
    expect(await ada.page.locator('.file [aria-busy="true"]').count()).toBeGreaterThan(0);
    expect(await dock()).toContain('Not seen yet: apart/late.txt');
    is_held = false;
    for (const go of held) go();
    await ada.page.waitForSelector(`.file .tx:text-is("late line ${LINES}")`);
    await readToTheEnd();
    await expect.poll(dock).not.toContain('Not seen yet');
    await ada.page.keyboard.press('a');
    await reached(ada, 'done');
    // It makes the folder of the other plans. One that is proposed before that would make the folder itself, and is drift after.
    expect((await stage.keyturn.intents.waitFor({ intent_id })).status_word).toBe('succeeded');
  });

  it('is not seen where it was jumped over', { timeout: TIME }, async () => {
    await looking('over');
    await ada.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await ada.page.waitForSelector(`.file .tx:text-is("over line ${LINES}")`);
    await ada.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await stayAtTheEnd();
    expect(await dock()).toContain('Not seen yet: apart/over.txt');
    await readToTheEnd();
    await expect.poll(dock).not.toContain('Not seen yet');
  });

  const changed: Readonly<Record<string, (hunks: readonly ShownHunk[]) => readonly ShownHunk[]>> = {
    nothing: () => [],
    'one-line-fewer': (hunks) => hunks.map((one) => ({ ...one, lines: one.lines.slice(1) })),
    'another-place': (hunks) => hunks.map((one) => ({ ...one, new_start: one.new_start + 1 })),
    'other-signs': (hunks) =>
      hunks.map((one) => ({ ...one, lines: one.lines.map((line) => ` ${line.slice(1)}`) })),
    'one-more': (hunks) => [...hunks, ...hunks],
  };
  it.each(Object.keys(changed))(
    'that comes with %s is an error, is not drawn, and stays not seen',
    {
      timeout: TIME,
    },
    async (how) => {
      await ada.page.route(HUNKS, async (route) => {
        const response = await route.fetch();
        const { hunks, ...rest } = (await response.json()) as { hunks: readonly ShownHunk[] };
        await route.fulfill({ response, json: { ...rest, hunks: changed[how]!(hunks) } });
      });
      await looking(how);
      await readToTheEnd();
      await ada.page.waitForSelector('.file >> text=These lines could not be read.');
      await stayAtTheEnd();
      expect(await ada.page.textContent('.file')).toContain('SEEN_OTHER');
      expect(await drawn()).toBe(0);
      expect(await dock()).toContain(`Not seen yet: apart/${how}.txt`);
    },
  );

  it('that cannot be read stays not seen, beside the button', { timeout: TIME }, async () => {
    await ada.page.route(HUNKS, (route) => route.abort());
    await looking('gone');
    await readToTheEnd();
    await ada.page.waitForSelector('.file >> text=These lines could not be read.');
    await stayAtTheEnd();
    expect(await dock()).toContain('Not seen yet: apart/gone.txt');
    await ada.page.unrouteAll({ behavior: 'wait' });
    await readToTheEnd();
    await readToTheEnd();
    await expect.poll(dock).not.toContain('Not seen yet');
  });
});
