import type { Digest } from '../canonical/digest.ts';
import { AGENT_CORE, needsDispatch } from '../gate/agent-core.ts';
import { type ApprovalsNow, approvalsNow, couldAdd } from '../gate/approvals.ts';
import { breakGlassSince } from '../gate/break-glass.ts';
import { capabilityNow } from '../gate/capability.ts';
import type { Capability, IntentState } from '../gate/state.ts';
import { hasExpired, isDue } from '../gate/status-word.ts';
import { HUMAN_ASSURANCE_LEVEL } from '../identity/assurance.ts';
import type { Authorities } from '../identity/delegation.ts';
import { canAct, isLive, type Principal } from '../identity/principal.ts';
import { journeyLimits } from '../limits.ts';
import { type ApproversRead, approversRead } from '../policy/approvers-read.ts';
import type { Engine } from '../policy/engine.ts';
import { type Lacking, lackingFor } from '../policy/lacking.ts';
import { judgingGrants, type Policy, readsApprovers } from '../policy/policy.ts';
import type { ApprovalFacts, ApproverRoles } from '../policy/quorum.ts';
import type { PolicyRequest } from '../policy/request.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, type Context, humansNow } from './context.ts';
import { openAsked } from './effect.ts';
import { actionOf } from './reach.ts';
import { resourceOf } from './resource.ts';
import { questionAbout } from './rules.ts';
import { openEffect } from './sealed-effect.ts';
import { coreLife, termsOf, termsOrdered } from './terms.ts';

/**
 * The approvals without which the policies grant no capability for an intent, for all that tells where it stands; null where there are
 * none. What cannot be read lacks none. It decides nothing: each act asks the policies itself.
 */
