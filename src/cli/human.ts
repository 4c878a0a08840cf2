import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  activeCredentials,
  chooserOf,
  elsewhere,
  type Face,
  type IntentState,
  type Principal,
  type ReasonCode,
  rehearseAct,
  requirePassphrase,
  type Signer,
} from '../keyturn.ts';
import { limits } from '../limits.ts';
import { explain, refuse } from '../refusal.ts';
import { showAll } from './pager.ts';
import type { Opened } from './project.ts';
import { tellAt, withTries } from './question.ts';
import { atTerminal, type Terminal } from './terminal.ts';

/** The human who acts: the one that was named, or the only one whose key is here. */
export async function whoActs(keyturn: Opened, as: string | undefined): Promise<string> {
  const principals = (await keyturn.people.list()).principals;
  if (as !== undefined) return requireHuman(principals, as);
  const names = namesHere(keyturn, principals);
  if (names.length === 0) refuse('KEY_FILE_INVALID', 'No human of this project has a key file here.');
  if (names.length > 1)
    refuse('USAGE', `Several humans have a key here (${names.join(', ')}): name one with --as.`);
  return names[0]!;
}

/** The one human with a key here; null where there are several, or none. */
export async function onlyHere(keyturn: Opened): Promise<string | null> {
  const [name, ...others] = namesHere(keyturn, (await keyturn.people.list()).principals);
  return name === undefined || others.length > 0 ? null : name;
}

function namesHere(keyturn: Opened, principals: readonly Principal[]): string[] {
  const here = keyturn.host.keyFiles();
  const humans = principals.filter(({ kind, status }) => kind === 'human' && status === 'active');
  return humans.map(({ name }) => name).filter((name) => here.has(name));
}

/** Before a passphrase is typed. The store looks again, at the key that signs. */
function requireHuman(principals: readonly Principal[], name: string): string {
  const found = principals.find((principal) => principal.name === name);
  if (!found) refuse('PRINCIPAL_UNKNOWN', `"${name}" is not enrolled.`);
  if (found.kind !== 'human') refuse('NOT_HUMAN', `"${name}" is an agent. Agents only propose.`);
  if (found.status === 'revoked') refuse('KEY_REVOKED', `"${name}" was revoked.`);
  return name;
}

/** Refuses before anything is typed what would be refused after it. Otherwise answers whether the signature approves. */
export async function requirePossible(
  keyturn: Opened,
  { intent_id, hash }: Pick<IntentState, 'intent_id' | 'hash'>,
  by: string,
  act: 'approve' | 'turn' | 'break_glass',
): Promise<boolean> {
  const { code, words, approves } = await keyturn.intents.whatIf({ intent_id, hash, by, act });
  return code === null ? approves : refuse(code as ReasonCode, words ?? undefined);
}

/** An act of one human of which nothing that can be known stands against. */
export interface Possible<T> {
  readonly name: string;
  readonly act: Act<T>;
}

type Act<T> = (signer: Signer) => Promise<T>;

/**
 * Refuses before anything is typed what would be refused after it: the act is rehearsed, up to what its commit looks at. `like` stands for an
 * act that cannot be rehearsed as it is, because it asks for something or makes a key.
 */
export async function possible<T>(
  keyturn: Opened,
  name: string,
  act: Act<T>,
  like: Act<unknown> = act,
): Promise<Possible<T>> {
  const person = (await keyturn.people.list()).principals.find((one) => one.name === name);
  const key = person && activeCredentials(person).find(({ kind }) => kind === 'key');
  // Without an enrolled key there is nothing to rehearse with: opening the key file says why.
  if (key) await rehearseAct({ name, public_key: key.public_key }, like);
  return { name, act };
}

