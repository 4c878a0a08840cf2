import { resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { inTerminal, type Session } from '../support/pty.ts';

export const START = resolve(import.meta.dirname, '../../scripts/start.mjs');
export const PASSPHRASE = 'quiet river stone lamp';

export const CLI = resolve(START, '../../dist/cli.cjs');

export function atTerminal(words: readonly string[], cwd: string): Session {
  const session = inTerminal(words, { cwd, program: process.execPath });
  onTestFinished(() => session.kill());
  return session;
}

/** `npm start`, at a terminal, with a playground of its own. */
export const start = (at: string) => atTerminal([START, '--at', at, '--port', '0'], at);

/** The same for the first time, until it has said all. */
export async function startNew(at: string): Promise<Session> {
  const session = start(at);
  for (const question of ['New passphrase for you: ', 'The same again: ', 'Passphrase of you: ']) {
    await session.expect(question);
    session.type(PASSPHRASE);
  }
  await session.expect('Ctrl-C stops the service.');
  return session;
}

/** A command as it says it, run as it stands; one word in quotes is one word. */
export function said({ text }: Session, at: string, verb: string): Session {
  const [, line] = new RegExp(`^ {2}node (\\S+ ${verb}.*?)\\s*$`, 'm').exec(text)!;
  const [cli, ...words] = line!.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  return atTerminal([resolve(START, '../..', cli!), ...words], at);
}

/** The command that it says, for the proposal with these words. */
export function turn({ text }: Session, at: string, words: string): Session {
  const [, command, project] = /^ {2}node (\S+) turn --project (\S+)$/m.exec(text)!;
  const [, id] = new RegExp(`^ {2}waits +(\\S+) {2}${words}`, 'm').exec(text)!;
  return atTerminal([resolve(START, '../..', command!), 'turn', id!, '--project', project!], at);
}

export async function sayYes(session: Session): Promise<void> {
  await session.expect('Turn the key? (y/n) ');
  session.type('y');
  await session.expect('Passphrase of you: ');
  session.type(PASSPHRASE);
}

export async function stopped(session: Session): Promise<number> {
  session.press('\x03');
  await session.expect('[OK] Stopped');
  return session.exited;
}
