import type { Route } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Result } from '../../src/keyturn.ts';
import { open } from './screens.ts';
import { type Person, reached, type Stage, stageOfFile } from './stage.ts';

/** What the page draws is what it computes the digest of: texts of policies, diffs of plans, and what changes under the reader. */

const TIME = 100_000;
let stage: Stage;
let ada: Person;

stageOfFile((opened, person) => {
  [stage, ada] = [opened, person];
  stage.write('notes.md', '# Notes\n\nRefunds wait for a human.\n');
});
afterEach(() => ada.page.unrouteAll({ behavior: 'wait' }));

/** Between the service and the page: changes what one verb answers. */
async function tamper<T>(verb: string, change: (answer: T) => void): Promise<void> {
  await ada.page.route(`**/v1/${verb}`, async (route: Route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as T;
    change(body);
    await route.fulfill({ response: answer, json: body });
  });
}

const planOf = (plan_id: string, operation: object, target = 'notes.md') => ({
  issuer: 'docs-bot',
  effect: {
    kind: 'plan',
    task_id: plan_id,
    config: null,
    plan: {
      plan_id,
      action_plan: [{ action_id: 'a', action_type: 'FILE_MODIFY', target, operation }],
    },
  },
});
const INSERT = { type: 'line_insert', line_number: 3, content: 'Refunds never wait.' };

async function looking(over: object): Promise<string> {
  const { intent_id } = await stage.propose({ ...over });
  await open(ada.page, `/decide/${intent_id}`);
  await ada.page.waitForSelector(`[data-intent="${intent_id}"]`);
  return intent_id;
}

describe('a diff of a plan', () => {
  it('is compared with the digests of the effect, and can be signed', { timeout: TIME }, async () => {
    await looking(planOf('honest', INSERT));
    await reached(ada, 'ready');
  });

  type Review = Result<'intents.review'>;
  const ofBlock = (change: (block: { hunks: { lines: string[] }[] }) => void) => (review: Review) =>
    change(review.shown.parts[0]!.blocks[0] as never);
  const LIES: readonly (readonly [string, (review: Review) => void])[] = [
    [
      'shows another line than the one that is written',
      ofBlock(({ hunks }) => {
        hunks[0]!.lines = hunks[0]!.lines.map((one) => one.replace('never', 'always'));
      }),
    ],
    ['leaves a change out', ofBlock((block) => (block.hunks = block.hunks.slice(1)))],
    ['says that a file changes and draws none of it', ofBlock((block) => (block.hunks = []))],
    ['draws no diff of a file', ({ shown }) => void Object.assign(shown.parts[0]!, { blocks: [] })],
  ];
  for (const [i, [lie, change]] of LIES.entries())
    it(`cannot be signed where the service ${lie}`, { timeout: TIME }, async () => {
      const far = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('');
      stage.write(`far-${i}.md`, far.replace('line 3\n', 'old\n').replace('line 35\n', 'old\n'));
      await tamper<Review>('intents/review', change);
      const operation = { type: 'text_replace', pattern: 'old', replacement: 'never', max_matches: 2 };
      await looking(planOf(`lie-${i}`, operation, `far-${i}.md`));
      await reached(ada, 'dishonest');
      expect(await ada.page.locator('.dock button').count()).toBe(0);
    });

  it('cannot be signed where the service keeps the contents back, or tells others', {
    timeout: TIME,
  }, async () => {
    type Texts = { texts: { after: string | null }[] };
    for (const change of [
      ({ texts }: Texts) => void texts.splice(0),
      ({ texts }: Texts) => void Object.assign(texts[0]!, { after: 'other\n' }),
    ]) {
      await tamper<Texts>('intents/diffTexts', change);
      await looking(planOf('kept-back', INSERT));
      await reached(ada, 'dishonest');
      await ada.page.unrouteAll({ behavior: 'wait' });
    }
  });
});

