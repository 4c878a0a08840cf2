import { refuse } from '../refusal.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `90s`, `15m`, `2h`, `7d`. */
export function parseDuration(text: string): number {
  const match = /^([1-9][0-9]{0,8})([smhd])$/.exec(text);
  if (!match)
    refuse('TIME_MALFORMED', `"${text.slice(0, 40)}" is not a duration such as 30s, 15m, 2h or 7d.`);
  return Number(match[1]) * UNITS[match[2]!]!;
}
