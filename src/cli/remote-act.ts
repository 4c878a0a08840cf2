import { canonicalText, type Json } from '../canonical/json.ts';
import type { Asking } from '../client/ask.ts';
import {
  type Draft,
  expectedActs,
  isDrawnNow,
  REHEARSED,
  type RemoteLogin,
  rebuiltAct,
  type Signer,
} from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import { actDraft } from '../serve/act.ts';
import type { Route } from '../serve/route.ts';
import type { AskedRemotely, ShownHere } from './remote-look.ts';
import { other } from './remote-other.ts';

export interface Acting {
  readonly asked: AskedRemotely;
  readonly signer: Signer;
  /** Whose key the act makes known: it signs the same. */
  readonly holder?: Signer;
  readonly login: RemoteLogin;
  /** What was shown of what the act is about; null for an act that says all of it itself. */
  readonly seen: ShownHere | null;
}

/** An act is drawn up by the service, made again here from what was shown, signed here, and finished there. */
export async function acted(asking: Asking, route: Route, acting: Acting): Promise<unknown> {
  const { asked, signer, holder } = acting;
  const shown = holder && { holder: { name: holder.name, public_key: holder.public_key } };
  const who = { by: signer.name, key: signer.public_key };
  const drawn = await asking.ask(route.path, { request: asked, ...who, ...shown }, {});
  const parsed = actDraft.safeParse(drawn);
  if (!parsed.success)
    return refuse('SERVICE_FOREIGN', `The draft of ${route.path} is not one of this version.`);
  const { draft, request = asked } = parsed.data;
  if (draft.by !== signer.name || draft.key !== signer.public_key) other('who signs');
  if (!isDrawnNow(draft.at, Date.now())) refuse('CLOCKS_DIFFER', `It is ${draft.at} at the service.`);
  const { nonce: _, ...rest } = request as AskedRemotely;
  if (canonicalText(rest) !== canonicalText(withoutNonce(asked))) other('the request');
  const statements = statementsOf(route, draft, acting).map((one) => Buffer.from(one, 'utf8'));
  if (signer.is_rehearsal) throw REHEARSED;
  const proofs = await signer.sign(statements);
  const own = shown && { holder: { ...shown.holder, proofs: await holder!.sign(statements) } };
  return asking.ask(route.path, { request, draft, proofs, ...own }, {});
}

function withoutNonce({ nonce: _, ...rest }: AskedRemotely): AskedRemotely {
  return rest;
}

/** What is signed. All of it was made here; the service's own text is only compared. */
function statementsOf(
  { namespace, name }: Route,
  { statements, at, key, by }: Draft,
  { asked, seen, login: { ledger: origin } }: Acting,
): string[] {
  const known = { ...knownOf(asked, seen), acts: statements.length };
  const expected =
    expectedActs(`${namespace}.${name}`, known) ??
    refuse('HOST_ONLY', 'This act can be signed only on the host.');
  if (statements.length !== expected.length) other('how many acts there are');
  let before: Readonly<Record<string, Json>> = {};
  return expected.map((one, i) => {
    const made = rebuiltAct(statements[i]!, one, { origin, by, key, at }, before);
    if ('differs' in made) return other(made.differs);
    before = { ...before, ...made.free, subject: subjectIn(made.text) };
    return made.text;
  });
}

/** What an act is about may be an id that the act itself gives. A proposal is about nothing else. */
function subjectIn(text: string): Json {
  return (JSON.parse(text) as AskedRemotely).subject ?? null;
}

/** What was computed here counts, and no other: where something else is asked for, it was not what was shown. */
function knownOf(asked: AskedRemotely, seen: ShownHere | null): AskedRemotely {
  const flat = { ...asked, ...(asked.shown as AskedRemotely | undefined) };
  const { sealed = {}, offered = {} } = seen ?? {};
  const differs = Object.keys(sealed).find(
    (name) => flat[name] !== undefined && canonicalText(flat[name]) !== canonicalText(sealed[name]!),
  );
  if (differs !== undefined) return other(differs);
  return { ...offered, ...flat, ...sealed };
}
