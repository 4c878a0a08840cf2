/** The helper of `aside.ts`: does what its parent sends, one work after another, and dies with it. */

import { setPriority } from 'node:os';
import { Refusal } from '../refusal.ts';
import type { AsideTold } from './aside.ts';

export function workAside<Work, Done>(doWork: (work: Work) => Done | Promise<Done>): void {
  // What a service answers meanwhile comes first.
  setPriority(5);
  process.on('disconnect', () => process.exit());
  process.on('message', async (work: Work) => tell(await toldOf(() => doWork(work))));
  tell('ready');
}

async function toldOf<Done>(act: () => Done | Promise<Done>): Promise<AsideTold<Done>> {
  try {
    return { done: await act() };
  } catch (error) {
    if (!(error instanceof Refusal)) return { fault: String(error) };
    const { code, message, facts } = error;
    return { refusal: { code, message, facts } };
  }
}

function tell(told: AsideTold<unknown>): void {
  if (process.connected) process.send!(told);
}
