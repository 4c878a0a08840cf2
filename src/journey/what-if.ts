import { approvedNow } from '../gate/standing.ts';
import type { IntentState } from '../gate/state.ts';
import { requireExecutor } from '../gate/system.ts';
import type { Signer } from '../identity/act.ts';
import { activeCredentials, type Principal } from '../identity/principal.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import { isForThisHost, orderAudience } from './addressed.ts';
import { hasApproved, weighApproval } from './approve.ts';
import { provenState } from './audit.ts';
import { breakGlassHolds, weighBreakGlass } from './break-glass.ts';
import { check, momentOf, refuseDenied, requireFormats } from './check.ts';
import type { Asked, Context, Proven } from './context.ts';
import { currentControlKey } from './control.ts';
import { openAsked, requireSameEffect } from './effect.ts';
import { requireBounds } from './extent.ts';
import { decideIssue } from './issue.ts';
import { provenDispatch } from './prove-agent.ts';
import { secretsIn } from './reach.ts';
import { requireAllowed, rule } from './rules.ts';
import { termsOf } from './terms.ts';

export interface WhatIfRequest {
  readonly intent_id: string;
  readonly hash: string;
  /** The human who would do it. */
  readonly by: string;
  /** `turn` approves where that is still to be done, orders one run here, and runs it. */
  readonly act: 'approve' | 'turn' | 'break_glass';
}

/** Why it would be refused; all null where nothing that can be known stands against it. */
export interface WhatIf {
  readonly code: ReasonCode | null;
  readonly words: string | null;
  readonly advice: string | null;
  /** Whether the signature approves it; false where the approval of this human counts already, and where it is refused. */
  readonly approves: boolean;
}

/** Asks everything that would refuse the act, before a human makes a gesture. Writes and records nothing. */
export async function whatIf(context: Context, request: WhatIfRequest): Promise<WhatIf> {
  requireFormats(request.intent_id, request.hash);
  try {
    return { code: null, words: null, advice: null, approves: await ask(context, request) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code, words: error.message, advice: error.advice, approves: false };
  }
}

async function ask(context: Context, { intent_id, hash, by, act }: WhatIfRequest): Promise<boolean> {
  const proven = (await provenState(context, intent_id)) ?? refuse('INTENT_NOT_FOUND');
  if (!OPEN.has(proven.state.status)) await refuseOver(context, intent_id, hash);
  currentControlKey(context, proven.system);
  const principal = await context.store.find('principal', by);
  const signer = unable(by, principal);
  if (act === 'break_glass') {
    await weighBreakGlass(context, { intent_id, hash, signer }, () => {});
    return false;
  }
  const has_approved = act === 'turn' && (await hasApproved(context, proven.state, by));
  const weighed = has_approved
    ? { ...proven, asked: await openAsked(context, proven.state) }
    : await approved(context, { intent_id, hash, signer });
  if (act === 'turn') await askRun(context, weighed, principal ?? refuse('PRINCIPAL_UNKNOWN'), hash);
  return !has_approved;
}

const OPEN: ReadonlySet<IntentState['status']> = new Set<IntentState['status']>(['proposed', 'approved']);

/** It was decided, or has run: says which. */
async function refuseOver(context: Context, intent_id: string, hash: string): Promise<void> {
  const verdict = await check(context, intent_id, hash);
  if (!verdict.eligible) refuseDenied(verdict);
}

async function approved(
  context: Context,
  asking: { readonly intent_id: string; readonly hash: string; readonly signer: Signer },
): Promise<Proven & { readonly asked: Asked }> {
  const { approved: state, ...weighed } = await weighApproval(context, asking, undefined, () => {});
  return { ...weighed, state };
}

/** The steps from the order to the claim, on the intent as it would be then. */
async function askRun(
  context: Context,
  { state, system, authorities, asked }: Proven & { readonly asked: Asked },
  principal: Principal,
  hash: string,
): Promise<void> {
  const dispatched = await provenDispatch(context, state);
  const moment = { ...(await momentOf(context, system, authorities)), dispatched };
  const { now } = moment;
  const standing = approvedNow(state, hash, moment);
  if ('eligible' in standing) return refuseDenied(standing);
  const is_here = isForThisHost(context, system, orderAudience(context, system, asked.effect));
  if (is_here) requireExecutor(system, context.executor_key().public_key);
  if (standing.not_dispatched) refuseDenied(standing.not_dispatched);
  requireBounds(context, asked.envelope, asked.effect);
  const terms = termsOf(context, {}, state, asked, now);
  const matter = { principal, delegated: false, state, ...asked, system, authorities, now };
  await decideIssue(context, { ...matter, standing, asked, terms }, () => {});
  if (!(await breakGlassHolds(context, matter, authorities)))
    requireAllowed(await rule(context, { ...matter, action: 'execute' }));
  const derived = await requireSameEffect(context, state, asked);
  // Secrets and the like are those of the executor, which another host is.
  if (!is_here) return;
  const secrets = await context.secrets(secretsIn(derived.effect));
  (await derived.prepare(terms.scope, secrets)).close();
}

/** Who would sign, and cannot here: with the key file of this human, or with what they have. */
function unable(name: string, principal: Principal | null): Signer {
  const keys = principal === null ? [] : activeCredentials(principal);
  const public_key = (keys.find(({ kind }) => kind === 'key') ?? keys[0])?.public_key ?? '';
  return { name, public_key, sign: () => refuse('INTERNAL', 'Nothing is signed for a look.') };
}
