import { expect } from 'vitest';
import { type AgentPlace, agentPlace } from '../agent/agent-place.ts';
import { PASSPHRASE } from '../support/project.ts';
import { type Finished, keyturn } from '../support/pty.ts';
import { type Talk, talkAt, typedCode } from './project.ts';

type Turn = readonly [question: string, answer: string];

/** What ada types. */
export const ADA: Turn = ['Passphrase of ada: ', PASSPHRASE];
export const typing = (hash: string): Turn => ['code to approve it: ', typedCode(hash)];

export interface AgentScene {
  readonly place: () => AgentPlace;
  /** A command without a terminal: the words of a user need none. */
  run(...words: string[]): Promise<Finished>;
  talk(words: readonly string[], ...turns: Turn[]): Promise<Talk>;
}

/** A project with simulations that a human activated, seen from the command line. */
export function agentScene(): AgentScene {
  const place = agentPlace();
  return {
    place,
    run: (...words) => keyturn(words, { cwd: place().root }),
    talk: (words, ...turns) => talkAt({ cwd: place().root }, words, ...turns),
  };
}

/** The id of the conversation, as standard error says it, and what it waits for. */
export function conversationIn({ stderr }: Finished): { id: string; next: string } {
  const id = /^Conversation: (\S+) /m.exec(stderr)?.[1];
  expect(id, stderr).toBeDefined();
  const next = /^Next: (.*)$/m.exec(stderr)?.[1] ?? '';
  return { id: id!, next };
}

/** The command that is printed as the next one, with these words in it. */
export function saying(finished: Finished, words: string): string[] {
  const [command] = conversationIn(finished).next.split(' "…"');
  return [...command!.split(' ').slice(1), words];
}
