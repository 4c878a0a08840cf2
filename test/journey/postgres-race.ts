import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Postgres } from '../store/postgres-place.ts';
import { newestOf } from '../support/ledger.ts';
import { shared } from './postgres-host.ts';

const CHILD = fileURLToPath(new URL('../support/run-many-child.mjs', import.meta.url));

const TOOLS = `version: 1
tools:
  - name: mark
    summary: Appends a word to a file, so that every run can be counted.
    executable: ./mark.sh
    args: ["{word}"]
    parameters: { word: { type: string, max_length: 20 } }
    sandbox: none
    undo: none
`;

/** So many processes try to run each of so many intents, all over one PostgreSQL. Each effect happens once. */
export async function race(server: Postgres, processes: number, intents: number): Promise<void> {
  const p = await shared(server, `race-${processes}-${intents}`, TOOLS);
  const marks = join(p.root, 'marks');
  writeFileSync(join(p.root, 'mark.sh'), `#!/bin/sh\necho "$1" >> "${marks}"\n`, { mode: 0o755 });
  const ready: [string, string][] = [];
  for (let i = 0; i < intents; i++) {
    const effect = { kind: 'tool' as const, tool: 'mark', arguments: { word: `word-${i}` } };
    const { intent_id, hash } = await p.keyturn.intents.propose({ declared_goal: 'Leave a mark', effect });
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada, ttl_s: 900, is_issued: true });
    ready.push([intent_id, hash]);
  }
  const list = join(p.root, 'intents.json');
  writeFileSync(list, JSON.stringify(ready));

  const answers = await together(processes, p.root, list);
  const count = (of: string) => answers.reduce((sum, one) => sum + (one[of] ?? 0), 0);
  expect(count('success')).toBe(intents);
  expect(count('CLAIM_TAKEN') + count('RUN_IN_DOUBT') + count('ALREADY_EXECUTED')).toBe(
    intents * (processes - 1),
  );
  const words = readFileSync(marks, 'utf8').trimEnd().split('\n');
  expect(words.toSorted()).toEqual(Array.from({ length: intents }, (_, i) => `word-${i}`).toSorted());

  const { size } = await p.keyturn.ledger.verify({ deep: true });
  // A gap would be an entry that is missing, and each attempt left exactly one entry or two.
  const kinds = new Map<string, number>();
  for (const { kind } of await newestOf(p.keyturn, size)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  expect(kinds.get('execution.claimed')).toBe(intents);
  expect(kinds.get('execution.finished')).toBe(intents);
  expect(kinds.get('execution.refused')).toBe(intents * (processes - 1));
  expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
}

async function together(processes: number, root: string, list: string): Promise<Record<string, number>[]> {
  const racers = Array.from({ length: processes }, () => racer(root, list));
  await Promise.all(racers.map(({ ready }) => ready));
  for (const { child } of racers) child.stdin.end();
  return Promise.all(racers.map(({ answer }) => answer));
}

function racer(root: string, list: string) {
  const child = spawn(process.execPath, [CHILD, root, list], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const ready = once(child.stdout, 'data');
  const answer = once(child, 'close').then(
    () => JSON.parse(said.slice('ready\n'.length)) as Record<string, number>,
  );
  return { child, ready, answer };
}
