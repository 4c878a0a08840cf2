/** The helper of `aside.ts`: edits and compares what its parent sends, one after another, and dies with it. */

import { setPriority } from 'node:os';
import { Refusal } from '../../refusal.ts';
import type { AsideTold } from './aside.ts';
import { type AsideWork, doWork } from './work.ts';

// What a service answers meanwhile comes first.
setPriority(5);
process.on('disconnect', () => process.exit());
process.on('message', async (work: AsideWork) => tell(await toldOf(work)));
tell('ready');

async function toldOf(work: AsideWork): Promise<AsideTold> {
  try {
    return { done: await doWork(work) };
  } catch (error) {
    if (!(error instanceof Refusal)) return { fault: String(error) };
    const { code, message, facts } = error;
    return { refusal: { code, message, facts } };
  }
}

function tell(told: AsideTold): void {
  if (process.connected) process.send!(told);
}