describe('policies', () => {
  const activate = () => ada.page.locator('text=Activate these policies…');
  type Diff = { source: { files: { text: string }[] }; shown: Result<'policies.diff'>['shown'] };

  it('are not signed where the service draws another text than it wants signed', {
    timeout: TIME,
  }, async () => {
    stage.write(
      'policies/nobody-waits.cedar',
      '@id("nobody-waits")\n@version("1")\n@scope("capability")\n@rationale("Nobody waits here.")\nforbid (principal, action == Keyturn::Action::"grant", resource)\nwhen { resource.categories.contains("waiting") };\n',
    );
    const lies: ((diff: Diff) => void)[] = [
      (diff) => {
        for (const one of diff.source.files) one.text = one.text.replace('waiting', 'writing');
      },
      ({ shown }) => {
        const { hunks } = shown.blocks.at(-1) as unknown as { hunks: { lines: string[] }[] };
        hunks[0]!.lines = hunks[0]!.lines.map((one) => one.replace('waiting', 'writing'));
      },
      ({ shown }) => void (shown.blocks as unknown[]).pop(),
    ];
    for (const lie of lies) {
      await tamper<Diff>('policies/diff', lie);
      await open(ada.page, '/health');
      await open(ada.page, '/policies');
      await ada.page.waitForSelector('.dock >> text=ACT_OTHER');
      expect(await activate().count()).toBe(0);
      await ada.page.unrouteAll({ behavior: 'wait' });
    }
    await open(ada.page, '/health');
    await ada.page.waitForSelector('.steps >> text=More than one can sign.');
    await open(ada.page, '/policies');
    await activate().waitFor();
  });
});

describe('what changes while it is read', () => {
  /** Any entry about the system has the page look again. */
  const somethingHappens = async () => {
    const about = { scope: 'tool' as const, name: 'wait', reason: 'A look.', signer: stage.ada };
    await stage.keyturn.system.freeze(about);
    await stage.keyturn.system.unfreeze(about);
  };

  it('says so on the decision screen, and cannot be signed until it is drawn again', {
    timeout: TIME,
  }, async () => {
    stage.write('stale.md', 'one\n');
    const text = planOf('stale', { type: 'line_insert', line_number: 1, content: 'zero' }, 'stale.md');
    await looking(text);
    await reached(ada, 'ready');
    stage.write('stale.md', 'another\n');
    await somethingHappens();
    await reached(ada, 'stale');
    expect(await ada.page.locator('.dock button.yes').count()).toBe(0);
    await ada.page.keyboard.press('a');
    expect(await ada.page.locator('.dock[data-state="stale"]').count()).toBe(1);
  });

  it('is left out of a batch, which says so, and what was not opened', { timeout: TIME }, async () => {
    const { page } = ada;
    stage.write('batch.md', 'one\n');
    const insert = { type: 'line_insert', line_number: 1, content: 'zero' };
    const changing = await stage.propose(planOf('batch', insert, 'batch.md'));
    const plain = await stage.propose();
    for (const { intent_id } of [changing, plain]) {
      await open(page, `/decide/${intent_id}`);
      await page.waitForSelector(`[data-intent="${intent_id}"]`);
      await page.keyboard.press('x');
    }
    await open(page, '/batch');
    await reached(ada, 'ready2');
    expect(await page.textContent('.dock')).toContain('Not opened: what runs in ');
    for (const fold of await page.locator('.member .fold > summary').all()) {
      await fold.click();
      await fold.scrollIntoViewIfNeeded();
    }
    await page.waitForFunction(() => {
      scrollBy(0, 200);
      return !document.querySelector('.dock')?.textContent?.includes('Not opened');
    });
    stage.write('batch.md', 'another\n');
    await somethingHappens();
    await reached(ada, 'ready1');
    expect(await page.textContent('.dock')).toContain('1 changed since it was drawn, and is left out.');
    await page.keyboard.press('a');
    await reached(ada, 'done');
    expect(await page.textContent('.dock')).toContain('1 proposal signed');
    const approvalsOf = async (intent_id: string) =>
      (await stage.keyturn.intents.get({ intent_id })).approvals.length;
    expect([await approvalsOf(changing.intent_id), await approvalsOf(plain.intent_id)]).toEqual([0, 1]);
  });
});
