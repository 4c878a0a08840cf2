import { journeyLimits } from '../limits.ts';

/**
 * One gate for the steps of all journeys. A step is what a caller does between two waits, such as for a commit: a millisecond or more
 * that nothing interrupts. Of many callers that were answered together only so many go on together as fit into one turn of the event
 * loop, by how long the last ones took. A caller that is alone waits for nothing.
 */
export function stepGate(now_ms: () => number = () => performance.now()): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let is_busy = false;
  let since_ms = 0;
  let admitted = 0;

  function admit(count: number): void {
    const group = waiting.splice(0, count);
    since_ms = now_ms();
    admitted = group.length;
    for (const go of group) go();
    whenAllWait();
  }

  /** Once they can do no more without waiting: ticks come after promises. */
  function whenAllWait(): void {
    queueMicrotask(() => process.nextTick(next));
  }

  function next(): void {
    if (waiting.length === 0) {
      is_busy = false;
      return;
    }
    const fitting = Math.floor((admitted * journeyLimits.step_turn_ms) / (now_ms() - since_ms));
    const count = Math.max(1, Math.min(fitting, 2 * admitted, journeyLimits.steps_together));
    // What these steps asked for is committed in one batch, in a turn of its own: the next one.
    setImmediate(() => setImmediate(() => admit(count)));
  }

  return async () => {
    if (is_busy) return new Promise((resolve) => waiting.push(resolve));
    is_busy = true;
    since_ms = now_ms();
    admitted = 1;
    whenAllWait();
  };
}
