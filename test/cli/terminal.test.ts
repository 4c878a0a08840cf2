import { describe, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { inTerminal } from '../support/pty.ts';
import { runs } from '../support/registry.ts';
import { NOTHING, QUESTION } from '../support/transcript.ts';
import { atTerminal, ENDLESS, kindsOf, ledgerOf, stages, stateOf } from './stage.ts';

const stage = stages();

/** A no, or the second SIGHUP, which comes when there is nothing left to save. Never SIGABRT (134) or SIGSEGV (139). */
const HUNG_UP = [1, 129];

describe('a prompt', () => {
  it('what was typed before the question answers nothing', async () => {
    const set = await stage();
    const talk = await atTerminal(set, set.words, async (session) => {
      session.type('y');
      session.press('y');
      await session.expect(QUESTION);
      session.type('n');
    });
    expect(talk.code).toBe(1);
    expect(talk.stdout.endsWith(NOTHING)).toBe(true);
    expect(runs(set)).toBe(0);
  });

  it('what was typed after one question is no answer to the next', async () => {
    const set = await stage({ verdict: 'none' });
    const talk = await atTerminal(set, ['approve', set.id], async (session) => {
      await session.expect('approve it: ');
      session.press(`${set.id}\rcorrect horse battery\r`);
      await session.expect('Passphrase of alice: ');
      session.type('');
    });
    expect(talk).toMatchObject({ code: 1, stderr: expect.stringContaining('PASSPHRASE_WRONG') });
  });

  it('an answer that comes after the question is taken whole', async () => {
    const set = await stage();
    const talk = await atTerminal(set, set.words, async (session) => {
      session.type('n');
      await session.expect(QUESTION);
      session.type('y');
    });
    expect(talk.code).toBe(0);
    expect(runs(set)).toBe(1);
  });

  it('SIGTERM, SIGHUP or SIGINT while it waits is a no, and the command ends', async () => {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
      const set = await stage();
      const talk = await atTerminal(set, set.words, async (session) => {
        await session.expect(QUESTION);
        process.kill(session.pid, signal);
      });
      expect(talk).toMatchObject({ code: 1, stderr: expect.stringMatching(/^CONFIRMATION_DECLINED: /) });
      expect(talk.stdout.endsWith(NOTHING)).toBe(true);
      expect(runs(set)).toBe(0);
    }
  });

  it('a terminal that hangs up while it waits is a no, and nothing crashes', async () => {
    const set = await stage();
    const session = inTerminal(set.words, { cwd: set.folder });
    await session.expect(QUESTION);
    session.hangUp();
    expect(HUNG_UP).toContain(await session.exited);
    expect(runs(set)).toBe(0);
    expect((await stateOf(set)).status).toBe('approved');
  });

  it('a terminal that hangs up during a run kills the tool, and that is recorded', async () => {
    const set = await stage({ body: ENDLESS });
    const session = inTerminal(set.words, { cwd: set.folder });
    await session.expect(QUESTION);
    session.type('y');
    await until(() => runs(set) === 1);
    session.hangUp();
    expect(HUNG_UP).toContain(await session.exited);
    expect(kindsOf(await ledgerOf(set), set).at(-1)).toBe('execution.finished');
    expect((await stateOf(set)).status).toBe('partial');
  });
});