export async function lackingOf(
  context: Context,
  state: IntentState,
  authorities: Authorities,
  asked: Asked | null = null,
): Promise<Lacking | null> {
  const now = context.clock();
  if (!isDue(state) || hasExpired(state, now)) return null;
  if (context.lacking) return context.lacking(state, authorities);
  const capability = capabilityNow(state, now);
  const order = typeof capability === 'string' ? null : capability;
  // Of what was issued, or goes past the policies, they are not asked again.
  if (order?.issued || goesPast(state, authorities, now)) return null;
  const { policy } = await context.store.system();
  if (policy === null) return null;
  try {
    if (!(await mayLack(context, policy, state, asked))) return null;
    return await asking(context, { state, authorities, asked, order, now }, await context.rules(policy));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function goesPast(state: IntentState, authorities: Authorities, now: Date): boolean {
  const isLiveKey = (name: string, key: string) => isLive(authorities.principal(name), key);
  return breakGlassSince(state, now.toISOString(), isLiveKey) !== null;
}

/** Whether what enough humans approved can still wait for one, by the texts of the policies. */
export async function mayWaitApproved(context: Context): Promise<boolean> {
  if (context.is_own) return true;
  const { policy } = await context.store.system();
  return policy !== null && (await readOf(context, policy)) !== 'none';
}

async function readOf({ store, memory }: Context, policy: Digest): Promise<ApproversRead> {
  const known = memory.approvers_read.get(policy);
  if (known !== undefined) return known;
  const read = approversRead(await store.object(policy));
  memory.approvers_read.set(policy, read);
  return read;
}

/** By the texts of the policies and by what the effect reaches: most intents need no Cedar for it. */
async function mayLack(
  context: Context,
  policy: Digest,
  { effect_digest, tool }: IntentState,
  asked: Asked | null,
): Promise<boolean> {
  const { store, memory } = context;
  const read = await readOf(context, policy);
  if (read !== 'elevated') return read === 'any';
  let elevated = memory.elevated.get(effect_digest);
  if (elevated === undefined) {
    const effect = asked?.effect ?? openEffect(await store.object(effect_digest));
    ({ elevated } = resourceOf(context, effect, tool));
    memory.elevated.set(effect_digest, elevated);
  }
  return elevated;
}

interface Asking {
  readonly state: IntentState;
  readonly authorities: Authorities;
  /** What is drafted and not stored yet; null to read it. */
  readonly asked: Asked | null;
  /** What was ordered and is not issued. */
  readonly order: Capability | null;
  readonly now: Date;
}

async function asking(
  context: Context,
  { state, authorities, asked: drafted, order, now }: Asking,
  engine: Engine,
): Promise<Lacking | null> {
  const judging = judgingGrants(engine.set.policies);
  const policies = judging.filter(readsApprovers);
  if (policies.length === 0) return null;
  const approvals = approvalsNow(state, { now, authorities });
  const people = (await context.store.all('principal')).filter(canAct);
  // What the agent core proposed it orders itself, under a delegation.
  const is_core = order === null && needsDispatch(state);
  const by_name = order?.by ?? (is_core ? AGENT_CORE : null);
  const orderers =
    by_name === null
      ? orderersOf(people, approvals, judging)
      : [await context.store.find('principal', by_name)].filter((one) => one !== null);
  const [principal] = orderers;
  if (principal === undefined) return null;
  const [asked, system] = await Promise.all([drafted ?? openAsked(context, state), context.store.system()]);
  const request = { action: actionOf(asked.effect), ...(is_core && { ttl_s: coreLife(context) }) };
  const grant = order
    ? await termsOrdered(context.store, order, asked.effect)
    : termsOf(context, request, state, asked, now);
  const by = { principal, delegated: is_core || (order?.delegation ?? null) !== null };
  const matter = { action: 'grant', ...by, grant, state, ...asked, system, authorities, now } as const;
  const question = await questionAbout(context, matter, engine);
  const questions = orderers.map((one) => askedBy(question, one));
  if (questions.some((one) => engine.decide(one).allowed)) return null;

  const is_alone = (await humansNow(context)) === 1;
  const { quorums } = engine.set;
  // One by delegation counts no more once a human has signed.
  const signed = approvals.counted.some(({ delegation }) => delegation === null);
  const approvers = signed
    ? approvals.approvers.map((name) => rolesOf(authorities.principal(name), name))
    : [];
  const others = people.filter(({ name }) => couldAdd(state, approvals, { name, is_alone }));
  const found = questions.map((one) =>
    lackingFor({
      ...{ policies, quorums, approvers, others },
      allows: (facts) => engine.decide(withApprovals(one, facts, signed)).allowed,
    }),
  );
  return found.reduce((a, b) => (a === null || (b !== null && b.missing < a.missing) ? b : a));
}

/** Who could order it, its approvers first. One stands for all where no policy asks who it is. */
function orderersOf(
  people: readonly Principal[],
  { approvers }: ApprovalsNow,
  judging: readonly Policy[],
): readonly Principal[] {
  const rank = ({ name }: Principal) => Number(!approvers.includes(name));
  const sorted = people.toSorted((a, b) => rank(a) - rank(b));
  return sorted.slice(0, judging.some(({ asks_who }) => asks_who) ? journeyLimits.orderers_asked : 1);
}

function rolesOf(principal: Principal | null, name: string): ApproverRoles {
  return { name, roles: principal?.roles ?? [] };
}

/** No human acts yet, so there is no account to compare. */
function askedBy(question: PolicyRequest, { kind, name, roles, enrolled_by }: Principal): PolicyRequest {
  return {
    ...question,
    principal: { kind, name, roles, enrolled_by },
    context: { ...question.context, same_account: false },
  };
}

/** What is not signed yet may be signed with whatever the policies ask for. */
function withApprovals(question: PolicyRequest, facts: ApprovalFacts, is_signed: boolean): PolicyRequest {
  const assurance = is_signed ? question.context.assurance : BEST_ASSURANCE;
  return { ...question, context: { ...question.context, ...facts, assurance } };
}

const BEST_ASSURANCE = Math.max(...Object.values(HUMAN_ASSURANCE_LEVEL));
