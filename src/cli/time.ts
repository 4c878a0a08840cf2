import { parseDuration } from '../keyturn.ts';
import { refuse } from '../refusal.ts';

/** A moment as a person types it: a time, a day, or an age such as `2h`. */
export function timeOf(text: string, flag: string): string {
  const at = /^\d{4}-/.test(text) ? Date.parse(text) : Date.now() - ageIn(text, flag) * 1000;
  return Number.isNaN(at) ? refuseTime(flag) : new Date(at).toISOString();
}

function ageIn(text: string, flag: string): number {
  return /^\d/.test(text) ? parseDuration(text) : refuseTime(flag);
}

function refuseTime(flag: string): never {
  return refuse('USAGE', `${flag} takes a time such as 2026-01-31T08:00Z, or an age such as 2h.`);
}
