import { existsSync } from 'node:fs';
import { runVerifier } from '../effect/verifier.ts';
import type { Verifier } from './check.ts';

/** A verifier of another author, called as 000 calls its own: `CMD <uuid> <hash>`. */
export function externalVerifier(command: string): Verifier {
  // A path as it stands, also with spaces in it; otherwise a program and its first arguments. There is no shell.
  return ({ id, hash }) => runVerifier(existsSync(command) ? [command] : command, id, hash);
}
