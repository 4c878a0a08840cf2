import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalBytes } from '../canonical/json.ts';
import type { OnOutput } from '../effect/child.ts';
import type { IntentState, IntentStatus } from '../gate/state.ts';
import { hasExpired } from '../gate/status-word.ts';
import type { Signer } from '../identity/act.ts';
import { covers, type Delegation } from '../identity/delegation.ts';
import { type DraftInput, parseDraft } from '../intent/envelope.ts';
import { intentIdOfKey } from '../intent/repeat.ts';
import { journeyLimits, mcpLimits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import { draftTurn } from './delegate-turn.ts';
import type { Effect } from './derived.ts';
import { derive } from './effect.ts';
import { requireWithinGrant } from './grant-bounds.ts';
import { prefetchList } from './mcp.ts';
import { propose } from './propose.ts';
import { answerIdOf } from './question.ts';
import { actionOf } from './reach.ts';
import { isRunElsewhere, run } from './run.ts';
import { requireDelegation } from './submit.ts';

export interface CallRequest {
  /** Who calls. */
  readonly issuer: string;
  readonly signer?: Signer | undefined;
  readonly declared_goal: string;
  readonly effect: DraftInput['effect'];
  /** The intent whose server asked for what this call brings. */
  readonly answers?: string | undefined;
  /** Only proposed: no grant is used, and nothing runs here. */
  readonly is_only_proposed?: boolean | undefined;
  readonly abort?: AbortSignal | undefined;
  readonly onOutput?: OnOutput | undefined;
  /** Told which intent the call is, as soon as it is in the ledger: what a grant covers runs after that. */
  readonly onBegun?: ((intent_id: string) => void) | undefined;
}

export interface BegunCall {
  readonly intent_id: string;
  /**
   * `proposed`: it is new, and waits for a human. `same`: the same call waits or runs already. `again`: it ended a short while ago, and
   * its answer may not have been read, so this is that answer. `granted`: it ran under a grant.
   */
  readonly how: 'proposed' | 'same' | 'again' | 'granted';
  /** Why a grant that covers it was not used; null where none was refused. */
  readonly refused: ReasonCode | null;
  readonly receipt: string | null;
}

/**
 * A call by an agent: the same call while it waits or runs is the same intent, and one whose answer may not have been read is not run again.
 * Each intent of a call follows from the one before it, so two processes that begin the same call make one intent.
 */
export async function beginCall(context: Context, request: CallRequest): Promise<BegunCall> {
  const { issuer, signer, declared_goal, effect } = request;
  const asked = { effect: askedFor(effect), issuer, is_signed: signer !== undefined, goal: declared_goal };
  const call = sha256(canonicalBytes({ format: 'keyturn-call/1', ...asked }));
  const begun = await context.in_turn(`call ${call}`, async (): Promise<BegunCall> => {
    const { state, intent_id } =
      request.answers === undefined
        ? await nextOf(context, call, issuer)
        : await answerTo(context, request.answers, issuer);
    if (state && !isOpen(context, state)) return { intent_id, how: 'again', refused: null, receipt: null };
    context.calls.began(call, intent_id);
    const granted =
      signer && !request.is_only_proposed
        ? await runGranted(context, { ...request, signer }, intent_id, state)
        : null;
    if (granted && granted.refused === null)
      return { intent_id, how: 'granted', refused: null, receipt: null };
    const refused = granted?.refused ?? null;
    if (state || granted?.is_proposed)
      return { intent_id, how: state ? 'same' : 'proposed', refused, receipt: null };
    const draft = parseDraft({ issuer, declared_goal, effect, intent_id });
    try {
      const { receipt } = await propose(context, draft, signer);
      return { intent_id, how: 'proposed', refused, receipt };
    } catch (error) {
      // Another process was first with the same call.
      if (!(error instanceof Refusal && STALE.has(error.code))) throw error;
      if ((await context.store.find('intent', intent_id))?.proposer !== issuer) throw error;
      return { intent_id, how: 'same', refused, receipt: null };
    }
  });
  if (request.answers !== undefined) await context.partial_answers.drop(request.answers);
  if (begun.how !== 'granted') request.onBegun?.(begun.intent_id);
  return begun;
}

/**
 * Without what the client says that it can answer: a client that says it in other words asks for the same. It stays in the effect of the intent,
 * which is that of the first of these calls.
 */
function askedFor(effect: CallRequest['effect']) {
  if (effect.kind !== 'mcp' || effect.input === undefined) return effect;
  const { input, ...rest } = effect;
  const { responses, state } = input;
  return responses === null && state === null ? rest : { ...rest, input: { responses, state } };
}

interface Place {
  readonly intent_id: string;
  /** The intent that is there: open, or ended with an answer that may not have been read. Null where a new one begins. */
  readonly state: IntentState | null;
}

async function answerTo(context: Context, answers: string, issuer: string): Promise<Place> {
  const intent_id = answerIdOf(context, answers, issuer);
  const state = await context.store.find('intent', intent_id);
  if (state && state.proposer !== issuer)
    refuse('INTENT_EXISTS', 'Another proposer has the id of this answer.');
  return { intent_id, state };
}

/** Follows the intents of one call to the place where this one belongs. Ids can be computed: what another proposer put there is passed over. */
async function nextOf(context: Context, call: Digest, issuer: string): Promise<Place> {
  const { origin, store, calls } = context;
  const idAfter = (before: string) =>
    intentIdOfKey({ origin, proposer: issuer, key: sha256(`${call} ${before}`) });
  const last = calls.last(call);
  const known = last === null ? null : await store.find('intent', last);
  if (known?.proposer === issuer && (await isHere(context, known)))
    return { intent_id: known.intent_id, state: known };
  for (let before = known?.intent_id ?? 'first'; ; ) {
    const intent_id = idAfter(before);
    const state = await store.find('intent', intent_id);
    if (state === null || (state.proposer === issuer && (await isHere(context, state))))
      return { intent_id, state };
    before = intent_id;
  }
}

async function isHere(context: Context, state: IntentState): Promise<boolean> {
  return isOpen(context, state) || (await isUnread(context, state));
}

const OPEN: ReadonlySet<IntentStatus> = new Set<IntentStatus>([
  'proposed',
  'approved',
  'claimed',
  'partial',
  'rolling_back',
  'stuck',
]);

function isOpen({ clock }: Context, state: IntentState): boolean {
  return OPEN.has(state.status) && !hasExpired(state, clock());
}

/** It ended a short while ago, and the answer may be lost: a caller who asks again gets it, and nothing runs twice. */
async function isUnread(context: Context, state: IntentState): Promise<boolean> {
  const { clock, calls } = context;
  if (state.runs.length === 0 || calls.isAnswered(state.intent_id)) return false;
  const ended_at = state.status === 'happened' ? await settledAt(context, state) : endedAt(state);
  return ended_at !== null && clock().getTime() - Date.parse(ended_at) < mcpLimits.again_ms;
}

const endedAt = ({ runs }: IntentState) => runs.at(-1)?.finished_at ?? null;

/** A run that was killed has no end of its own, and one that was in doubt may have ended long before a human settled it. */
async function settledAt({ store, read_entry }: Context, { intent_id }: IntentState): Promise<string | null> {
  const entries = (await store.entriesOf(intent_id)).map(({ bytes }) => read_entry(bytes));
  return entries.findLast(({ event }) => event.kind === 'execution.resolved')?.entry.at ?? null;
}

interface Granted {
  /** Null where it ran. */
  readonly refused: ReasonCode | null;
  readonly is_proposed: boolean;
}

type SignedCall = CallRequest & { readonly signer: Signer };

/** Runs the call under a grant of its caller, if one covers it. Null where none does. */
async function runGranted(
  context: Context,
  request: SignedCall,
  intent_id: string,
  state: IntentState | null,
): Promise<Granted | null> {
  if (state && state.status !== 'proposed' && state.status !== 'approved') return null;
  const since_ms = performance.now();
  const held = await grantFor(context, request);
  if (held === null || 'refused' in held) return held;
  prefetchList(context, held.effect, since_ms);
  const turned = await orderedUnder(context, request, intent_id, held.delegation_id);
  if (turned.refused !== null || turned.seen === null)
    return { refused: turned.refused, is_proposed: turned.is_proposed };
  const { hash } = (await context.store.find('intent', intent_id))!;
  const { abort, onOutput, onBegun } = request;
  onBegun?.(intent_id);
  try {
    await run(context, { intent_id, hash, seen: turned.seen, or_elsewhere: true, abort, onOutput, since_ms });
  } catch (error) {
    const is_claimed = error instanceof Refusal && CLAIMED.has(error.code);
    if (!is_claimed || !(await isRunElsewhere(context, intent_id))) throw error;
  }
  return { refused: null, is_proposed: true };
}

/** An executor of this host takes any order. What it claimed first runs there, and who called waits for that. */
const CLAIMED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'CLAIM_TAKEN',
  'ALREADY_EXECUTED',
  'RUN_IN_DOUBT',
  'RUN_FAILED',
  'RUN_PARTIAL',
]);

