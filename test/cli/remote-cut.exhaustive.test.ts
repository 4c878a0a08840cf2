import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ReasonCode } from '../../src/keyturn.ts';
import { until } from '../support/processes.ts';
import { cliPath } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { makeProject, type Project, TOOLS } from './project.ts';
import { type Laptop, laptop, type Served, served } from './remote-scene.ts';

/** What a person who asked a service for a stream is told when it breaks off. */

vi.setConfig({ testTimeout: 120_000 });

/** More than the pipes and connections hold on the way to a reader who does not read. */
const MANY = 120;

interface Scene {
  readonly project: Project;
  readonly service: Served;
  readonly near: Laptop;
}

async function scene(): Promise<Scene> {
  const folder = scratch();
  for (const name of ['host', 'laptop']) mkdirSync(join(folder, name));
  const project = await makeProject(join(folder, 'host'));
  writeFileSync(join(folder, 'host', 'tools.yaml'), TOOLS.replace('max_length: 5000', 'max_length: 50000'));
  const config = join(folder, 'host', 'keyturn.yaml');
  const text = readFileSync(config, 'utf8')
    .replace('minute: 120', 'minute: 1000')
    .replace('pending: 100', 'pending: 1000');
  writeFileSync(
    config,
    text.replace('level: silent', 'level: info').replace('file: stderr', 'file: service.log'),
  );
  await project.inside(async ({ intents }) => {
    for (let at = 0; at < MANY; at++)
      await intents.propose({
        declared_goal: 'Say it.',
        effect: { kind: 'tool', tool: 'greet', arguments: { name: String(at).padEnd(50_000, 'x') } },
        signer: project.alice,
      });
  });
  const service = await served(project);
  onTestFinished(() => void service.child.kill('SIGKILL'));
  const near = laptop(project, join(folder, 'laptop'), () => service.address);
  await near.login();
  return { project, service, near };
}

/** A command far from the project; what it prints is read when `rest` is called. */
function begun({ near, service }: Scene, ...words: string[]) {
  const env = { PATH: process.env.PATH, HOME: near.folder, KEYTURN_SERVICE: service.address };
  const child = spawn(process.execPath, [cliPath(), ...words], {
    cwd: near.folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (part) => {
    said += part;
  });
  return { child, said: () => said, rest: () => rest(child) };
}

async function rest(child: ChildProcess) {
  let printed = '';
  child.stdout!.setEncoding('utf8').on('data', (part) => {
    printed += part;
  });
  const [code] = await once(child, 'close');
  return { code, printed };
}

/** Only the lines of the command itself, and the last is the refusal. */
const refusedWith = (code: ReasonCode, before = '') =>
  new RegExp(`^${before}\\[ERROR\\] [^\\n]*\\(${code} \\d{4}\\) [^\\n]*\\n$`);

const ENDS = { 'is killed': 'SIGKILL', stops: 'SIGTERM' } as const;

describe.each(Object.entries(ENDS))('the service %s', (_, signal) => {
  it('an export ends with one line, and no head', async () => {
    const s = await scene();
    const asked = begun(s, 'ledger', 'export', '--with-objects');
    await once(asked.child.stdout!, 'readable');
    s.service.child.kill(signal);
    await once(s.service.child, 'exit');
    const { code, printed } = await asked.rest();
    expect([code, asked.said()]).toEqual([1, expect.stringMatching(refusedWith('SERVICE_UNREACHABLE'))]);
    expect(printed).not.toContain('{"head":');
  });

  it('who watches is told in one line', async () => {
    const s = await scene();
    const asked = begun(s, 'watch', '--since', String(await s.project.size()));
    await s.project.propose('fail');
    // What was asked for has come: the next wait is under way, or begins.
    await once(asked.child.stdout!, 'readable');
    s.service.child.kill(signal);
    const { code, printed } = await asked.rest();
    expect([code, printed]).toEqual([1, expect.stringContaining('intent.proposed')]);
    expect(asked.said()).toMatch(refusedWith('SERVICE_UNREACHABLE', 'Watching [^\\n]*\\n'));
  });
});

it('the session ends: the export breaks off, with one line here and one without a stack in the log', async () => {
  const s = await scene();
  const asked = begun(s, 'ledger', 'export', '--with-objects');
  await once(asked.child.stdout!, 'readable');
  expect((await s.near.run('logout')).code).toBe(0);
  const { code, printed } = await asked.rest();
  expect([code, asked.said()]).toEqual([1, expect.stringMatching(refusedWith('SERVICE_UNREACHABLE'))]);
  expect(printed).not.toContain('{"head":');
  // The login asked once without a signature, to be told which ledger this is.
  const failed = () =>
    logOf(s).filter((line) => {
      const { code, entry_point } = JSON.parse(line);
      return code !== 'OK' && entry_point !== 'session';
    });
  await until(() => failed().length > 0);
  expect(failed().map((line) => JSON.parse(line))).toMatchObject([
    { entry_point: 'ledger.export', code: 'TOKEN_INVALID' },
  ]);
  expect(failed().join()).not.toMatch(/stack|\.[cm]?[jt]s:\d/);
});

const logOf = ({ project }: Scene) =>
  readFileSync(join(project.folder, 'service.log'), 'utf8').match(/.+/g) ?? [];
