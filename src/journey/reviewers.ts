import { type ApprovalsNow, couldAdd } from '../gate/approvals.ts';
import type { IntentState } from '../gate/state.ts';
import { canAct, type Principal } from '../identity/principal.ts';
import type { Engine } from '../policy/engine.ts';
import type { PolicyRequest } from '../policy/request.ts';
import { Refusal } from '../refusal.ts';
import { approvalsOf } from './approvals.ts';
import { type Context, humansNow } from './context.ts';
import { openAsked } from './effect.ts';
import { questionAbout } from './rules.ts';

/** Whom the active policies ask to look at an intent, by name; null for all who could approve it. It gives no right, and takes none. */
export type Reviewers = readonly string[] | null;

/**
 * Who is asked to look at an intent now. Null where it waits for no approval, and where the policies name no human who could
 * approve it.
 */
export async function reviewersOf(
  context: Context,
  state: IntentState,
  approvals: ApprovalsNow,
): Promise<Reviewers> {
  const routed = await routedOf(context, state, approvals);
  const named = routed === null ? null : routed.at(context.clock());
  return named ?? (context.is_own ? null : approvals.wanted);
}

/** Who is asked now, and was not at that time because it had not waited for long enough. */
export async function reviewersAdded(context: Context, state: IntentState, since: Date): Promise<string[]> {
  const routed = await routedOf(context, state, await approvalsOf(context, state));
  if (routed === null) return [];
  const before = routed.at(since);
  // All were asked, so none is added.
  if (before === null) return [];
  return (routed.at(context.clock()) ?? []).filter((name) => !before.includes(name));
}

/** Whether the approval of this human is missing. */
export function couldApprove(
  state: IntentState,
  approvals: Pick<ApprovalsNow, 'missing' | 'approvers' | 'wanted'>,
  who: { readonly name: string; readonly is_alone: boolean },
): boolean {
  const { missing, wanted } = approvals;
  return missing > 0 && (wanted?.includes(who.name) ?? true) && couldAdd(state, approvals, who);
}

interface Routed {
  /** Those who are asked once it has waited until then. */
  at(until: Date): Reviewers;
}

/** Where the policies or the contents cannot be read (they are damaged or erased) all are asked. Who is asked is not told to an agent. */
async function routedOf(
  context: Context,
  state: IntentState,
  approvals: ApprovalsNow,
): Promise<Routed | null> {
  if (context.is_own || approvals.missing === 0) return null;
  try {
    return await routing(context, state, approvals);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function routing(
  context: Context,
  state: IntentState,
  approvals: ApprovalsNow,
): Promise<Routed | null> {
  const engine = await routingPolicies(context);
  if (engine === null) return null;
  const is_alone = (await humansNow(context)) === 1;
  const people = (await context.store.all('principal')).filter(
    (one) => canAct(one) && couldApprove(state, approvals, { name: one.name, is_alone }),
  );
  const principal = people[0];
  if (principal === undefined) return null;
  const [asked, system] = await Promise.all([openAsked(context, state), context.store.system()]);
  const matter = { action: 'review', principal, state, ...asked, system, now: context.clock() } as const;
  const question = await questionAbout(context, matter, engine);
  const proposed_ms = Date.parse(state.proposed_at);
  return {
    at: (until) => {
      const waited_s = Math.max(0, Math.floor((until.getTime() - proposed_ms) / 1000));
      const names = people
        .filter((one) => engine.decide(askedAbout(question, one, waited_s)).allowed)
        .map(({ name }) => name);
      return names.length === 0 ? null : names.sort();
    },
  };
}

function askedAbout(
  question: PolicyRequest,
  { kind, name, roles, enrolled_by }: Principal,
  waited_s: number,
): PolicyRequest {
  return {
    ...question,
    principal: { kind, name, roles, enrolled_by },
    // No human acts yet, so there is no account to compare.
    context: { ...question.context, same_account: false, waited_s },
  };
}

/** The active policies where some are of the scope `review`; null where none is. Most sets have none, and are not parsed for it. */
async function routingPolicies({ store, rules, memory }: Context): Promise<Engine | null> {
  const { policy } = await store.system();
  if (policy === null) return null;
  let may_route = memory.routes.get(policy);
  if (may_route === undefined) {
    may_route = Buffer.from(await store.object(policy)).includes('review');
    memory.routes.set(policy, may_route);
  }
  if (!may_route) return null;
  const engine = await rules(policy);
  return engine.set.policies.some(({ scope }) => scope === 'review') ? engine : null;
}
