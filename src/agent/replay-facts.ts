import { canonicalText, parseJson } from '../canonical/json.ts';
import type { AgentState, AgentStep as StepState } from '../gate/agent-state.ts';
import { nextSimulation, type Simulation as Registered } from '../gate/simulation.ts';
import type { Entry } from '../ledger/entry.ts';
import { type DecisionRecord, openDecision, redecide, sameDecision } from '../policy/replay.ts';
import { timeOf } from '../policy/request.ts';
import { refuse } from '../refusal.ts';
import { outcomeOf, principalOf } from './access.ts';
import { differsFrom } from './bound.ts';
import type { AgentContext } from './context.ts';
import { type AgentExecutionPlan, type AgentStep, confirmations } from './contracts.ts';
import type { DispatchDecision } from './decide.ts';
import { hasHumanApproval } from './intent.ts';
import { readConfirmation } from './lexicon/confirmation.ts';
import { type View, viewsAt } from './replay-view.ts';
import { artifactsOf, definitionOf } from './snapshot.ts';
import { asked, riskOf, standingOf } from './weigh.ts';

/** A decision, and everything around it as the ledger was just before the entry that rests on it. */
export interface Replaying {
  readonly record: DispatchDecision;
  readonly entry: Entry;
  readonly state: AgentState;
  readonly plan: AgentExecutionPlan;
  readonly step: AgentStep;
  readonly step_now: StepState;
}

export function differs(seq: number, message: string): never {
  return refuse('AGENT_REPLAY_DIFFERS', `Entry ${seq}: ${message}`, { seq });
}

/**
 * Each fact again, from what it was read from. The attacker writes a decision whose facts lead to it, and are not true:
 * nothing in the record counts because the record says so.
 */
export async function requireSameFacts(context: AgentContext, replaying: Replaying): Promise<void> {
  const { record, entry, plan, step } = replaying;
  const { facts } = record;
  if (facts.confirmation_required !== step.confirmation_required)
    differs(entry.seq, 'The plan says something else about the need for a yes.');
  if (facts.risk !== riskOf(plan)) differs(entry.seq, 'The risk is another one.');
  await requireSameStandings(context, replaying);
  const access = await requireSameAccess(context, replaying);
  const views = await viewsAt(context, replaying, access.request.context.epoch_s);
  requireSameQuestion(replaying, access, views);
  requireSameApproval(replaying, views);
  await requireSameRegistry(context, replaying, views);
  await requireSameConfirmation(context, replaying);
}

async function requireSameStandings(context: AgentContext, replaying: Replaying): Promise<void> {
  const { record, entry, plan, step } = replaying;
  const simulations = [];
  for (const one of asked(plan, step)) {
    const known = await knownThen(context, one.simulation_id, entry);
    const standing = standingOf(known, one, entry.at);
    const told = record.facts.simulations.find(({ simulation_id }) => simulation_id === one.simulation_id);
    const activated = standing === 'ACTIVE' ? known!.bound : null;
    simulations.push({
      ...one,
      standing,
      activated,
      ...(await foundAgain(context, replaying, activated, told)),
    });
  }
  if (canonicalText(simulations) !== canonicalText(record.facts.simulations))
    differs(entry.seq, 'The simulations stood differently.');
}

/**
 * What was found then is an object, so the same difference comes out. Of what could not be derived only the reason is left;
 * it never dispatches.
 */
async function foundAgain(
  context: AgentContext,
  { plan }: Replaying,
  activated: string | null,
  told: DispatchDecision['facts']['simulations'][number] | undefined,
): Promise<{ found: string | null; differs: string[] }> {
  const found = told?.found ?? null;
  if (activated === null || found === activated) return { found: activated, differs: [] };
  if (found === null) return { found, differs: told?.differs.length ? told.differs : ['unknown'] };
  const bytes = await context.journey.store.object(found);
  return { found, differs: await differsFrom(context, activated, bytes, plan.rolls_back !== null) };
}

/** A simulation as the ledger knew it just before this entry. */
export async function knownThen(
  { journey }: AgentContext,
  id: string,
  { seq }: Entry,
): Promise<Registered | null> {
  let known: Registered | null = null;
  for (const { bytes } of await journey.store.entriesOf(`simulation:${id}`)) {
    const { entry, event } = journey.read_entry(bytes);
    if (entry.seq < seq && event.kind === 'simulation.changed')
      known = nextSimulation(known, event, entry.at);
  }
  return known;
}

/** The same policies say the same about the same question, and the question is about this user and this simulation. */
async function requireSameAccess(context: AgentContext, replaying: Replaying): Promise<DecisionRecord> {
  const { record, entry, state } = replaying;
  const { refs, facts } = record;
  const ref = refs.access_decision_ref ?? differs(entry.seq, 'It names no decision about access.');
  const access = openDecision(await context.journey.store.object(ref));
  const { request, snapshot } = access;
  if (request.action !== 'access' || request.principal.name !== state.user_id)
    differs(entry.seq, 'The decision about access is about another user.');
  await requireItsResource(context, replaying, access);
  const engine = await context.journey.rules(snapshot);
  const again = redecide(access, engine);
  if (snapshot !== refs.policy_snapshot_ref || !sameDecision(access.decision, again))
    differs(entry.seq, 'The policies say something else about access.');
  if (outcomeOf(engine, request, again) !== facts.access) differs(entry.seq, 'Access comes out differently.');
  return access;
}

