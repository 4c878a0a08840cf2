import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { PASSPHRASE, START, startNew, stopped } from './playground.ts';

describe('npm start', () => {
  it('makes a playground, serves it, lets an agent propose, and stops in order', async () => {
    const at = scratch();
    const session = await startNew(at);
    expect(session.text).toMatch(/^Open within 5 minutes, once: http:\/\/localhost:\d+\/#link=\S+$/m);
    expect(session.text.match(/^ {2}(waits|refused) .*$/gm)).toEqual([
      expect.stringMatching(/waits +[0-9a-f]{8} {2}Say hello$/),
      expect.stringMatching(/waits +[0-9a-f]{8} {2}Add a line to notes\.md/),
      expect.stringMatching(/waits +[0-9a-f]{8} {2}Say hello to Mallory/),
      expect.stringMatching(/refused +PLAN_PATH_OWN {2}Change the policies/),
    ]);
    const token = join(at, 'bot.token');
    expect(session.text).not.toContain(readFileSync(token, 'utf8').trim());
    expect(statSync(token).mode & 0o077).toBe(0);
    expect(await stopped(session)).toBe(0);
  });

  it('refuses to choose a passphrase where there is no terminal', () => {
    const at = scratch();
    const { status, stdout, stderr } = spawnSync(process.execPath, [START, '--at', at], {
      input: `${PASSPHRASE}\n${PASSPHRASE}\n`,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^npm start needs a terminal the first time: .*\n$/);
    expect(existsSync(join(at, 'project'))).toBe(false);
  });
});
