import { isDeepStrictEqual } from 'node:util';
import { canonicalText, parseJson } from '../canonical/json.ts';
import { readConfirmation } from '../finder/lexicon/confirmation.ts';
import { humansIn } from '../fold/row.ts';
import type { Simulation as Registered } from '../gate/simulation.ts';
import type { IntentState } from '../gate/state.ts';
import type { Entry } from '../ledger/entry.ts';
import { agentLimits } from '../limits.ts';
import { type DecisionRecord, openDecision, redecide, sameDecision } from '../policy/replay.ts';
import { outcomeOf, questionOf } from './access.ts';
import { differsFrom, type Held } from './bound.ts';
import type { AgentContext } from './context.ts';
import { confirmations } from './contracts.ts';
import type { DispatchDecision, SealedDecision } from './decide.ts';
import { intentFacts, intentIdOf } from './intent.ts';
import { differs, type Then } from './replay-past.ts';
import { artifactsOf, definitionOf } from './snapshot.ts';
import type { StepInAgentPlan } from './step-in-plan.ts';
import { asked, type Grounds, judged, seenIn } from './weigh.ts';

/** A decision, and the step that it is about, as the ledger was just before the entry that rests on it. */
export interface Replaying extends StepInAgentPlan {
  readonly record: DispatchDecision;
  readonly entry: Entry;
  /** The decision about access. */
  readonly access: DecisionRecord;
  /** Why the intent of the step was refused until then. */
  readonly refusals: readonly string[];
}

/**
 * The same decision, from what the ledger told then. The attacker writes a decision whose facts lead to it, and are not true:
 * nothing in the record counts because the record says so, but for what only the process saw that wrote it.
 */
export async function judgedThen(
  context: AgentContext,
  replaying: Replaying,
  then: Then,
): Promise<SealedDecision> {
  const { record, step_now, state, refusals } = replaying;
  const { obstacle } = record.facts;
  const { ledger, now } = then;
  const seen = await seenIn(replaying, now, {
    known: (id) => ledger.state('simulation', id),
    held: (known) => heldThen(context, replaying, known),
  });
  const intent = ledger.state('intent', intentIdOf(record.idempotency_key));
  const { authorities } = ledger;
  const told = intentFacts(intent, { authorities, humans: humansIn(ledger), user_id: state.user_id, now });
  return judged(
    { ...replaying, confirmation: step_now.confirmation },
    {
      access: await accessThen(context, replaying, then),
      simulations: seen.map(({ bytes: _, ...one }) => one),
      same_registry: await isSameRegistry(context, replaying, intent),
      approved: told.approved,
      // What only the process saw stands in the entries of the intent.
      obstacle: told.obstacle ?? (refusals.includes(obstacle ?? '') ? obstacle : null),
    },
  );
}

/**
 * What was found then is an object, so the same difference comes out. Of what could not be derived only the reason is left;
 * it never dispatches.
 */
async function heldThen(
  context: AgentContext,
  { plan, record }: Replaying,
  { simulation, bound: activated }: Registered,
): Promise<Held> {
  const told = record.facts.simulations.find(({ simulation_id }) => simulation_id === simulation);
  const { found = null, differs: reasons = [] } = told ?? {};
  const held = { activated, found, bytes: null };
  if (activated === null || found === activated) return { ...held, found: activated, differs: [] };
  if (found === null) return { ...held, differs: reasons.length > 0 ? reasons : ['unknown'] };
  const bytes = await context.journey.store.object(found);
  return { ...held, differs: await differsFrom(context, activated, bytes, plan.rolls_back !== null) };
}

/**
 * The policies that were active say the same about the same question: who asks, for what and when, follows from the ledger. It is
 * about what runs or about its template, whichever had the stricter answer. Another question is no ground.
 */
async function accessThen(
  context: AgentContext,
  { record, access, plan, step, state }: Replaying,
  { ledger }: Then,
): Promise<Grounds['access']> {
  const { request, snapshot } = access;
  const { user_id } = state;
  const of = asked(plan, step).find(({ simulation_id }) => simulation_id === request.resource.name);
  const definition = await definitionOf(context, (of ?? step).definition);
  const question = questionOf(user_id, ledger.state('principal', user_id), definition, madeAt(access));
  const context_then = { ...question.context, humans: humansIn(ledger) };
  const is_same = (['principal', 'resource', 'context'] as const).every((part) =>
    isDeepStrictEqual(
      { ...request[part], ...question[part], ...(part === 'context' && context_then) },
      request[part],
    ),
  );
  const engine = await context.journey.rules(snapshot);
  const again = redecide(access, engine);
  const holds = is_same && request.action === 'access' && sameDecision(access.decision, again);
  return {
    outcome: outcomeOf(engine, request, again),
    policy: ledger.system.policy ?? '',
    digest: holds ? record.refs.access_decision_ref! : '',
  };
}

export function madeAt({ request }: DecisionRecord): Date {
  return new Date(request.context.epoch_s * 1000);
}

export async function accessOf(
  { journey }: AgentContext,
  { refs }: DispatchDecision,
  { seq, at }: Entry,
): Promise<DecisionRecord> {
  const ref = refs.access_decision_ref ?? differs(seq, 'It names no decision about access.');
  const access = openDecision(await journey.store.object(ref));
  if (Math.abs(Date.parse(at) - madeAt(access).getTime()) > agentLimits.decided_ms)
    differs(seq, 'Access was decided at another time.');
  return access;
}

/** The bundle names the registry of the plan; an intent names the one that it was made from. */
async function isSameRegistry(
  { journey }: AgentContext,
  { record, entry, plan }: Replaying,
  intent: IntentState | null,
): Promise<boolean> {
  const { artifact_fingerprint_bundle_ref: ref, catalog_snapshot_ref, policy_snapshot_ref } = plan;
  const bytes = await journey.store.object(ref);
  const { registry } = parseJson(bytes, bytes.length) as { registry: string };
  const bundle = artifactsOf(catalog_snapshot_ref, policy_snapshot_ref, registry);
  if (!Buffer.from(bundle).equals(bytes)) differs(entry.seq, 'The artifacts of the plan are others.');
  const is_made = record.decision === 'DISPATCH' && intent !== null;
  return is_made ? intent.registry_digest === registry : record.facts.same_registry;
}

/** The words themselves may have been erased; the token was a whole answer, so it is read in their place. */
export async function requireSameConfirmation(
  { journey }: AgentContext,
  { plan, step, step_now: { confirmation }, state }: StepInAgentPlan,
  { seq }: Entry,
): Promise<void> {
  if (confirmation === null) return;
  const proof = confirmations.open(await journey.store.object(confirmation.proof));
  const again = readConfirmation(proof.token ?? '', proof.language);
  const told = [proof.correlation_id, proof.user_id, proof.plan_id, proof.step_id, proof.answer];
  const meant = [state.correlation_id, state.user_id, plan.plan_id, step.step_id, confirmation.answer];
  const noted = [proof.answer, proof.confirm_lexicon_version_ref];
  const read = [again.answer, again.confirm_lexicon_version_ref];
  if (canonicalText([told, noted]) !== canonicalText([meant, read]))
    differs(seq, 'The confirmation is read differently.');
}