/** Unlocks a key for an act that is possible, and for no other. A passphrase that does not open it can be typed again. */
export function unlock(
  keyturn: Opened,
  terminal: Terminal,
  { name }: Pick<Possible<unknown>, 'name'>,
): Promise<Signer> {
  return withTries(terminal, ['PASSPHRASE_WRONG'], async () =>
    keyturn.unlock(name, await terminal.askSecret(`Passphrase of ${name}: `)),
  );
}

/** At a service the key of the human signs each request: the session of a login only reads. */
export async function provenBy(keyturn: Opened, as: string | undefined): Promise<Face> {
  if (!keyturn.proven) return keyturn;
  const name = as ?? (await whoActs(keyturn, undefined));
  return keyturn.proven(await atTerminal((terminal) => unlock(keyturn, terminal, { name })));
}

export async function signAsked<T>(keyturn: Opened, terminal: Terminal, act: Possible<T>): Promise<T> {
  return act.act(await unlock(keyturn, terminal, act));
}

/** One act of one human, at the terminal: what it is about, then the passphrase, then the act. */
export async function actAs<T>(
  keyturn: Opened,
  name: string,
  act: Act<T>,
  show: (columns: number) => readonly string[] = () => [],
  like: Act<unknown> = act,
): Promise<T> {
  const asked = await possible(keyturn, name, act, like);
  return atTerminal(async (terminal) => {
    await showAll(terminal, show(terminal.columns));
    return signAsked(keyturn, terminal, asked);
  });
}

/** Where the new key of a human is kept: with the project, and where there is none, in a new file. Asked before anything is typed. */
export function requireKeyPlace({ host }: Opened, file: string | undefined): void {
  requireNew(file);
  if (host.createKey && file !== undefined)
    refuse('USAGE', "A human's key is kept in the project: --key-out goes with --agent, or with --service.");
  if (!host.createKey && file === undefined)
    refuse('USAGE', 'The key is made on this machine: say with --key-out FILE where it is kept.');
}

/** A file that can be made: nothing has its name, and its folder is there to write to. */
export function requireNew(file: string | undefined): void {
  if (file === undefined) return;
  if (existsSync(file))
    refuse('WRITE_FAILED', `${file} exists already. It is never overwritten: choose another name.`);
  try {
    // With the dot it has to be a folder.
    accessSync(`${dirname(file)}/.`, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    refuse('WRITE_FAILED', `${file} cannot be made: its folder is missing or not writable (${code}).`);
  }
}

/** A new key of a human, under a new passphrase. Neither the key nor the passphrase leaves this machine. */
export async function newKey(
  { host, layout }: Opened,
  terminal: Terminal,
  name: string,
  file: string | undefined,
): Promise<Signer> {
  if (host.createKey && layout) return host.createKey(name, await newPassphrase(terminal, name, layout.root));
  const path = file ?? refuse('USAGE', 'The new key needs a file.');
  return elsewhere.createKeyFile(name, path, await newPassphrase(terminal, name, dirname(path)));
}

/** A new passphrase, typed twice. One that is weak, or typed differently the second time, can be chosen again. */
export function newPassphrase(terminal: Terminal, name: string, at: string): Promise<Buffer> {
  const rule = `A passphrase has at least ${limits.passphrase_chars_min} characters. ${explain('PASSPHRASE_WEAK').advice}`;
  tellAt(terminal, rule);
  return withTries(terminal, ['PASSPHRASE_WEAK', 'PASSPHRASE_DIFFERS'], () =>
    choosePassphrase(terminal, name, at),
  );
}

async function choosePassphrase(terminal: Terminal, name: string, at: string): Promise<Buffer> {
  const passphrase = await terminal.askSecret(`New passphrase for ${name}: `);
  try {
    await requirePassphrase(passphrase, chooserOf(name, at));
    const again = await terminal.askSecret('The same again: ');
    const is_same = again.equals(passphrase);
    again.fill(0);
    return is_same ? passphrase : refuse('PASSPHRASE_DIFFERS');
  } catch (error) {
    passphrase.fill(0);
    throw error;
  }
}
