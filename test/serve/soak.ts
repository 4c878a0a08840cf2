import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Result } from '../../src/keyturn.ts';
import { elapsed, until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { writeRegistry } from '../support/project.ts';
import { cliPath } from '../support/pty.ts';
import { call, withToken } from './service.ts';

export interface SoakSize {
  readonly seconds: number;
  /** Of all services and executors together. */
  readonly kills: number;
  readonly callers: number;
}

export const CONFIG = `proposals: { pending: 10000, minute: 100000 }
service: { requests_minute: 1000000 }
`;

const registryOf = (script: string, marks: string) => `version: 1
tools:
  - name: mark
    summary: Leaves a mark.
    executable: ${script}
    args: ["${marks}", "{word}"]
    parameters: { word: { type: string, max_length: 64 } }
    cwd: /
    sandbox: none
    undo: none
`;

/** One line in one write, in the middle of some time in which it can be killed. */
const SCRIPT = '#!/bin/sh\nsleep 0.02\necho "$2" >> "$1"\nsleep 0.02\n';

/** A host of the ledger: it has one service and one executor, which has this name. */
export interface Host extends Project {
  readonly executor: string;
}

interface Asked {
  readonly word: string;
  readonly intent_id: string;
  /** Which executor has to run it; null where any of them may. */
  readonly to: string | null;
}

/** A process that is killed and started again. */
class Part {
  readonly name: string;
  readonly #root: string;
  readonly #words: readonly string[];
  #child: ChildProcess | null = null;
  kills = 0;

  constructor(name: string, root: string, words: readonly string[]) {
    this.name = name;
    this.#root = root;
    this.#words = words;
    onTestFinished(() => this.end());
  }

  start(): void {
    this.#child = spawn(process.execPath, [cliPath(), ...this.#words], { cwd: this.#root, stdio: 'ignore' });
  }

  async kill(): Promise<void> {
    // One that ended by itself was not killed.
    if (!this.#isRunning()) throw new Error(`${this.name} has ended`);
    await this.end();
    this.kills += 1;
  }

  async end(): Promise<void> {
    const child = this.#child;
    if (child === null || !this.#isRunning()) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  #isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Makes a mark on any host: the same file, at the same place. */
export function writeMarking(root: string): string {
  const script = join(root, 'mark.sh');
  const path = join(root, 'marks');
  writeFileSync(script, SCRIPT, { mode: 0o755 });
  writeRegistry(root, registryOf(script, path));
  return path;
}

/**
 * Load over HTTP while the services and executors of all hosts are killed. What was acknowledged is there, nothing ran twice, and
 * nothing ran at an executor that it was not for.
 */
export async function soakService(
  hosts: readonly [Host, ...Host[]],
  path: string,
  { seconds, kills, callers }: SoakSize,
): Promise<SoakTold> {
  const [p] = hosts;
  const { token } = await withToken(p, 'bot');
  const ports = await Promise.all(hosts.map(freePort));
  const services = ports.map((port) => ({ address: `http://localhost:${port}` }));
  const parts = hosts.flatMap(({ root, executor }, i) => [
    new Part(`service ${i + 1}`, root, ['serve', '--no-execute', '--port', String(ports[i])]),
    new Part(`executor ${executor}`, root, ['execute', '--parallel', '2']),
  ]);
  const addressees = hosts.length === 1 ? [null] : [null, ...hosts.map(({ executor }) => executor)];
  for (const part of parts) part.start();
  const until_ms = performance.now() + seconds * 1000;
  let killed = 0;
  let over = 0;
  const isOver = () => performance.now() > until_ms && killed >= kills;
  const asked: Asked[] = [];
  const answers = { resolved: 0, turned_again: 0, unanswered: 0 };
  let requests = 0;

  /** Asks again, and another service, until it is answered: after a kill the caller does not know what became of a request. */
  const answered = (route: string, request: object) =>
    until(async () => {
      const at = services[requests++ % services.length]!;
      const told = await call(at, route, request, { token }).catch(() => null);
      if (told?.status === 200) return told.body;
      answers.unanswered += 1;
      if (told !== null) expect([409, 429, 503], told.text).toContain(told.status);
    });
  const propose = async () => {
    const [key, word] = [randomUUID(), randomUUID()];
    const effect = { kind: 'tool', tool: 'mark', arguments: { word } };
    const request = { declared_goal: 'Leave a mark.', effect, idempotency_key: key };
    const { intent_id } = await answered('/v1/intents/propose', request);
    asked.push({ word, intent_id, to: addressees[asked.length % addressees.length]! });
    expect((await answered('/v1/intents/propose', request)).intent_id).toBe(intent_id);
    return asked.find((one) => one.intent_id === intent_id)!;
  };
  /** Turned by a human, and again where the order lapsed while no executor was there. A run in doubt is settled. */
  const ended = async ({ intent_id, word, to }: Asked) => {
    const { intents, runs, host } = p.keyturn;
    const audience = to === null ? {} : { audience: `${host.origin}/${to}` };
    let turns = 0;
    await until(async () => {
      const state = await intents.get({ intent_id });
      const { status, hash, runs: begun } = state;
      if (status === 'succeeded' || status === 'happened' || status === 'failed') return true;
      if (status === 'proposed' || (status === 'approved' && !isOrdered(state))) {
        await intents.turn({ intent_id, hash, ...audience, signer: p.ada });
        if (turns++ > 0) answers.turned_again += 1;
      }
      if (status === 'claimed' && (await isLost(p, intent_id))) {
        const { execution_id } = begun.at(-1)!;
        const outcome = marksIn(path).includes(word) ? 'happened' : 'did_not_happen';
        await runs.resolve({ execution_id, outcome, reason: 'It was killed.', signer: p.ada });
        answers.resolved += 1;
      }
      await answered('/v1/intents/get', { intent_id });
      return false;
    });
  };
  const caller = async () => {
    while (!isOver()) {
      await ended(await propose());
      over += 1;
    }
  };
  /** After each start something is proposed and run again before the next kill, which comes at any moment of the load. */
  const killer = async () => {
    for (; killed < kills; killed += 1) {
      const [proposed, done] = [asked.length + callers, over + 1];
      await until(() => asked.length >= proposed && over >= done);
      const delay_ms = ((seconds * 500) / kills) * (((killed * 7) % 10) / 10) + Math.random() * 50;
      await elapsed(delay_ms, 'the kill comes at any moment');
      const part = parts[killed % parts.length]!;
      await part.kill();
      part.start();
    }
  };
  await Promise.all([killer(), ...Array.from({ length: callers }, caller)]);
  for (const part of parts) await part.end();
  const ran = await requireOnce(p, asked, marksIn(path));
  const killed_each = Object.fromEntries(parts.map((part) => [part.name, part.kills]));
  return { proposals: asked.length, kills: killed, killed: killed_each, ran, ...answers };
}

export interface SoakTold {
  readonly proposals: number;
  readonly kills: number;
  /** How often each service and executor was killed. */
  readonly killed: Readonly<Record<string, number>>;
  /** How many runs each executor claimed. */
  readonly ran: Readonly<Record<string, number>>;
  readonly resolved: number;
  readonly turned_again: number;
  readonly unanswered: number;
}

const marksIn = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []);

function isOrdered({ capabilities }: Result<'intents.get'>): boolean {
  const last = capabilities.at(-1);
  return last?.status === 'ordered' && Date.parse(last.lapses_at) > Date.now();
}

async function isLost({ keyturn }: Project, intent_id: string): Promise<boolean> {
  const { runs } = await keyturn.runs.inDoubt();
  return runs.some((one) => one.intent_id === intent_id && one.state === 'dead');
}

/** Nothing lost, nothing twice, nothing elsewhere, and the ledger verifies from its first entry. */
async function requireOnce({ keyturn }: Project, asked: readonly Asked[], marks: readonly string[]) {
  const { executors } = await keyturn.system.get();
  const names = new Map(executors.map(({ public_key, name }) => [public_key, name]));
  const ran: Record<string, number> = {};
  expect(new Set(marks).size).toBe(marks.length);
  expect(asked.length).toBeGreaterThan(0);
  for (const { intent_id, word, to } of asked) {
    const { status, runs } = await keyturn.intents.get({ intent_id });
    expect(runs).toHaveLength(1);
    expect(marks.includes(word), `${intent_id} ${status} ${JSON.stringify(runs)}`).toBe(status !== 'failed');
    const name = names.get(runs[0]!.executor_key)!;
    ran[name] = (ran[name] ?? 0) + 1;
    if (to !== null) expect(name, intent_id).toBe(to);
  }
  expect(new Set(asked.map(({ intent_id }) => intent_id)).size).toBe(asked.length);
  await keyturn.ledger.verify({ deep: true });
  return ran;
}
