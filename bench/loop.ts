import { readFileSync } from 'node:fs';

const EVERY_MS = 5;

/**
 * Looks how long the process was not to be spoken to. That it waited for a core is the machine's doing, and taken off.
 */
export function longestTurn(): { end(): number } {
  let longest_ms = 0;
  let due_ms = performance.now() + EVERY_MS;
  let waited_ms = waitedForCore();
  const tick = setInterval(() => {
    const [now_ms, so_far_ms] = [performance.now(), waitedForCore()];
    longest_ms = Math.max(longest_ms, now_ms - due_ms - (so_far_ms - waited_ms));
    due_ms = performance.now() + EVERY_MS;
    waited_ms = waitedForCore();
  }, EVERY_MS);
  return {
    end() {
      clearInterval(tick);
      return longest_ms;
    },
  };
}

/** How long the main thread was ready and had no core, in milliseconds. */
function waitedForCore(): number {
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6;
}
