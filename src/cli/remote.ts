import { canonicalText, type Json } from '../canonical/json.ts';
import type { Asking } from '../client/ask.ts';
import { VERBS } from '../face/verbs.ts';
import {
  actionOf,
  audienceOf,
  type Draft,
  type ExpectedOfProposer,
  executorIn,
  expectedAct,
  type Face,
  isSealedAs,
  Keyturn,
  neededScope,
  type Passphrase,
  REHEARSED,
  type RemoteLogin,
  type Result,
  readLogin,
  rebuiltAct,
  type Signer,
  sealedProposal,
  withTheirDiffs,
} from '../keyturn.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { actDraft } from '../serve/act.ts';
import { type Route, routesOf } from '../serve/route.ts';
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
    keyFiles: () => new Map<string, string[]>(session === null ? [] : [[name, [key_file]]]),
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
  const signer = Keyturn.agentSigner(name, path);
  return { name, ledger, sign: async (bytes: Uint8Array) => String((await signer.sign([bytes]))[0]) };
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
    if (Keyturn.verifyHead(text, verifier, ledger_key ?? '').origin === ledger) return;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  refuse('LEDGER_OTHER');
}

/** The passphrase opens the key here, and goes nowhere. */
function unlock({ name, key_file }: RemoteLogin, who: string, passphrase: Passphrase): Promise<Signer> {
  if (who !== name)
    refuse('KEY_FILE_INVALID', `This account is logged in as ${name}, and has no key of ${who}.`);
  return Keyturn.openKeyFile(name, key_file, passphrase);
}

type Asked = Readonly<Record<string, Json>>;
type Methods = Record<string, Record<string, (request?: object) => Promise<unknown>>>;

function remoteFace(asking: Asking, login: RemoteLogin): Face {
  const routes = new Map(routesOf().map((route) => [`${route.namespace}.${route.name}`, route]));
  const seen = new Map<string, Seen>();
  const method =
    (verb: string) =>
    async (request: object = {}) => {
      const route = routes.get(verb) ?? refuse('HOST_ONLY', `A service does not offer ${verb}.`);
      const { asked, signer, signal } = partsOf(route, request);
      const answer =
        signer === undefined
          ? await asking.ask(route.path, asked, signal ? { signal } : {})
          : await acted(asking, route, { asked, signer, login, own: seen.get(String(asked.intent_id)) });
      return told(route, answer);
    };
  const face: Methods = {};
  for (const [namespace, verbs] of Object.entries(VERBS))
    face[namespace] = Object.fromEntries(
      Object.keys(verbs).map((name) => [name, method(`${namespace}.${name}`)]),
    );
  const { review, offer } = face.intents!;
  const looked = async (request?: object) => {
    const found = lookedAt((await review!(request)) as Result<'intents.review'>);
    seen.set(found.review.intent.intent_id, found.seen(login));
    return found.review;
  };
  const offering = async (request?: object) => {
    const found = await offered(request!, looked, offer!);
    const { intent_id } = found.intent;
    const { audience, ttl_s } = found;
    const own = seen.get(intent_id)!;
    if ((own.act.audience ?? audience) !== audience) other('the executor');
    seen.set(intent_id, { ...own, offer: { audience, ttl_s } });
    return found;
  };
  face.intents = { ...face.intents, review: looked, offer: offering };
  return face as unknown as Face;
}

interface Parts {
  readonly asked: Asked;
  readonly signer?: Signer;
  readonly signal?: AbortSignal;
}

/** What is JSON of a request, and what belongs to this process. */
function partsOf({ verb }: Route, request: object): Parts {
  const here = new Set<string>(verb.here);
  const entries = Object.entries(request).filter(([, value]) => value !== undefined);
  const local = Object.fromEntries(entries.filter(([name]) => here.has(name)));
  if ('holder' in local) refuse('HOST_ONLY', 'A new key is made where the project is.');
  // A wait takes as long as it takes.
  const wait = here.has('signal') && { signal: new AbortController().signal };
  return { asked: Object.fromEntries(entries.filter(([name]) => !here.has(name))), ...wait, ...local };
}

/** An answer that is not what its verb says is none. */
function told({ verb, path }: Route, answer: unknown): unknown {
  const parsed = verb.output().safeParse(answer);
  return parsed.success
    ? parsed.data
    : refuse('SERVICE_FOREIGN', `The answer of ${path} is not one of this version.`);
}

/** What was shown of an intent, in the words of the act that may follow. */
interface Seen {
  readonly hash: string;
  readonly act: Asked;
  /** What the screen of a grant says unless more was asked for. */
  readonly offer?: Asked;
}

/** What is drawn is made here, from the effect whose digest is signed. Only the diffs of a plan are the service's. */
function lookedAt(review: Result<'intents.review'>) {
  const { intent, envelope, effect } = review;
  const sealed = sealedProposal(envelope, effect);
  if (!isSealedAs(sealed, envelope, intent))
    refuse(
      'ACT_OTHER',
      'The service tells something else about the proposal than its envelope and effect say.',
    );
  // Of an alternate there are only the words of the service.
  if (envelope.alternates.length > 0)
    refuse('HOST_ONLY', 'A proposal with alternates can be decided only on the host.');
  const own = Keyturn.showEffect(effect);
  const shown = effect.kind === 'plan' ? withTheirDiffs(own, review.shown) : own;
  const called = executorIn(effect);
  const seen = ({ ledger }: RemoteLogin): Seen => ({
    hash: sealed.hash,
    act: {
      effect_digest: sealed.effect_digest,
      action: actionOf(effect),
      ...(called !== null && { audience: audienceOf(ledger, called) }),
    },
  });
  return { seen, review: { ...review, shown, alternates: [] } };
}

