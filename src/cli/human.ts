import { readdirSync } from 'node:fs';
import type { Keyturn, Principal, Signer } from '../keyturn.ts';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { showAll } from './pager.ts';
import { atTerminal, type Terminal } from './terminal.ts';

/** The human who acts: the one that was named, or the only one whose key is here. */
export async function whoActs(keyturn: Keyturn, as: string | undefined): Promise<string> {
  const principals = await keyturn.principals();
  if (as !== undefined) return requireHuman(principals, as);
  const here = new Set(keyNames(keyturn));
  const humans = principals.filter(({ kind, status }) => kind === 'human' && status === 'active');
  const names = humans.map(({ name }) => name).filter((name) => here.has(name));
  if (names.length === 0) refuse('KEY_FILE_INVALID', 'No human of this project has a key file here.');
  if (names.length > 1)
    refuse('USAGE', `Several humans have a key here (${names.join(', ')}): name one with --as.`);
  return names[0]!;
}

/** Before a passphrase is typed. The store looks again, at the key that signs. */
function requireHuman(principals: readonly Principal[], name: string): string {
  const found = principals.find((principal) => principal.name === name);
  if (!found) refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (found.kind !== 'human') refuse('NOT_HUMAN', `"${name}" is an agent. Agents only propose.`);
  if (found.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  return name;
}

function keyNames(keyturn: Keyturn): string[] {
  return readdirSync(keyturn.layout.keys)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length));
}

/** Unlocks a key for one act. There is one try: whoever guesses has to start again. */
export async function unlock(keyturn: Keyturn, terminal: Terminal, name: string): Promise<Signer> {
  return keyturn.unlock(name, await terminal.askSecret(`Passphrase of ${name}: `));
}

/** One act of one human, at the terminal: what it is about, then the passphrase, then the act. */
export function actAs<T>(
  keyturn: Keyturn,
  name: string,
  act: (signer: Signer) => Promise<T>,
  show: (columns: number) => readonly string[] = () => [],
): Promise<T> {
  return atTerminal(async (terminal) => {
    await showAll(terminal, show(terminal.columns));
    return act(await unlock(keyturn, terminal, name));
  });
}

export async function newPassphrase(terminal: Terminal, name: string): Promise<string> {
  const passphrase = await terminal.askSecret(`New passphrase for ${name}: `);
  if (passphrase.length < limits.passphrase_chars_min) refuse('PASSPHRASE_WEAK');
  if (passphrase !== (await terminal.askSecret('The same again: ')))
    refuse('PASSPHRASE_WRONG', 'The two passphrases are not the same.');
  return passphrase;
}
