import { refuse } from '../refusal.ts';

export function other(what: string): never {
  return refuse(
    'ACT_OTHER',
    `The service asks for a signature on something other than what was shown: ${what}.`,
  );
}