/** What a grant is about is shown like a review: from the effect, and not from the words of the service. */
async function offered(
  request: object,
  look: (request: object) => Promise<Result<'intents.review'>>,
  ask: (request: object) => Promise<unknown>,
): Promise<Result<'intents.offer'>> {
  // What an order is bound to beside the effect is a digest that only the service makes.
  if (
    ['scope', 'conditions', 'tool_category'].some((name) => (request as Partial<Asked>)[name] !== undefined)
  )
    refuse('HOST_ONLY', 'An order with --scope, --condition or --category can be given only on the host.');
  const offer = (await ask(request)) as Result<'intents.offer'>;
  const { intent, shown, effect } = await look({ intent_id: offer.intent.intent_id });
  if (intent.hash !== offer.intent.hash || intent.effect_digest !== offer.intent.effect_digest)
    refuse('ACT_OTHER', 'The service offers another effect than it shows.');
  return { ...offer, intent, shown, needs: neededScope(effect) };
}

interface Acting extends Required<Pick<Parts, 'asked' | 'signer'>> {
  readonly login: RemoteLogin;
  /** What was shown of the intent that the act is about. */
  readonly own: Seen | undefined;
}

/** An act is drawn up by the service, made again here from what was shown, signed here, and finished there. */
async function acted(asking: Asking, route: Route, acting: Acting): Promise<unknown> {
  const { asked, signer } = acting;
  const drawn = await asking.ask(route.path, { request: asked, by: signer.name, key: signer.public_key }, {});
  const parsed = actDraft.safeParse(drawn);
  if (!parsed.success)
    return refuse('SERVICE_FOREIGN', `The draft of ${route.path} is not one of this version.`);
  const { draft, request = asked } = parsed.data;
  if (draft.by !== signer.name || draft.key !== signer.public_key) other('who signs');
  if (Math.abs(Date.parse(draft.at) - Date.now()) > limits.message_signature_s * 1000)
    refuse('CLOCKS_DIFFER', `It is ${draft.at} at the service.`);
  const { nonce: _, ...rest } = request as Asked;
  if (canonicalText(rest) !== canonicalText(withoutNonce(asked))) other('the request');
  const statements = statementsOf(route, draft, acting);
  if (signer.is_rehearsal) throw REHEARSED;
  const proofs = await signer.sign(statements.map((one) => Buffer.from(one, 'utf8')));
  return asking.ask(route.path, { request, draft, proofs }, {});
}

function withoutNonce({ nonce: _, ...rest }: Asked): Asked {
  return rest;
}

function other(what: string): never {
  return refuse(
    'ACT_OTHER',
    `The service asks for a signature on something other than what was shown: ${what}.`,
  );
}

/** Acts that say what is signed about the proposal that was shown. */
const ABOUT_SHOWN: ReadonlySet<string> = new Set(['intents.approve', 'intents.turn', 'intents.grant']);

/** What is signed. All of it was made here; the service's own text is only compared. */
function statementsOf(
  { namespace, name }: Route,
  { statements, at, key, by }: Draft,
  { asked, own, login: { ledger: origin } }: Acting,
): string[] {
  const verb = `${namespace}.${name}`;
  const [theirs, ...more] = statements;
  if (theirs === undefined || more.length > 0) return other('how many acts there are');
  const about = ABOUT_SHOWN.has(verb) ? shownOf(verb, asked, own) : {};
  const known = { ...about, ...asked, ...(asked.shown as Asked | undefined), ...digestIn(about) };
  const expected =
    expectedOfProposer(verb, asked) ??
    expectedAct(verb, known) ??
    refuse('HOST_ONLY', 'This act can be signed only on the host.');
  const deadline = new Date(Date.parse(at) + limits.act_wait_s * 1000).toISOString();
  const made = rebuiltAct(theirs, expected, { origin, by, key, at, deadline });
  return 'differs' in made ? other(made.differs) : [made.text];
}

/** What the screen said of the intent that is signed about. */
function shownOf(verb: string, { hash }: Asked, own: Seen | undefined): Asked {
  if (own === undefined || own.hash !== hash) return other('the proposal');
  return verb === 'intents.grant' ? { ...own.offer, ...own.act } : own.act;
}

/** The digest that was computed here counts, and no other. */
function digestIn({ effect_digest }: Asked): Asked {
  return effect_digest === undefined ? {} : { effect_digest };
}

/** A proposal, and what takes one back: which hash it has, only the service knows. Null for an act. */
function expectedOfProposer(verb: string, { intent_id, reason }: Asked): ExpectedOfProposer | null {
  if (verb === 'intents.propose' || verb === 'intents.undo')
    return { format: 'keyturn-proposal/1', fixed: {}, free: ['hash'] };
  if (verb !== 'intents.withdraw') return null;
  return {
    format: 'keyturn-withdrawal/1',
    fixed: { intent_id: intent_id!, reason: reason! },
    free: ['hash'],
  };
}
