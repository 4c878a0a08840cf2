import { openSync, readSync } from 'node:fs';

const EVERY_MS = 5;

/**
 * Looks how long the process was not to be spoken to. That it waited for a core is the machine's doing, and taken off. One read a
 * look, of a file that stays open: eight processes that look 200 times a second would otherwise spend a part of what is measured on looking.
 */
export function longestTurn(): { end(): number } {
  let longest_ms = 0;
  let due_ms = performance.now() + EVERY_MS;
  let waited_ms = waitedForCore();
  const tick = setInterval(() => {
    const [now_ms, so_far_ms] = [performance.now(), waitedForCore()];
    longest_ms = Math.max(longest_ms, now_ms - due_ms - (so_far_ms - waited_ms));
    due_ms = now_ms + EVERY_MS;
    waited_ms = so_far_ms;
  }, EVERY_MS);
  return {
    end() {
      clearInterval(tick);
      return longest_ms;
    },
  };
}

const SCHEDSTAT = openSync('/proc/self/schedstat', 'r');
const bytes = Buffer.alloc(128);

/** How long the main thread was ready and had no core, in milliseconds. */
function waitedForCore(): number {
  const length = readSync(SCHEDSTAT, bytes, 0, bytes.length, 0);
  return Number(bytes.toString('latin1', 0, length).split(' ')[1]) / 1e6;
}
