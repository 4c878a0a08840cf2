import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import type { Postgres } from '../store/postgres-place.ts';
import { entriesAbout } from '../support/ledger.ts';
import { elapsed, until } from '../support/processes.ts';
import { scratch } from '../support/scratch.ts';
import { runSeen } from '../support/seen.ts';
import { type Intent, yes } from './authority.ts';
import { anotherHost, type Shared, shared } from './postgres-host.ts';

/** Takes a moment, so that a server can die before, during and after the effect. */
const tools = (script: string) => `version: 1
tools:
  - name: mark
    summary: Appends a word to a file, so that every run can be counted.
    executable: ${script}
    args: ["{word}"]
    parameters: { word: { type: string, max_length: 20 } }
    cwd: /
    sandbox: none
    undo: none
`;

interface Marked extends Intent {
  readonly word: string;
  readonly answers: string[];
}

/** What a run may say while its server comes and goes. Success is the only one that promises an effect. */
const ANSWERS = [
  'success',
  'partial',
  'ALREADY_EXECUTED',
  'CLAIM_TAKEN',
  'RECORDING_FAILED',
  'RUN_IN_DOUBT',
  'RUN_PARTIAL',
  'STORE_UNREACHABLE',
  'WRITE_FAILED',
];

/** Each kill waits for two that began, and there are some to spare. */
const PER_KILL = 3;

/**
 * One process runs intents, one after the other, while the server is killed and started again, so many times. Then every
 * intent is tried again, here and on another host. What ran was claimed first, and nothing ran twice.
 */
export async function killUnderRuns(postgres: Postgres, kills: number): Promise<void> {
  const { p, marks } = await place(postgres);
  const intents: Marked[] = [];
  for (let i = 0; i < kills * PER_KILL; i += 1) intents.push(await ready(p, `word-${i}`));

  let next = 0;
  let stopped = false;
  let running = false;
  let hit = 0;
  const runner = (async () => {
    while (!stopped && next < intents.length) {
      const one = intents[next]!;
      next += 1;
      running = true;
      await attempt(p.keyturn, one);
      running = false;
    }
  })();
  for (let kill = 0; kill < kills; kill += 1) {
    const before = next;
    await until(() => next >= Math.min(intents.length, before + 2));
    await elapsed(Math.random() * 150, 'the kill comes at any moment of a run');
    if (running) hit += 1;
    await postgres.server.kill();
    await postgres.server.start();
  }
  stopped = true;
  await runner;
  // A run may well survive it: its commits wait for the server.
  expect(hit, 'no kill came during a run').toBeGreaterThan(0);

  const host = await anotherHost(p);
  for (const one of intents)
    for (const keyturn of [p.keyturn, host.keyturn]) if (one.answers.length > 0) await attempt(keyturn, one);
  await requireOnce(p, intents, marks());
}

async function place(postgres: Postgres): Promise<{ p: Shared; marks: () => string[] }> {
  const folder = scratch();
  const [script, path] = [join(folder, 'mark.sh'), join(folder, 'marks')];
  const body = `sleep 0.05; echo "$1" >> "${path}"; sleep 0.05`;
  writeFileSync(script, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const p = await shared(postgres, 'kill-runs', tools(script));
  return { p, marks: () => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []) };
}

async function ready({ keyturn, ada }: Shared, word: string): Promise<Marked> {
  const effect = { kind: 'tool' as const, tool: 'mark', arguments: { word } };
  const { intent_id, hash } = await keyturn.intents.propose({ declared_goal: 'Leave a mark', effect });
  await keyturn.intents.approve({ intent_id, hash, signer: ada });
  await keyturn.intents.grant({ intent_id, hash, signer: ada, ttl_s: 900, is_issued: true });
  return { intent_id, hash, word, answers: [] };
}

async function attempt(keyturn: Keyturn, { intent_id, hash, answers }: Marked): Promise<void> {
  const answer = await runSeen(keyturn, { intent_id, hash, confirm: yes }).then(
    ({ result }): string => result,
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
  answers.push(answer);
}

async function requireOnce(p: Shared, intents: readonly Marked[], marks: readonly string[]): Promise<void> {
  const count = (word: string) => marks.filter((mark) => mark === word).length;
  for (const { intent_id, word, answers } of intents) {
    expect(ANSWERS).toEqual(expect.arrayContaining(answers));
    const kinds = (await entriesAbout(p.keyturn, intent_id)).map(({ kind }) => kind);
    const claims = kinds.filter((kind) => kind === 'execution.claimed').length;
    const told = `${word}: ${answers.join()}; ${kinds.join()}`;
    expect(claims, told).toBeLessThanOrEqual(1);
    expect(count(word), told).toBeLessThanOrEqual(claims);
    expect(answers.filter((answer) => answer === 'success').length, told).toBeLessThanOrEqual(1);
    if (answers.includes('success')) expect(count(word), told).toBe(1);
    // Tried again with the server there, and not claimed: it could only have run.
    if (answers.length > 0) expect(claims, told).toBe(1);
  }
  expect(marks.every((mark) => intents.some(({ word }) => word === mark))).toBe(true);
  await p.keyturn.ledger.verify({ deep: true });
  expect(await p.keyturn.ledger.rebuild({ write: false })).toMatchObject({ differences: [] });
}