/** The delegation under which this call may run now: one that stands for an approval, covers it, and is not spent. */
export async function grantFor(
  context: Context,
  { signer, effect }: SignedCall,
): Promise<(Pick<Delegation, 'delegation_id'> & { readonly effect: Effect }) | Granted | null> {
  const all = await context.store.all('delegation');
  const own = all.filter(
    ({ delegate, approves, status, grant }) =>
      delegate === signer.name &&
      approves &&
      status === 'active' &&
      (effect.kind !== 'mcp' || grant !== null),
  );
  if (own.length === 0) return null;
  const derived = await derive(context, effect as never, null);
  const action = actionOf(derived.effect);
  let refused: ReasonCode | null = null;
  for (const one of own.filter((delegation) => covers(delegation, [action]))) {
    try {
      await requireDelegation(context, one.delegation_id, signer, context.clock());
      await requireWithinGrant(context, one, derived.effect);
      if (one.grant && ((await context.store.find('grant', one.delegation_id))?.used ?? 0) >= one.grant.uses)
        refused = 'GRANT_SPENT';
      else return { delegation_id: one.delegation_id, effect: derived.effect };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused = error.code;
    }
  }
  return refused === null ? null : { refused, is_proposed: false };
}

interface Turned {
  readonly seen: Digest | null;
  readonly refused: ReasonCode | null;
  readonly is_proposed: boolean;
}

/** Proposal, submission and order in one commit: the use is counted in it. */
async function orderedUnder(
  context: Context,
  { issuer, signer, declared_goal, effect }: SignedCall,
  intent_id: string,
  delegation: string,
): Promise<Turned> {
  const input = { intent_id, issuer, declared_goal, effect };
  const turn = { signer, delegation, on_behalf_of: null, is_ordered: true, requireMeant: async () => {} };
  for (let tries = 1; ; tries += 1) {
    const { events, objects, seen, refusal } = await draftTurn(context, input, turn);
    try {
      await context.store.commit({ events, objects, quota: context.proposals });
      return { seen, refused: refusal?.code ?? null, is_proposed: true };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (tries < journeyLimits.commit_tries && STALE.has(error.code)) continue;
      return { seen: null, refused: error.code, is_proposed: false };
    }
  }
}

const STALE: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'DECISION_STALE',
  'INTENT_EXISTS',
  'CLAIM_TAKEN',
  'ORDER_OPEN',
]);