/** What runs, or the template that was asked for: the stricter answer of the two was kept. As it was registered. */
async function requireItsResource(
  context: AgentContext,
  { entry, plan, step }: Replaying,
  { request: { resource, context: about } }: DecisionRecord,
): Promise<void> {
  if (resource.kind !== 'simulation')
    return differs(entry.seq, 'The decision about access is of another kind.');
  const meant = asked(plan, step).find(({ simulation_id }) => simulation_id === resource.name);
  if (!meant) return differs(entry.seq, 'The decision about access is about another simulation.');
  const { id, version, family, risk, impactful, side_effecting, irreversible, access_action } =
    await definitionOf(context, meant.definition);
  const registered = [id, version, family, risk, impactful, side_effecting, irreversible, access_action];
  const judged = [
    resource.name,
    resource.version,
    resource.family,
    resource.risk,
    resource.impactful,
    resource.side_effecting,
    resource.irreversible,
    about.action,
  ];
  if (canonicalText(registered) !== canonicalText(judged))
    differs(entry.seq, 'The decision about access describes another simulation than the registered one.');
}

/**
 * Roles, the hour and the policies decide, so they are not what the question says: humans had signed the roles and
 * activated the policies, and the entry has the time.
 */
function requireSameQuestion(
  { entry, state }: Replaying,
  { request, snapshot }: DecisionRecord,
  views: readonly View[],
): void {
  const { epoch_s, hour, weekday } = request.context;
  const made = new Date(epoch_s * 1000);
  const time = timeOf(made);
  const is_then = Math.abs(Date.parse(entry.at) - made.getTime()) <= DECIDED_MS;
  if (!is_then || time.hour !== hour || time.weekday !== weekday)
    differs(entry.seq, 'Access was decided at another time.');
  const given = canonicalText(request.principal);
  const is_known = views.some(
    ({ user }) => canonicalText(principalOf(state.user_id, user) as never) === given,
  );
  if (!is_known) differs(entry.seq, 'The user was somebody else to the policies than to the ledger.');
  if (!views.some(({ policy }) => policy === snapshot))
    differs(entry.seq, 'The policies were not active then.');
}

/** From the decision to the entry that rests on it, at most. */
const DECIDED_MS = 300_000;

/** From the entries of the intent that this step would run, and from nobody's word. */
function requireSameApproval({ record, entry, state, step_now }: Replaying, views: readonly View[]): void {
  const { approved } = record.facts;
  // Before a step is ready there is no intent that anybody could sign.
  const answers = views.map(
    ({ intent, authorities, humans, now }) =>
      step_now.state !== 'PENDING' &&
      hasHumanApproval(intent, { authorities, humans, user_id: state.user_id, now }),
  );
  if (!answers.includes(approved))
    differs(entry.seq, approved ? 'No human had approved it.' : 'A human had approved it.');
}

/** The bundle names the registry of the plan; an intent names the one that it was made from. */
async function requireSameRegistry(
  { journey }: AgentContext,
  { record, entry, plan }: Replaying,
  [view]: readonly View[],
): Promise<void> {
  const { artifact_fingerprint_bundle_ref: ref, catalog_snapshot_ref, policy_snapshot_ref } = plan;
  const bytes = await journey.store.object(ref);
  const { registry } = parseJson(bytes, bytes.length) as { registry: string };
  const bundle = artifactsOf(catalog_snapshot_ref, policy_snapshot_ref, registry);
  if (!Buffer.from(bundle).equals(bytes)) differs(entry.seq, 'The artifacts of the plan are others.');
  const proposed = view?.intent?.registry_digest ?? registry;
  if (record.decision === 'DISPATCH' && proposed !== registry)
    differs(entry.seq, 'The tools were not those that the plan was made with.');
}

/** The words themselves may have been erased; the token was a whole answer, so it is read in their place. */
async function requireSameConfirmation({ journey }: AgentContext, replaying: Replaying): Promise<void> {
  const { record, entry, state, step_now } = replaying;
  const { refs, facts, plan_id, step_id } = record;
  const ref = refs.confirmation_parse_proof_ref;
  if (ref !== (step_now.confirmation?.proof ?? null))
    differs(entry.seq, 'It rests on another answer than the newest.');
  if (ref === null) {
    if (facts.confirmation !== null) differs(entry.seq, 'It names no confirmation.');
    return;
  }
  const proof = confirmations.open(await journey.store.object(ref));
  const about = [proof.correlation_id, proof.user_id, proof.plan_id, proof.step_id, proof.answer];
  const meant = [state.correlation_id, state.user_id, plan_id, step_id, facts.confirmation];
  const again = readConfirmation(proof.token ?? '', proof.language);
  const read = [again.answer, again.confirm_lexicon_version_ref];
  if (
    canonicalText(about) !== canonicalText(meant) ||
    canonicalText(read) !== canonicalText([proof.answer, proof.confirm_lexicon_version_ref])
  )
    differs(entry.seq, 'The confirmation is read differently.');
}
