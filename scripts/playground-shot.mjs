/** Writes docs/console/start-light-1440.png, the first picture of README: what `npm start` opens, in a real Chromium. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';
import { root } from './setup.mjs';

register();
const { launched } = await import('../test/console/stage.ts');
const { inTerminal } = await import('../test/support/pty.ts');

const PASSPHRASE = 'quiet river stone lamp';

/** Plays as a stranger does: a passphrase, the link, and the proposal of the agent that changes a file. */
export async function shootPlayground(folder) {
  const at = mkdtempSync(join(tmpdir(), 'keyturn-start-'));
  const words = [join(root, 'scripts/start.mjs'), '--at', at, '--port', '0'];
  const session = inTerminal(words, { cwd: at, program: process.execPath });
  const browser = await launched();
  try {
    for (const question of ['New passphrase for you: ', 'The same again: ', 'Passphrase of you: ']) {
      await session.expect(question);
      session.type(PASSPHRASE);
    }
    await session.expect('Ctrl-C stops the service.');
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' });
    await page.goto(/http\S+#link=\S+/.exec(session.text)[0]);
    await page.waitForSelector('.queue .item');
    await page.waitForSelector('.dock');
    await page.locator('.queue .item', { hasText: 'notes' }).first().click();
    await page.waitForSelector('.dock');
    await page.screenshot({ path: join(folder, 'start-light-1440.png') });
    session.press('\x03');
    await session.exited;
  } finally {
    session.kill();
    await browser.close();
    rmSync(at, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await shootPlayground(join(root, 'docs/console'));
