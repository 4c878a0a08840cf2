import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeSimulation } from '../agent/agent-place.ts';
import { accepted, SERVERS, writeServers } from '../mcp-call/servers.ts';
import { open } from './screens.ts';
import { type Person, reached, type Stage } from './stage.ts';

/** Every state in which the screen that decides, and what lies over all screens, can be: arranged one after the other. */

/** What hides characters is refused in an argument. */
export const MARKUP = '<img src=x onerror="document.title=1"><svg/onload=alert(1)></script>';
export const HOSTILE = `${MARKUP} \u202eApprove and run once\u2066 раypal`;

/** A user asked for a simulation, hesitated, and confirmed it. */
async function talked({ keyturn, root, ada: signer }: Stage): Promise<string> {
  const id = 'word.say';
  writeSimulation(root, {
    ...{ id, version: 1, family: 'words', risk: 'LOW', access_action: id },
    ...{ impactful: false, side_effecting: true, irreversible: false },
    summary: { en: 'Say a kind word' },
    phrases: { en: ['say a kind word'] },
    effect: { tool: 'say', arguments: { word: 'kind' } },
  });
  await keyturn.simulations.register({ id, reason: 'Words.', signer });
  await keyturn.simulations.activate({ id, reason: 'Words.', signer });
  const { correlation_id, kind } = await keyturn.conversations.ask({
    user_id: 'ada',
    utterance: 'say a kind word',
  });
  if (kind === 'CLARIFY') await keyturn.conversations.answer({ correlation_id, user_id: 'ada', text: 'yes' });
  const [plan] = (await keyturn.conversations.status({ correlation_id })).plans;
  const confirm = { correlation_id, user_id: 'ada', plan_id: plan!.plan_id };
  await keyturn.conversations.confirm({ ...confirm, text: 'perhaps' });
  await keyturn.conversations.confirm({ ...confirm, text: 'yes' });
  return correlation_id;
}

/** Brings the page into the state; what it returns ends it. */
type Arrange = () => Promise<(() => Promise<unknown>) | undefined>;

