import type { Asking } from '../client/ask.ts';
import { VERBS } from '../face/verbs.ts';
import {
  type Face,
  Keyturn,
  openHeadOf,
  openKeyFile,
  type Passphrase,
  type RemoteLogin,
  readLogin,
  type Signer,
} from '../keyturn.ts';
import { cliLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Route, routesOf } from '../serve/route.ts';
import { acted } from './remote-act.ts';
import { exportedTo } from './remote-export.ts';
import { type AskedRemotely, lookingAt } from './remote-look.ts';
import { askingAt } from './service.ts';

/** The verbs of a service, in the shape of those of a project: what a command asks for, it asks for there. */
export async function openService(address: string) {
  const login = readLogin(address) ?? refuse('LOGIN_MISSING');
  const face = remoteFace(askingAs(login), login);
  const { name, session, key_file } = login;
  if (session !== null) await requireLedger(face, login);
  return {
    ...face,
    service: address,
    ...(session === null && { agent: name }),
    host: { keyFiles: () => new Map<string, string[]>(session === null ? [] : [[name, [key_file]]]) },
    proven: (signer: Signer) =>
      remoteFace(askingAt(address, {}, signing(signer, login.ledger), cliLimits.finish_ms), login),
    unlock: (who: string, passphrase: Passphrase) => unlock(login, who, passphrase),
    close: async () => {},
  };
}

/** A human reads with the session of the login; the key of an agent signs each request. */
function askingAs({ service, ledger, name, session, key_file }: RemoteLogin): Asking {
  if (session === null) return askingAt(service, {}, requestSigner(name, ledger, key_file));
  const { cookie, page, expires_at } = session;
  if (Date.parse(expires_at) <= Date.now()) refuse('LOGIN_MISSING', 'The login is over.');
  const asking = askingAt(service, { cookie, origin: service, 'keyturn-page': page });
  return { ...asking, ask: (...asked) => asking.ask(...asked).catch(loginOver) };
}

function loginOver(error: unknown): never {
  const is_over = error instanceof Refusal && ['TOKEN_INVALID', 'CALLER_UNPROVEN'].includes(error.code);
  if (is_over) refuse('LOGIN_MISSING', 'The login is over: the service ended it, or was started again.');
  throw error;
}

export function requestSigner(name: string, ledger: string, path: string) {
  return signing(Keyturn.agentSigner(name, path), ledger);
}

/** The key signs each request, and each is for this ledger alone. */
export function signing({ name, sign }: Signer, ledger: string) {
  return { name, ledger, sign: async (bytes: Uint8Array) => String((await sign([bytes]))[0]) };
}

/** A head that the pinned key signed: no other ledger has one. */
async function requireLedger({ ledger }: Face, pinned: RemoteLogin): Promise<void> {
  const { text, verifier } = await ledger.head();
  requirePinnedHead(text, verifier, pinned);
}

export function requirePinnedHead(
  text: string,
  verifier: string,
  { ledger, ledger_key }: Pick<RemoteLogin, 'ledger' | 'ledger_key'>,
): void {
  try {
    if (openHeadOf(text, verifier, ledger_key ?? '').origin === ledger) return;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  refuse('LEDGER_OTHER');
}

/** The passphrase opens the key here, and goes nowhere. */
function unlock({ name, key_file }: RemoteLogin, who: string, passphrase: Passphrase): Promise<Signer> {
  if (who !== name)
    refuse('KEY_FILE_INVALID', `This account is logged in as ${name}, and has no key of ${who}.`);
  return openKeyFile(name, key_file, passphrase);
}

type Methods = Record<string, Record<string, (request?: object) => Promise<unknown>>>;

function remoteFace(asking: Asking, login: RemoteLogin): Face {
  const routes = new Map(routesOf().map((route) => [`${route.namespace}.${route.name}`, route]));
  const method =
    (verb: string) =>
    async (request: object = {}) => {
      const route = routes.get(verb) ?? refuse('HOST_ONLY', `A service does not offer ${verb}.`);
      const { asked, signer, holder, signal, to } = partsOf(route, request);
      const acting = { asked, login, ...(holder && { holder }) };
      const answer =
        signer === undefined
          ? await asking.ask(route.path, asked, signal ? { signal } : {})
          : await acted(asking, route, { ...acting, signer, seen: looking.seenFor(verb, asked) });
      return told(route, to ? await exportedTo(to, answer, asked, login) : answer);
    };
  const methods: Methods = {};
  for (const [namespace, verbs] of Object.entries(VERBS))
    methods[namespace] = Object.fromEntries(
      Object.keys(verbs).map((name) => [name, method(`${namespace}.${name}`)]),
    );
  const looking = lookingAt(methods as unknown as Face, login);
  return looking.face;
}

interface Parts {
  readonly asked: AskedRemotely;
  readonly signer?: Signer;
  readonly holder?: Signer;
  readonly signal?: AbortSignal;
  readonly to?: (chunks: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** What is JSON of a request, and what belongs to this process. */
function partsOf({ verb }: Route, request: object): Parts {
  const here = new Set<string>(verb.here);
  const entries = Object.entries(request).filter(([, value]) => value !== undefined);
  const local = Object.fromEntries(entries.filter(([name]) => here.has(name)));
  // A wait takes as long as it takes, and so do the bytes of a stream.
  const wait = ['signal', 'to'].some((name) => here.has(name)) && { signal: new AbortController().signal };
  return { asked: Object.fromEntries(entries.filter(([name]) => !here.has(name))), ...wait, ...local };
}

/** An answer that is not what its verb says is none. */
function told({ verb, path }: Route, answer: unknown): unknown {
  const parsed = verb.output().safeParse(answer);
  return parsed.success
    ? parsed.data
    : refuse('SERVICE_FOREIGN', `The answer of ${path} is not one of this version.`);
}
