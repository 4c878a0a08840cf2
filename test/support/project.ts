import './older-face.ts';
import './answers.ts';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Signer } from '../../src/identity/act.ts';
import type { Keyturn } from '../../src/keyturn.ts';
import { type Founding, found, type Project } from './found.ts';
import { freshFolder, scratch } from './scratch.ts';

export { found, steady, writeRegistry } from './found.ts';
export { PASSPHRASE } from './keys.ts';
export type { Project };

/** The same in a fresh folder, for one test. */
export async function project(
  registry: string,
  clock?: () => Date,
  config?: string,
  which?: number,
): Promise<Project> {
  const root = scratch();
  if (config !== undefined) writeFileSync(join(root, 'keyturn.yaml'), `version: 1\n${config}\n`);
  const p = await found(root, { registry, clock, which });
  onTestFinished(() => p.keyturn.close());
  return p;
}

/** The same for all tests of a file, which `furnish` takes. */
export function projectOfFile(furnish: (p: Project) => Promise<void>, founding: Founding = {}): void {
  const root = freshFolder('keyturn-file-');
  let keyturn: Keyturn | undefined;
  beforeAll(async () => {
    const made = await found(root, founding);
    keyturn = made.keyturn;
    await furnish(made);
  }, 600_000);
  afterAll(async () => {
    await keyturn?.close();
    rmSync(root, { recursive: true, force: true });
  });
}

export interface Intent {
  readonly intent_id: string;
  readonly hash: string;
}

/** Approved by a human, and granted a capability for its next attempt: it may run now. */
export async function ready(p: Project, intent: Intent, approver: Signer = p.ada): Promise<void> {
  const { intent_id, hash } = intent;
  await p.keyturn.intents.approve({ intent_id, hash, signer: approver });
  await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
}

/** A capability for the attempt that may run next. Returns its token. */
export async function granted({ keyturn, ada }: Project, { intent_id, hash }: Intent): Promise<string> {
  return (await keyturn.intents.grant({ intent_id, hash, signer: ada, is_issued: true })).token!;
}

/** The executor's own file of a project. */
export function writeSecrets(root: string, secrets: object, mode = 0o600): string {
  const path = join(root, '.keyturn', 'executor.yaml');
  writeFileSync(path, JSON.stringify({ version: 1, secrets }));
  chmodSync(path, mode);
  return path;
}

/** Two tools without a sandbox: what the sandbox does is shown in test/effect. */
export const TOOLS = `version: 1
tools:
  - name: say
    summary: Prints a word.
    executable: /usr/bin/printf
    args: ["%s\\\\n", "{word}"]
    parameters: { word: { type: string, max_length: 100 } }
    sandbox: none
    undo: none
  - name: mark
    summary: Appends a line to a file, so that every run can be counted.
    executable: ./mark.sh
    args: ["{file}"]
    parameters: { file: { type: path } }
    sandbox: none
    undo: none
  - name: fail
    summary: Fails.
    executable: /usr/bin/false
    sandbox: none
    undo: none
`;

/** A tool whose runs can be counted. */
export function writeMark(root: string): void {
  writeFileSync(join(root, 'mark.sh'), '#!/bin/sh\necho ran >> "$1"\n', { mode: 0o755 });
}
