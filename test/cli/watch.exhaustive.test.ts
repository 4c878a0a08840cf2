import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { writeConfig } from '../journey/postgres-host.ts';
import { APPLICATION, postgres, urlOf } from '../store/postgres-place.ts';
import { halfOpenTo } from '../support/half-open.ts';
import { until } from '../support/processes.ts';
import { cliPath, inTerminal, type Session } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { answerOf, expectError, fileFolder, makeProject, type Project } from './project.ts';

const server = postgres();

/** Proposed, refused for want of an approval, approved, granted and run; then everything is frozen. */
async function live({ inside, propose, ready, alice }: Project): Promise<string> {
  const { id, hash } = await propose('reach', { count: 3 });
  const run = () => inside((keyturn) => runSeen(keyturn, { intent_id: id, hash, confirm: async () => true }));
  await run().catch(() => undefined);
  await ready({ id, hash });
  await run();
  await inside((keyturn) => keyturn.system.freeze({ scope: 'system', reason: 'enough', signer: alice }));
  return id;
}

const STORY = [
  'proposed reach; it waits for a human',
  'execution.refused',
  'alice approved it',
  'alice ordered one run of',
  'began, attempt 1',
  'ended: success',
  'system.frozen by alice: enough',
];

async function watched(folder: string, project: Project): Promise<void> {
  const session: Session = inTerminal(['watch'], { cwd: folder });
  try {
    await session.expect('Ctrl-C ends it.\n');
    const id = await live(project);
    for (const words of STORY) await session.expect(words);
    const lines = session.text.split('\n').filter((line) => line.includes(id));
    expect(lines.every((line) => /^\d+ {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}[a-z.]+ {2}/.test(line))).toBe(true);
    expect(session.raw).toContain('\x1b[');
    session.press('\x03');
    expect(await session.exited).toBe(0);
    expect(session.text).not.toContain('[ERROR]');
  } finally {
    session.kill();
  }
}

async function inBash(text: string, cwd: string): Promise<{ stdout: string; stderr: string }> {
  const child = spawn('bash', ['-c', text, process.execPath, cliPath()], { cwd });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  await once(child, 'close');
  return { stdout, stderr };
}

describe('watch', () => {
  const folder = fileFolder();
  let project: Project;
  beforeAll(async () => {
    project = await makeProject(folder);
  });

  it('at a terminal tells each entry as it comes, and Ctrl-C ends it', () => watched(folder, project));

  it('on a shared ledger hears of what another process writes', async () => {
    const shared = scratch();
    writeConfig(shared, 'watched', urlOf(server().server, APPLICATION));
    await watched(shared, await makeProject(shared));
  });

  it('prints JSON Lines from any entry on, and at the end where to go on', async () => {
    const child = spawn(process.execPath, [cliPath(), 'watch', '--since', '2', '--json'], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const size = await project.size();
    await until(() => stdout.split('\n').length > size - 2);
    await project.propose('reach', { count: 1 });
    await until(() => stdout.split('\n').length > size - 1);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    const lines = stdout.trimEnd().split('\n');
    const answers = lines.map((line) => answerOf({ code: 0, stdout: `${line}\n`, stderr: '' }));
    const seqs = answers
      .slice(0, -1)
      .map(({ result }) => (result as never as { entry: { seq: number } }).entry.seq);
    expect(seqs).toEqual(Array.from({ length: size - 1 }, (_, i) => i + 2));
    expect(answers.at(-1)).toMatchObject({ command: 'watch', result: { next: size + 1 } });
    expect(stderr).toBe('');
  });

  it('ends quietly when whoever reads has seen enough, and no other command calls that a defect', async () => {
    const piped = (words: string, reader: string) =>
      inBash(`"$0" "$1" ${words} | ${reader}; echo "exit \${PIPESTATUS[0]}"`, folder);
    for (const form of ['', '--json']) {
      // That the reader left is noticed with the next line that is for it.
      const ended = piped(`watch --since 0 ${form}`, 'head -1');
      const stop = new AbortController();
      const telling = (async () => {
        const { inside, alice: signer } = project;
        while (!stop.signal.aborted) {
          // Rejected at once: only so many proposals of one source may wait for a human.
          const { id: intent_id, hash } = await project.propose('reach', { count: 1 });
          await inside((keyturn) =>
            keyturn.intents.reject({ intent_id, hash, reason: 'Seen enough.', signer }),
          );
        }
      })();
      const { stdout, stderr } = await ended;
      stop.abort();
      await telling;
      expect(stdout.trimEnd().split('\n').at(-1)).toBe('exit 0');
      expect(stdout.split('\n')).toHaveLength(3);
      expect(stderr).not.toMatch(/ERROR|EPIPE/);
    }
    const { stdout, stderr } = await piped('list', 'exec true');
    expect(stdout).toBe('exit 1\n');
    expect(stderr).toBe(
      '[ERROR] The answer could not be written: its reader is gone. Look with `keyturn status`.\n',
    );
  });

  it('ends at the second signal where the server answers no more', async () => {
    const shared = scratch();
    const way = await halfOpenTo(server().server.port);
    onTestFinished(() => way.close());
    writeConfig(shared, 'half-open', urlOf(server().server, APPLICATION, way.port));
    await makeProject(shared);
    const child = spawn(process.execPath, [cliPath(), 'watch'], {
      cwd: shared,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit');
    await once(child.stderr, 'data');
    way.swallow();
    // By then it asks, and hears nothing: it looks every two seconds.
    const signals = setInterval(() => child.kill('SIGINT'), 3000);
    expect(await ended).toEqual([1, null]);
    clearInterval(signals);
  });

  it('refuses a number that is none', async () => {
    expectError('USAGE', await project.run('watch', '--since', '-1'));
    expectError('USAGE', await project.run('watch', '--since', 'yesterday'));
  });

  it('follows from the library until its signal ends it', async () => {
    const stopped = new AbortController();
    const keyturn = await Keyturn.open({ at: folder, mode: 'read' });
    const seen: number[] = [];
    for await (const { seq } of keyturn.ledger.follow({ from: 0, signal: stopped.signal })) {
      seen.push(seq);
      if (seq === 3) stopped.abort();
    }
    expect(seen).toEqual([0, 1, 2, 3]);
    await keyturn.close();
  });
});
