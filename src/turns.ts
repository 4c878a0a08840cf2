import { limits } from './limits.ts';

/** Null while the present turn of the event loop is short; else resolves in the next one, in which timers, children and the network had theirs. */
export type Turns = () => Promise<void> | null;

/**
 * What reads a file waits for nothing, so a caller who asks again and again would keep all others waiting. Asked before each part of long work,
 * this says when to let them go first. All who ask the same one share the turn.
 */
export function turnsOf(most_ms: number = limits.turn_ms): Turns {
  let next: Promise<void> | null = null;
  let since_ms = 0;
  return () => {
    const now_ms = clock_ms();
    if (next !== null) return now_ms - since_ms < most_ms ? null : next;
    since_ms = now_ms;
    next = new Promise((go) => {
      setImmediate(() => {
        next = null;
        go();
      });
    });
    return null;
  };
}

/** Not `performance`, which node would load for a command that reads twice. */
function clock_ms(): number {
  const [s, ns] = process.hrtime();
  return s * 1000 + ns / 1e6;
}
