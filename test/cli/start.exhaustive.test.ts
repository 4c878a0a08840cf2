import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../support/scratch.ts';
import { atTerminal, CLI, PASSPHRASE, said, sayYes, start, startNew, stopped, turn } from './playground.ts';

describe('npm start, with somebody who decides', () => {
  it('runs what they turn, tells the agent, denies what the policies deny, and goes on with the same project', async () => {
    const at = scratch();
    const first = await startNew(at);
    const greeted = turn(first, at, 'Say hello$');
    await sayYes(greeted);
    await greeted.expect('Hello, Grace!');
    await first.expect('bot hears: Say hello: succeeded');
    await sayYes(turn(first, at, 'Add a line'));
    await first.expect('bot hears: Add a line to notes.md: succeeded');
    expect(readFileSync(join(at, 'project/notes.md'), 'utf8')).toMatch(/^bot was here\.\n# Notes\n/);
    const undone = said(first, at, 'rollback');
    await undone.expect('Passphrase of you: ');
    undone.type(PASSPHRASE);
    expect(await undone.exited).toBe(0);
    expect(readFileSync(join(at, 'project/notes.md'), 'utf8')).toMatch(/^# Notes\n/);
    const enrolling = said(first, at, 'credential add');
    await enrolling.expect('in the browser of you:');
    enrolling.kill();
    const denied = turn(first, at, 'Say hello to Mallory');
    await denied.expect('POLICY_DENIED');
    await denied.exited;
    expect(denied.text).toContain('mallory-is-not-greeted');
    // A clone has no such command.
    expect(first.text).not.toMatch(/\bkeyturn (tool|propose)\b/);
    expect(await stopped(first)).toBe(0);

    const again = start(at);
    await again.expect('Ctrl-C stops the service.');
    expect(again.text).not.toContain('assphrase');
    const mallory = / [0-9a-f]{8} {2}Say hello to Mallory/;
    expect(mallory.exec(again.text)![0]).toBe(mallory.exec(first.text)![0]);
    expect(again.text.match(/^ {2}waits /gm)).toHaveLength(3);
    const [, id] = / ([0-9a-f]{8}) {2}Say hello to Mallory/.exec(again.text)!;
    const words = ['reject', id!, '--reason', 'Not her', '--project', join(at, 'project')];
    const rejected = atTerminal([CLI, ...words], at);
    await rejected.expect('Passphrase of you: ');
    rejected.type(PASSPHRASE);
    await again.expect('bot hears: Say hello to Mallory: the policies deny it: rejected, because: Not her');
    expect(await stopped(again)).toBe(0);
  });

  it('says why it ends where the passphrase is wrong three times', async () => {
    const at = scratch();
    const session = start(at);
    for (const question of ['New passphrase for you: ', 'The same again: ']) {
      await session.expect(question);
      session.type(PASSPHRASE);
    }
    for (let i = 0; i < 3; i += 1) {
      await session.expect('Passphrase of you: ');
      session.type('not this one');
    }
    expect(await session.exited).toBe(1);
    expect(session.text).toContain(
      '[ERROR] The passphrase does not open the key. (PASSPHRASE_WRONG) Try again.',
    );
  });

  it('goes on where it broke off before the agent had a token', async () => {
    const at = scratch();
    expect(await stopped(await startNew(at))).toBe(0);
    rmSync(join(at, 'bot.token'));
    const again = start(at);
    await again.expect('Passphrase of you: ');
    again.type(PASSPHRASE);
    await again.expect('Ctrl-C stops the service.');
    expect(again.text).not.toContain('New passphrase');
    expect(await stopped(again)).toBe(0);
  });
});
