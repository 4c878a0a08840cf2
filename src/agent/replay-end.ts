import type { Digest } from '../canonical/digest.ts';
import { canonicalText } from '../canonical/json.ts';
import { type Event, isOneOf } from '../event/event.ts';
import { isDispatch, isEnd } from '../gate/agent-move.ts';
import { INTENT_KINDS, next } from '../gate/next.ts';
import type { IntentState } from '../gate/state.ts';
import { effectDiffers, openBound } from '../journey/bound.ts';
import { openEffect } from '../journey/sealed-effect.ts';
import type { Entry } from '../ledger/entry.ts';
import { isReasonCode } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import { outcomes } from './contracts.ts';
import { intentIdOf } from './intent.ts';
import { differs, knownThen, type Replaying } from './replay-facts.ts';

type Moved = Event<'agent.moved'>;

/** The outcome that a move names is about this step, this decision and this run, and gives the same reason. */
export async function requireSameOutcome(
  { journey }: AgentContext,
  { subject, body }: Moved,
  { seq }: Entry,
  digest: string,
): Promise<void> {
  const outcome = outcomes.open(await journey.store.object(digest));
  const decision = isEnd(body) ? await dispatchOf(journey, subject, body) : body.dispatch_decision_hash;
  const told = [outcome.step_id, outcome.reason_code, outcome.dispatch_decision_hash];
  const ran = outcome.simulation_outcome?.execution_id ?? null;
  const meant = [body.step_id, body.reason_code, decision, body.execution_id];
  if (canonicalText([...told, ran]) !== canonicalText(meant))
    differs(seq, 'The outcome is about something else.');
}

async function dispatchOf(
  { store, read_entry }: AgentContext['journey'],
  subject: string,
  { plan_id, step_id }: Moved['body'],
): Promise<string | null> {
  for (const { bytes } of await store.entriesOf(subject)) {
    const { event } = read_entry(bytes);
    if (event.kind !== 'agent.moved' || !isDispatch(event.body)) continue;
    if (event.body.plan_id === plan_id && event.body.step_id === step_id)
      return event.body.dispatch_decision_hash;
  }
  return null;
}

/**
 * A step fails for another reason than its decision gives when the intent could not be proposed or submitted. Then the
 * outcome says so, and whatever of it the ledger knows is as the ledger knows it. The attacker makes a step fail that
 * nothing stood in the way of.
 */
export async function requireExplained(
  context: AgentContext,
  { body }: Moved,
  { record, entry, step }: Replaying,
): Promise<void> {
  const { seq, at } = entry;
  const { reason_code } = body;
  if (record.decision !== 'DISPATCH' && record.reason_code !== 'ACCESS_AP_REQUIRED')
    differs(seq, 'It failed for another reason than the decision gives.');
  if (body.outcome === null) differs(seq, 'Nothing says why it failed, though it could be dispatched.');
  if (CONTRADICTED.has(reason_code)) differs(seq, `The decision itself says that it is not ${reason_code}.`);
  const { intent, refusals } = await intentThen(context, intentIdOf(record.idempotency_key), seq);
  if (refusals.includes(reason_code)) return;
  const is_over = intent !== null && Date.parse(intent.expires_at) <= Date.parse(at);
  const known = await knownThen(context, step.simulation_id, entry);
  const delegation = known?.standing_delegation ?? null;
  const untrue =
    (reason_code === 'ACTIVATION_DIFFERS' && !(await wasOther(context, intent, known?.bound ?? null))) ||
    (reason_code === 'INTENT_REJECTED' && intent?.status !== 'rejected') ||
    (reason_code === 'INTENT_EXPIRED' && !is_over) ||
    (reason_code === 'SIMULATION_NOT_ACTIVE' && delegation !== null) ||
    reason_code.startsWith('POLICY_') ||
    !isReasonCode(reason_code);
  if (untrue) differs(seq, `The ledger knows nothing of ${reason_code}.`);
}

/** The intent that was proposed is not a call of what was activated. */
async function wasOther(
  { journey }: AgentContext,
  intent: IntentState | null,
  activated: Digest | null,
): Promise<boolean> {
  if (intent === null || activated === null) return false;
  const { effect: bound } = openBound(await journey.store.object(activated));
  const effect = openEffect(await journey.store.object(intent.effect_digest));
  return bound === null || effectDiffers(bound, effect).length > 0;
}

/** What only the facts of a decision can say, and these do not. */
const CONTRADICTED: ReadonlySet<string> = new Set([
  'SIMULATION_NOT_REGISTERED',
  'ACCESS_SCOPE_VIOLATION',
  'ACCESS_AP_REQUIRED',
  'CONFIRMATION_MISSING',
  'CONFIRMATION_AMBIGUOUS',
]);

interface IntentThen {
  readonly intent: IntentState | null;
  readonly refusals: readonly string[];
}

/** The intent just before this entry, and why it was refused until then. */
async function intentThen({ journey }: AgentContext, intent_id: string, seq: number): Promise<IntentThen> {
  let intent: IntentState | null = null;
  const refusals: string[] = [];
  for (const { bytes } of await journey.store.entriesOf(intent_id)) {
    const { entry, event } = journey.read_entry(bytes);
    if (entry.seq >= seq) break;
    if (isOneOf(INTENT_KINDS, event)) intent = next(intent, event, entry.at);
    if (event.kind === 'intent.refused') refusals.push(event.body.reason_code);
  }
  return { intent, refusals };
}
