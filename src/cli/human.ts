import { readdirSync } from 'node:fs';
import { explain, Keyturn, type Principal, type ReasonCode, Refusal, type Signer } from '../keyturn.ts';
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

const TRIES = 3;

/** A new passphrase, typed twice. One that is weak, or typed differently the second time, can be chosen again. */
export async function newPassphrase(terminal: Terminal, name: string, at: string): Promise<Buffer> {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await choosePassphrase(terminal, name, at);
    } catch (error) {
      if (!(error instanceof Refusal && CHOOSE_AGAIN.has(error.code)) || left === 0) throw error;
      terminal.write(`${error.message} ${explain(error.code).advice}\n`);
    }
  }
}

const CHOOSE_AGAIN: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['PASSPHRASE_WEAK', 'PASSPHRASE_DIFFERS']);

async function choosePassphrase(terminal: Terminal, name: string, at: string): Promise<Buffer> {
  const passphrase = await terminal.askSecret(`New passphrase for ${name}: `);
  try {
    await Keyturn.requirePassphrase(name, at, passphrase);
    const again = await terminal.askSecret('The same again: ');
    const is_same = again.equals(passphrase);
    again.fill(0);
    return is_same ? passphrase : refuse('PASSPHRASE_DIFFERS');
  } catch (error) {
    passphrase.fill(0);
    throw error;
  }
}
