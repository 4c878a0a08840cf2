import { resolve } from 'node:path';
import { visible } from '../../canonical/visible.ts';
import type { Asking, OpenedSession } from '../../client/ask.ts';
import {
  keepLogin,
  openKeyFile,
  type RemoteLogin,
  readLogin,
  removeLogin,
  requireKeyFile,
  requireName,
  type Result as Verb,
} from '../../keyturn.ts';
import { Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { withTries } from '../question.ts';
import { requestSigner, requirePinnedHead, signing } from '../remote.ts';
import type { Result } from '../schema.ts';
import { askingAt, serviceOf } from '../service.ts';
import { fields } from '../table.ts';
import { atTerminal } from '../terminal.ts';
import { requireFingerprint } from './join.ts';

/** Who this account is at a service. The key stays where it is, and what opens it is typed for each act. */
export async function login(call: Call): Promise<Answer> {
  const { key, agentKey } = call.options;
  const name = call.options.as!;
  requireName(name);
  const service = named(call);
  if ((key === undefined) === (agentKey === undefined))
    refuse('USAGE', 'Name the key file of a human with --key, or that of an agent with --agent-key.');
  if (key !== undefined) requireKeyFile(name, resolve(key));
  const known = readLogin(service);
  const ledger = await ledgerAt(service, name);
  if (known !== null && known.ledger !== ledger) refuse('LEDGER_OTHER');
  const who = { service, name, ledger, key_file: resolve(key ?? agentKey!) };
  const kept = agentKey === undefined ? await asHuman(who, known) : await asAgent(who);
  keepLogin(kept);
  const notes = known === null || known.name === name ? [] : [`This replaces the login of ${known.name}.`];
  return { result: resultOf(kept), lines: toldOf(kept), notes };
}

function named(call: Call): string {
  return serviceOf(call) ?? refuse('USAGE', 'Name the service with --service.');
}

type Who = Pick<RemoteLogin, 'service' | 'name' | 'ledger' | 'key_file'>;

const UNSIGNED = Buffer.alloc(64).toString('base64');

/** Which ledger a service has. It says so to who signs for another one, before it looks at the signature. */
async function ledgerAt(service: string, name: string): Promise<string> {
  const asking = askingAt(service, {}, { name, ledger: '', sign: () => UNSIGNED });
  try {
    await asking.open({}, {});
  } catch (error) {
    const ledger =
      error instanceof Refusal && error.code === 'MESSAGE_SIGNATURE_INVALID' && error.facts.ledger;
    if (typeof ledger === 'string') return ledger;
    throw error;
  }
  return refuse('SERVICE_FOREIGN', `${service} accepts a request without a valid signature.`);
}

/** The human compares the key of the ledger once. A later login has to find the same. */
function asHuman(who: Who, known: RemoteLogin | null): Promise<RemoteLogin> {
  const { service, name, ledger, key_file } = who;
  return atTerminal(async (terminal) => {
    const signer = await withTries(terminal, ['PASSPHRASE_WRONG'], async () =>
      openKeyFile(name, key_file, await terminal.askSecret(`Passphrase of ${name}: `)),
    );
    const session = await askingAt(service, {}, signing(signer, ledger)).open({}, {});
    const asking = withSession(service, session);
    const head = (await asking.ask('/v1/ledger/head', {}, {})) as Verb<'ledger.head'>;
    const ledger_key = known?.ledger_key ?? head.key;
    requirePinnedHead(head.text, head.verifier, { ledger, ledger_key });
    if (known?.ledger_key !== head.key)
      await requireFingerprint(terminal, head.key, [
        ['Service', service],
        ['Ledger', visible(ledger)],
        ['Entries', String(head.size)],
      ]);
    return { ...who, ledger_key, session };
  });
}

function withSession(service: string, { cookie, page }: Pick<OpenedSession, 'cookie' | 'page'>): Asking {
  return askingAt(service, { cookie, origin: service, 'keyturn-page': page });
}

/** The key signs each request, and each is for this ledger alone. */
async function asAgent(who: Who): Promise<RemoteLogin> {
  const { service, name, ledger, key_file } = who;
  await askingAt(service, {}, requestSigner(name, ledger, key_file)).ask('/v1/tools/list', {}, {});
  return { ...who, ledger_key: null, session: null };
}

function resultOf({ service, name, ledger, ledger_key, session }: RemoteLogin): Result<'login'> {
  return { service, name, ledger, ledger_key, expires_at: session?.expires_at ?? null };
}

function toldOf({ service, name, ledger, session }: RemoteLogin): string[] {
  return [
    `[OK] ${name} is logged in at ${service}`,
    ...fields([
      ['Ledger', visible(ledger)],
      ...(session === null ? [] : ([['Reads until', session.expires_at]] as const)),
      ['Next', `keyturn status --service ${service}`],
    ]),
  ];
}

/** Here it ends in any case. Where the service does not answer, its session ends by itself within 12 hours. */
export async function logout(call: Call): Promise<Answer> {
  const service = named(call);
  const { name, session } = readLogin(service) ?? refuse('LOGIN_MISSING');
  const notes: string[] = [];
  if (session !== null)
    await withSession(service, session)
      .end({})
      .catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        if (error.code !== 'TOKEN_INVALID') notes.push(`The service was not told: ${error.message}`);
      });
  removeLogin(service);
  const result: Result<'logout'> = { service, name };
  return { result, lines: [`[OK] ${name} is logged out at ${service}`], notes };
}
