import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { started } from './process.ts';

export interface Killed {
  /** How often the effect happened. */
  readonly effects: number;
  readonly said: string;
}

/** The effect is one line in a file. It has happened, and its process has not ended, for as long as `hold` is there. */
const EFFECT = `#!/bin/sh
echo happened >> "$1"
while [ -e "$2" ]; do sleep 0.05; done
`;

const PATIENCE_MS = 30_000;

/** Kills a system between the effect and its record, and lets a new process of it go on. */
export async function killedBetween(
  program: string,
  place: { readonly root: string; readonly url: string | null },
): Promise<Killed> {
  const [script, marks, hold] = ['effect.sh', 'marks', 'hold'].map((name) => `${place.root}-${name}`);
  writeFileSync(script!, EFFECT, { mode: 0o755 });
  writeFileSync(hold!, '');
  const command = [script!, marks!, hold!] as const;
  const first = await started(program, { ...place, command });
  const cut = first.ask({ act: 'journeys', prefix: 'killed', journeys: 1, callers: 1 }).catch(() => 'killed');
  await happened(marks!);
  await first.kill();
  if ((await cut) !== 'killed') throw new Error(`${program} ended before it was killed`);
  rmSync(hold!);
  const second = await started(program, { ...place, command });
  const said = await second.ask({ act: 'recover', name: 'killed-1' });
  await second.close();
  return { effects: readFileSync(marks!, 'utf8').trim().split('\n').length, said };
}

async function happened(marks: string): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  while (!existsSync(marks)) {
    if (Date.now() > until) throw new Error(`no effect after ${PATIENCE_MS / 1000} s`);
    await pause(20);
  }
}
