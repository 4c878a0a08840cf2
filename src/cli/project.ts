import { type Face, Keyturn, type Signer } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Answer, Call } from './answer.ts';
import { say } from './say.ts';
import { serviceOf } from './service.ts';

/** What a command works with: every verb, of the project on this machine or of a service, and the key files of who acts. */
export interface Opened
  extends Face,
    Pick<Keyturn, 'unlock' | 'close'>,
    Partial<Pick<Keyturn, 'layout' | 'config'>> {
  /** New keys of humans are kept with the project: a service keeps none. */
  readonly host: Pick<Keyturn['host'], 'keyFiles'> & Partial<Pick<Keyturn['host'], 'createKey'>>;
  /** At a service: the agent that is logged in there, whose key signs each request. Absent where a human is. */
  readonly agent?: string;
  /** At a service: the verbs in requests that this key signs. A login alone only reads. */
  readonly proven?: (signer: Signer) => Face;
  /** The address of the service; absent for the project on this machine. */
  readonly service?: string;
}

/** A command for the reader to run next. It goes where this one went. */
export function nextAt({ service }: Pick<Opened, 'service'>, command: string): string {
  return service === undefined ? command : `${command} --service ${service}`;
}

/** Why a command that only signs is not for a service, and what is done in its place. */
const INSTEAD: Readonly<Record<string, readonly string[]>> = {
  'credential add': [
    'Which passkey a browser made, this machine would know from the service alone.',
    'Make a key file here with --key-out in place of --passkey; or sign for the passkey on the host, or with another passkey in the console, under People.',
  ],
};

/** The folder of the project. What needs it is done on its host, and not by a service. */
export function folderOf(call: Call): string {
  const service = serviceOf(call);
  if (service !== null) {
    const words = `\`keyturn ${call.command}\` is not for a service, and ${service} is named.`;
    refuse('HOST_ONLY', [words, ...(INSTEAD[call.command] ?? [])].join(' '));
  }
  return call.options.project ?? process.cwd();
}

/** Opens the project, or the service, to look at it. No row is written. */
export async function reading(call: Call, act: (keyturn: Opened) => Promise<Answer>): Promise<Answer> {
  const service = serviceOf(call);
  return service === null ? readingHere(call, act) : atService(service, act);
}

/** Opens the project, or the service, to change it. */
export async function writing(call: Call, act: (keyturn: Opened) => Promise<Answer>): Promise<Answer> {
  const service = serviceOf(call);
  return service === null ? writingHere(call, act) : atService(service, act);
}

/** For what only the host of a project can do. */
export async function readingHere(call: Call, act: (keyturn: Keyturn) => Promise<Answer>): Promise<Answer> {
  return closingProject(await Keyturn.open({ at: folderOf(call), mode: 'read' }), act);
}

/** The same, to change it: it says first what a crash may have left behind. */
export async function writingHere(call: Call, act: (keyturn: Keyturn) => Promise<Answer>): Promise<Answer> {
  return closingProject(await Keyturn.open({ at: folderOf(call) }), async (keyturn) => {
    if (!call.options.json) await mentionDoubt(keyturn);
    return act(keyturn);
  });
}

async function atService(address: string, act: (keyturn: Opened) => Promise<Answer>): Promise<Answer> {
  return act(await (await import('./remote.ts')).openService(address));
}

export async function closingProject(
  keyturn: Keyturn,
  act: (keyturn: Keyturn) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await act(keyturn);
  } finally {
    await keyturn.close();
  }
}

async function mentionDoubt(keyturn: Keyturn): Promise<void> {
  const runs = (await keyturn.runs.inDoubt()).runs.filter(
    ({ status_word }) => status_word === 'IN DOUBT',
  ).length;
  if (runs > 0) say(2, `${runs === 1 ? '1 run is' : `${runs} runs are`} in doubt: see \`keyturn status\`.`);
}
