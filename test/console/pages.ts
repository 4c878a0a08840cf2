import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { foundWithPasskey } from '../../src/serve/founding.ts';
import { onHost } from '../journey/executing-process.ts';
import { until } from '../support/processes.ts';
import { cliPath } from '../support/pty.ts';
import { open } from './screens.ts';
import { newAuthenticator, type Person, type Stage } from './stage.ts';

/** What is seen after a service was away: a run in doubt, and the pages that a link opens in a browser which knows nothing else. */

interface OwnPage {
  readonly page: Page;
  readonly end: () => Promise<unknown>;
}

/** Opens the page in a browser of its own. */
async function opened({ browser }: Stage, link: string): Promise<OwnPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await newAuthenticator(cdp);
  await page.goto(link);
  await page.waitForSelector('#go:enabled');
  return { page, end: () => context.close() };
}

async function invited({ page }: Person, name: string): Promise<string> {
  await open(page, '/people');
  await page.fill('#invited', name);
  await page.click('text=Make a link');
  return (await page
    .locator(`[role="status"]:has-text("Give this link to ${name}") .invite-link`)
    .textContent())!;
}

async function touchedTwice(page: Page): Promise<void> {
  await page.click('#go');
  await page.click('text=Sign with the passkey');
}

async function founding(): Promise<{ link: string; end: () => Promise<unknown> }> {
  const at = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-founding-'));
  const stop = new AbortController();
  let project: Promise<unknown> = Promise.resolve();
  const link = await new Promise<string>((onListening, failed) => {
    const asked = { at, name: 'ada', label: 'laptop', port: 0, signal: stop.signal, onListening };
    project = foundWithPasskey(asked).then((keyturn) => keyturn.close());
    project.catch(failed);
  });
  const end = async () => {
    stop.abort();
    await project.catch(() => {});
    rmSync(at, { recursive: true, force: true });
  };
  return { link, end };
}

/** A run whose executor was killed: how it ended is not recorded. The service is to be stopped: it would run it. */
export async function killedRun(
  { keyturn, root, ada: signer, propose }: Stage,
  host: string | null = null,
): Promise<string> {
  const effect = { kind: 'tool', tool: 'wait', arguments: { seconds: 5 } };
  const { intent_id, hash } = await propose({ declared_goal: 'Wait for the courier', effect });
  await keyturn.intents.turn({ intent_id, hash, signer });
  const [file, ...args] = onHost(host, [process.execPath, cliPath(), 'execute']);
  const executor = spawn(file!, args, { cwd: root, stdio: 'ignore' });
  const ended = once(executor, 'exit');
  await until(async () => (await keyturn.intents.get({ intent_id })).status_word === 'running');
  executor.kill('SIGKILL');
  await ended;
  return intent_id;
}

export const isAlive = async ({ keyturn }: Stage, intent_id: string) =>
  (await keyturn.runs.inDoubt()).runs.some((run) => run.intent_id === intent_id && run.state === 'alive');

/** Stops the service, and starts another one. */
export async function ownPagesOf(
  stage: Stage,
): Promise<readonly (readonly [string, () => Promise<OwnPage>])[]> {
  await stage.stopService();
  const doubt = await killedRun(stage);
  await stage.restart();
  const ada = await stage.person();
  await stage.enrol(ada, 'ada', -7, 'phone');
  return [
    [
      'in-doubt',
      async () => {
        await until(async () => !(await isAlive(stage, doubt)));
        await open(ada.page, `/story/${doubt}`);
        await ada.page.waitForSelector('text=It is not known whether this happened.');
        return { page: ada.page, end: async () => {} };
      },
    ],
    ['enrol', async () => opened(stage, await invited(ada, 'bob'))],
    [
      'enrol-signed',
      async () => {
        const there = await opened(stage, await invited(ada, 'carl'));
        await touchedTwice(there.page);
        await there.page.waitForSelector('#told:has-text("vouched for")');
        return there;
      },
    ],
    [
      'enrol-ended',
      async () => {
        const there = await opened(stage, await invited(ada, 'dora'));
        await ada.page.locator('li', { hasText: 'dora' }).getByText('End', { exact: true }).click();
        await ada.page.locator('[data-pending] li', { hasText: 'dora' }).waitFor({ state: 'detached' });
        await there.page.click('#go');
        await there.page.waitForSelector('#told.trouble');
        return there;
      },
    ],
    [
      'founding',
      async () => {
        const { link, end } = await founding();
        const there = await opened(stage, link);
        return { page: there.page, end: () => there.end().then(end) };
      },
    ],
    [
      'founded',
      async () => {
        const { link, end } = await founding();
        const there = await opened(stage, link);
        await touchedTwice(there.page);
        await there.page.waitForSelector('#told:has-text("the project is there")');
        return { page: there.page, end: () => there.end().then(end) };
      },
    ],
  ];
}
