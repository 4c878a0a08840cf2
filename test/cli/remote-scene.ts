import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliPath, type Finished, keyturn } from '../support/pty.ts';
import { PASSPHRASE, type Project, type Talk, talkAt } from './project.ts';

type Turn = readonly [question: string, answer: string];

export const SECRET: Turn = ['Passphrase of alice: ', PASSPHRASE];

/** A machine without a project, whose person has a key file and asks a service elsewhere. */
export interface Laptop {
  readonly folder: string;
  run(...words: string[]): Promise<Finished>;
  talk(words: readonly string[], ...turns: Turn[]): Promise<Talk>;
  /** Logs alice in, who compares the key of the ledger. */
  login(): Promise<Talk>;
}

export interface Served {
  readonly child: ChildProcess;
  readonly address: string;
}

/** `keyturn serve`, once it listens. */
export async function served({ folder }: Pick<Project, 'folder'>, port = '0'): Promise<Served> {
  const child = spawn(process.execPath, [cliPath(), 'serve', '--port', port, '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [line] = await once(child.stdout, 'data');
  const { address } = JSON.parse(String(line)).result as { address: string };
  return { child, address };
}

export async function ended({ child }: Served): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

export function laptop(project: Project, folder: string, address: () => string): Laptop {
  const where = () => ({ cwd: folder, env: { KEYTURN_SERVICE: address() } });
  copyFileSync(join(project.folder, '.keyturn', 'keys', 'alice.json'), join(folder, 'alice.json'));
  const talk: Laptop['talk'] = (words, ...turns) => talkAt(where(), words, ...turns);
  return {
    folder,
    run: (...words) => keyturn(words, where()),
    talk,
    login: async () => {
      const { key } = await project.inside(({ ledger }) => ledger.head());
      const told = key.slice('sha256:'.length).slice(0, 16);
      return talk(['login', '--as', 'alice', '--key', 'alice.json'], SECRET, ['told you: ', told]);
    },
  };
}
