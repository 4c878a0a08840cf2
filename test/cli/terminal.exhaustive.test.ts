import { readFileSync, readlinkSync } from 'node:fs';
import { spawn } from '@lydell/node-pty';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { until } from '../support/processes.ts';
import { cliPath, inTerminal } from '../support/pty.ts';
import { runs } from '../support/registry.ts';
import { NOTHING, preScreen, QUESTION, withoutConfinement } from '../support/transcript.ts';
import { typedCode } from './project.ts';
import { answering, atTerminal, ENDLESS, kindsOf, ledgerOf, stages, stateOf } from './stage.ts';

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
      session.press(`${typedCode(set.hash)}\rcorrect horse battery\r`);
      for (let i = 0; i < 3; i++) {
        await session.expect('Passphrase of alice: ');
        session.type('');
      }
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

describe('what the question of a run is about', () => {
  it('is shown at the terminal that answers, also when standard output is another terminal', async () => {
    const set = await stage();
    const other = await openPty();
    try {
      const words = ['-c', `exec "$0" "$@" >'${other.path}'`, process.execPath, cliPath(), ...set.words];
      const session = inTerminal(words, { cwd: set.folder, program: '/bin/sh' });
      await session.expect(QUESTION);
      expect(withoutConfinement(session.text)).toBe(`${preScreen(set)}${QUESTION}`);
      session.type('n');
      expect(await session.exited).toBe(1);
    } finally {
      other.close();
    }
  });

  it('is shown once where standard output is that terminal, by whatever name', async () => {
    const set = await stage();
    const words = ['-c', 'exec "$0" "$@" >/dev/tty', process.execPath, cliPath(), ...set.words];
    for (const session of [
      inTerminal(set.words, { cwd: set.folder }),
      inTerminal(words, { cwd: set.folder, program: '/bin/sh' }),
    ]) {
      await session.expect(QUESTION);
      expect(session.text.split('[PRE-EXECUTION]')).toHaveLength(2);
      session.type('n');
      await session.exited;
    }
  });

  it('names programs, digests, folder and sandbox at the terminal, and no sandbox loudly', async () => {
    const set = await stage();
    const { screen, stdout } = await answering(set, 'n\r');
    const script = sha256(readFileSync(set.script));
    const { capability_id, expires_at } = (await stateOf(set)).capabilities[0]!;
    expect(screen).toMatch(
      new RegExp(
        `\\nRuns: +${set.script}\\n!!! NO SANDBOX[\\s\\S]+\\nSandbox: +NONE\\n[\\s\\S]+\\nFolder: +${set.folder}\\n[\\s\\S]+` +
          `\\nExecutable: +${set.script}\\nSHA-256: +${script}\\nInterpreter: +/\\S+(, called /\\S+)?\\nSHA-256: +[0-9a-f]{64}\\n[\\s\\S]+` +
          `Capability: +${capability_id}\\nOrdered by: +alice\\nGood until: +${expires_at}\\n` +
          'Scope: +EVERYTHING, without a sandbox\\n',
      ),
    );
    expect(stdout).not.toContain('Sandbox');
  });

  it('an argument that is wider than the terminal never begins a line of its own', async () => {
    const fake = 'Eligibility: FAKED';
    const value = `${'x'.repeat(100 - 'Tool parameters: ["'.length)}${fake}`;
    const set = await stage({
      tool: { args: ['{note}'], parameters: { note: { type: 'string', max_length: 500 } } },
      arguments: { note: value },
    });
    const session = inTerminal(set.words, { cwd: set.folder, columns: 100 });
    await session.expect(QUESTION);
    expect(session.text).not.toMatch(new RegExp(`^${fake}`, 'm'));
    for (const line of session.text.split('\n').filter((line) => line.includes('FAKED')))
      expect(line).toMatch(/^ *[│↪] /);
    session.type('n');
    await session.exited;
  });
});

/** A terminal that no human looks at. */
async function openPty(): Promise<{ path: string; close: () => void }> {
  const pty = spawn('/bin/sleep', ['60'], {});
  const path = () => readlinkSync(`/proc/${pty.pid}/fd/0`);
  await until(() => path().startsWith('/dev/pts/'));
  return { path: path(), close: () => pty.kill('SIGKILL') };
}
