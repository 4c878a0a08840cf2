import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { agent, yes } from '../journey/authority.ts';
import { until } from './processes.ts';
import { type Project, project } from './project.ts';
import { runSeen } from './seen.ts';

const GREETING = `executable: /usr/bin/printf
    args: ["Hello, %s!\\\\n", "{name}"]`;

const registry = (greet: string) => `version: 1
tools:
  - name: greet
    summary: Prints a greeting.
    ${greet}
    parameters: { name: { type: string } }
    sandbox: {}
    undo: none
  - name: backup
    summary: Copies one file of data/ into backups/.
    executable: /bin/cp
    args: ["--", "{file}", "backups/"]
    parameters: { file: { type: path } }
    sandbox: { read: [data], write: [backups] }
    undo: none
`;

/** The project of a newcomer who has read as far as the examples. With a script, `greet` runs that. */
export async function newcomer(script?: string): Promise<Project> {
  const greet = `executable: /bin/sh\n    args: ["-c", "${script}", "{name}"]`;
  const p = await project(registry(script === undefined ? GREETING : greet));
  for (const name of ['data', 'backups']) mkdirSync(join(p.root, name));
  writeFileSync(join(p.root, 'data/numbers.txt'), '42\n');
  await agent(p, 'bot');
  return p;
}

/** What a human does at another terminal: waits for the next proposal, and turns its key. */
export async function turnNext(p: Project): Promise<void> {
  const { intent_id, hash } = await nextOf(p);
  await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
  await runSeen(p.keyturn, { intent_id, hash, confirm: yes });
}

/** The newest proposal that waits, once there is one. */
export async function nextOf({ keyturn }: Project): Promise<{ intent_id: string; hash: string }> {
  let next: { intent_id: string; hash: string } | undefined;
  await until(async () => {
    const [found] = (await keyturn.intents.list({ status_word: 'waiting' })).intents;
    if (found) next = { intent_id: found.intent_id, hash: found.hash };
    return next !== undefined;
  });
  return next!;
}

/** A program in the folder of a project. */
export function started(p: Project, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: p.root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let said = '';
  const first = new Promise<string>((line) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('\n')) line(said.split('\n')[0]!);
    });
  });
  const ended = new Promise<{ code: number | null; said: string }>((done) =>
    child.on('close', (code) => done({ code, said })),
  );
  return { child, first, ended };
}