export function statesOf(stage: Stage, ada: Person): readonly (readonly [string, Arrange])[] {
  const { page, cdp, authenticator: authenticatorId } = ada;
  const presence = (enabled: boolean) =>
    cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  const looking = async (over: Record<string, unknown> = {}, state: string | null = 'ready') => {
    const { intent_id, hash } = await stage.propose(over);
    await open(page, `/decide/${intent_id}`);
    await page.waitForSelector(`[data-intent="${intent_id}"]`);
    if (state !== null) await reached(ada, state);
    return { intent_id, hash };
  };
  const say = (word: string) => ({ kind: 'tool', tool: 'say', arguments: { word } });
  const planOf = (plan_id: string, action: object) => ({
    issuer: 'docs-bot',
    effect: { kind: 'plan', task_id: plan_id, config: null, plan: { plan_id, action_plan: [action] } },
  });
  const dialog = (key: string): Arrange => {
    return async () => {
      await page.keyboard.press(key);
      await page.waitForSelector('[role=dialog]');
      return () => page.keyboard.press('Escape');
    };
  };
  return [
    [
      'rejecting',
      async () => {
        await looking();
        await page.keyboard.press('r');
        await page.waitForSelector('.dock textarea, .dock input');
        return () => page.keyboard.press('Escape');
      },
    ],
    [
      'armed',
      async () => {
        await looking();
        await presence(false);
        await page.keyboard.press('a');
        await reached(ada, 'armed');
        return async () => {
          await page.keyboard.press('Escape');
          await presence(true);
        };
      },
    ],
    [
      'cut',
      async () => {
        await looking({ effect: say('word '.repeat(4_000)) }, 'cut');
        return undefined;
      },
    ],
    [
      'hostile',
      async () => {
        await looking({ declared_goal: HOSTILE, effect: say(MARKUP) });
        return undefined;
      },
    ],
    [
      'replaced',
      async () => {
        const { intent_id } = await looking();
        await stage.keyturn.intents.edit({ intent_id, arguments: { word: 'other' }, signer: stage.ada });
        await reached(ada, 'replaced');
        return undefined;
      },
    ],
    [
      'rejected',
      async () => {
        const intent = await looking();
        await stage.keyturn.intents.reject({ ...intent, reason: HOSTILE, signer: stage.ada });
        await reached(ada, 'rejected');
        return undefined;
      },
    ],
    [
      'batch',
      async () => {
        await looking();
        await page.keyboard.press('x');
        await looking();
        await page.keyboard.press('x');
        await open(page, '/batch');
        await page.waitForSelector('.dock');
        return async () => {
          await open(page, '/queue');
          await page.click('text=Untick');
        };
      },
    ],
    [
      'sql',
      async () => {
        const query =
          'CREATE TABLE goods (name VARCHAR, price INTEGER);\nDELETE FROM goods;\nDROP TABLE goods;';
        const action = { action_id: 'a', action_type: 'SQL_EXECUTE', target: 'shop.duckdb' };
        await looking(planOf('sql', { ...action, operation: { type: 'sql_execute', query } }));
        return undefined;
      },
    ],
    [
      'pipeline',
      async () => {
        stage.write('tidy.sql', 'DELETE FROM goods WHERE price = 0;\nDROP TABLE old_goods;\n');
        const action = { action_id: 'night', action_type: 'PIPELINE_RUN', target: 'nightly' };
        const operation = { type: 'pipeline_run', pipeline: 'nightly' };
        await looking(planOf('month-end', { ...action, operation }));
        return undefined;
      },
    ],
    [
      'mcp',
      async () => {
        const files = join(stage.root, 'files');
        mkdirSync(files, { recursive: true });
        writeServers(stage.root, { files: { script: SERVERS.filesystem, args: ['{files}'] } }, files);
        await accepted(stage.keyturn, 'files', stage.ada);
        const given = { path: join(files, 'note.txt'), content: 'The courier comes at nine.' };
        await looking({
          declared_goal: 'Leave a note for the courier',
          effect: { kind: 'mcp', server: 'files', tool: 'write_file', arguments: given },
        });
        return undefined;
      },
    ],
    [
      'conversation',
      async () => {
        await open(page, `/conversations/${encodeURIComponent(await talked(stage))}`);
        await page.waitForSelector('.list li:has-text("word.say"):has-text("succeeded")');
        return undefined;
      },
    ],
    [
      'stale',
      async () => {
        stage.write('stale.md', 'one\n');
        const operation = { type: 'line_insert', line_number: 1, content: 'zero' };
        const action = { action_id: 'a', action_type: 'FILE_MODIFY', target: 'stale.md', operation };
        await looking(planOf('stale', action));
        stage.write('stale.md', 'another\n');
        const frozen = { scope: 'tool' as const, name: 'wait', signer: stage.ada, reason: 'A look.' };
        await stage.keyturn.system.freeze(frozen);
        await stage.keyturn.system.unfreeze(frozen);
        await reached(ada, 'stale');
        return undefined;
      },
    ],
    [
      'invited',
      async () => {
        await open(page, '/people');
        await page.fill('#invited', 'bob');
        await page.click('text=Make a link');
        await page.waitForSelector('[data-pending]');
        await page.locator('[data-pending]').scrollIntoViewIfNeeded();
        return () => page.click('[data-pending] >> text=End');
      },
    ],
    [
      'frozen',
      async () => {
        const frozen = { scope: 'system' as const, signer: stage.ada };
        await stage.keyturn.system.freeze({ ...frozen, reason: 'The refunds look wrong.' });
        await looking({}, null);
        await page.waitForSelector('.banner.danger');
        return () => stage.keyturn.system.unfreeze({ ...frozen, reason: 'They were right.' });
      },
    ],
    ['freezing', dialog('f')],
    ['keys', dialog('?')],
    [
      'unknown',
      async () => {
        await open(page, '/decide/00000000-0000-4000-8000-000000000000');
        await page.waitForSelector('.ask code');
        return undefined;
      },
    ],
    [
      'dishonest',
      async () => {
        await page.route('**/v1/intents/review', async (route) => {
          const answer = await route.fetch();
          const body = (await answer.json()) as { effect: { argv: string[] } };
          body.effect.argv[2] = 'something harmless';
          await route.fulfill({ response: answer, json: body });
        });
        await looking({}, 'dishonest');
        return () => page.unrouteAll({ behavior: 'wait' });
      },
    ],
    [
      'lost',
      async () => {
        await looking();
        await stage.stopService();
        await reached(ada, 'lost');
        return undefined;
      },
    ],
    [
      'over',
      async () => {
        await stage.restart();
        await reached(ada, 'over');
        return undefined;
      },
    ],
    [
      'shut',
      async () => {
        await page.reload();
        await page.waitForSelector('text=This browser has no session.');
        return undefined;
      },
    ],
  ];
}
