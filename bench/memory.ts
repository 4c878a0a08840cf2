import { readFileSync } from 'node:fs';

/**
 * The most memory that this process held since its program began. `maxRSS` of `process.resourceUsage` is no less than that of the
 * process that started it: Linux counts what was there before the program was replaced.
 */
export function peakMb(): number {
  const [, kb] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  if (kb === undefined) throw new Error('Linux does not tell how much memory this process held.');
  return Number(kb) / 1024;
}
