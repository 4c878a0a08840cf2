import type { Approval } from './state.ts';

/**
 * Who counts as having approved. One who signs twice counts once. What was approved by delegation stands for one person and
 * only where nobody signed: otherwise somebody could approve once in their own name and once in that of another.
 */
export function signersOf(approvals: readonly Approval[]): string[] {
  const own = approvals.filter(({ delegation }) => delegation === null);
  const counted = own.length > 0 ? own : approvals.slice(0, 1);
  return [...new Set(counted.map(({ by }) => by))].sort();
}
