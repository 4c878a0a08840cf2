import { canonicalText, type Json } from '../canonical/json.ts';
import type { Approval, IntentState } from '../gate/state.ts';
import { hasExpired, isDue } from '../gate/status-word.ts';
import type { Envelope } from '../intent/envelope.ts';
import { journeyLimits } from '../limits.ts';
import type { McpEffect } from '../mcp-call/effect.ts';
import type { PlanEffect } from '../plan/model.ts';
import { Refusal } from '../refusal.ts';
import { differingFields, type ToolEffect } from '../tool/effect.ts';
import { type Asked, type Context, requireIntent } from './context.ts';
import type { Effect } from './derived.ts';
import { openAsked } from './effect.ts';
import { newestBefore } from './page.ts';

/** One thing in which two intents differ, with the value of each, as JSON, where there is one to show. */
export interface Difference {
  readonly what: string;
  readonly before: string | null;
  readonly now: string | null;
}

/** The last intent of the same tool, or the same plan, that a human approved, and in what the new one differs. */
export interface Earlier {
  readonly intent_id: string;
  readonly approved_at: string;
  /** None where the two are the same; null where the earlier one was erased. */
  readonly differences: readonly Difference[] | null;
}

/**
 * Found by an index, and told by the signed entries alone: a row that claims an approval which no entry holds is passed over.
 * The words of the proposer are no part of the comparison.
 */
export async function earlierApproved(
  context: Context,
  intent_id: string,
  name: string,
): Promise<Earlier | null> {
  const state = await requireIntent(context, intent_id);
  for (const candidate of await candidatesFor(context, state, name)) {
    const proven = (await context.ledger.told('intent', candidate))?.state;
    const approval = proven && approvalBy(proven, name);
    if (!proven || !approval || proven.tool !== state.tool || proven.effect !== state.effect) continue;
    const differences = await differencesTo(context, proven, state);
    return { intent_id: candidate, approved_at: approval.signed_at, differences };
  }
  return null;
}

/** The intent that another one replaces, and in what they differ, also in the words of their proposers. */
export async function changesTo(
  context: Context,
  intent_id: string,
): Promise<Pick<Earlier, 'intent_id' | 'differences'> | null> {
  const state = await requireIntent(context, intent_id);
  if (state.replaces === null) return null;
  const before = (await context.ledger.told('intent', state.replaces))?.state;
  const differences = before ? await differencesTo(context, before, state, true) : null;
  return { intent_id: state.replaces, differences };
}

/** The ids of intents that this human approved, by their rows; the latest approval first. */
async function candidatesFor({ store }: Context, state: IntentState, name: string): Promise<string[]> {
  const rows = await store.page(
    'intent',
    newestBefore(journeyLimits.earlier_intents, undefined, ['tool', [state.tool]]),
  );
  return rows
    .flatMap(({ state: one }) => {
      const approval = one.intent_id === state.intent_id ? undefined : approvalBy(one, name);
      return approval ? [{ id: one.intent_id, at: approval.signed_at }] : [];
    })
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .map(({ id }) => id);
}

/** What they signed themselves. A delegate's yes is not something that they saw. */
function approvalBy({ approvals }: IntentState, name: string): Approval | undefined {
  return approvals.findLast(({ by, delegation }) => by === name && delegation === null);
}

async function differencesTo(
  context: Context,
  before: IntentState,
  now: IntentState,
  with_goal = false,
): Promise<Difference[] | null> {
  let earlier: Asked;
  try {
    earlier = await openAsked(context, before);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
  const present = await openAsked(context, now);
  return [
    ...changed('asked by', before.proposer, now.proposer),
    ...(with_goal ? changed('goal', earlier.envelope.declared_goal, present.envelope.declared_goal) : []),
    ...changed('what runs', before.tool, now.tool),
    ...effectDifferences(earlier.effect, present.effect),
    ...changed('constraints', earlier.envelope.constraints, present.envelope.constraints, false),
    ...changed('alternates', callsIn(earlier.envelope).slice(1), callsIn(present.envelope).slice(1), false),
  ];
}

/** Whatever is not shown by value is named all the same. */
function changed(what: string, was: Json | undefined, is: Json | undefined, shown = true): Difference[] {
  const [before, now] = [was, is].map((value) => (value === undefined ? null : canonicalText(value)));
  if (before === now) return [];
  return [shown ? { what, before: before!, now: now! } : { what, before: null, now: null }];
}

function effectDifferences(before: Effect, now: Effect): Difference[] {
  if (before.kind === 'tool' && now.kind === 'tool') return toolDifferences(before, now);
  if (before.kind === 'mcp' && now.kind === 'mcp') return callDifferences(before, now);
  return before.kind === 'plan' && now.kind === 'plan' ? planDifferences(before, now) : [];
}

/** Argument by argument; then whatever else differs, by name. */
function callDifferences(before: McpEffect, now: McpEffect): Difference[] {
  const names = [...new Set([...Object.keys(before.arguments), ...Object.keys(now.arguments)])].sort();
  const parts = ['definition', 'start', 'files'] as const;
  return [
    ...names.flatMap((name) => changed(name, before.arguments[name], now.arguments[name])),
    ...parts.flatMap((part) =>
      changed(MCP_WORDS[part], before[part] as unknown as Json, now[part] as unknown as Json, false),
    ),
  ];
}

const MCP_WORDS = {
  definition: 'how its server defines it',
  start: 'how its server is started',
  files: 'the script of its server',
} as const;

/** The command line follows from the arguments and the definition, and is named only where neither tells of it. Who chose a value does not count. */
function toolDifferences(before: ToolEffect, now: ToolEffect): Difference[] {
  const names = [...new Set([...Object.keys(before.arguments), ...Object.keys(now.arguments)])].sort();
  const values = names.flatMap((name) => changed(name, before.arguments[name], now.arguments[name]));
  const fields = differingFields(before, now).filter((field) => field !== 'arguments' && field !== 'chosen');
  const told = values.length > 0 || fields.includes('definition_digest');
  return [
    ...values,
    ...fields
      .filter((field) => !told || field !== 'argv')
      .map((field) => ({ what: FIELD_WORDS[field] ?? field, before: null, now: null })),
  ];
}

const FIELD_WORDS: Readonly<Record<string, string>> = {
  argv: 'the command line',
  executables: 'the program itself',
  covers: 'files that the program loads',
  definition_digest: 'its entry in tools.yaml',
  cwd: 'the folder',
};

/** Path by path; what no path tells is one difference more. */
function planDifferences(before: PlanEffect, now: PlanEffect): Difference[] {
  const [earlier, present] = [statesOf(before), statesOf(now)];
  const paths = [...new Set([...earlier.keys(), ...present.keys()])].sort();
  const found = paths
    .filter((path) => earlier.get(path) !== present.get(path))
    .map((path) => ({ what: path, before: partOf(earlier, path), now: partOf(present, path) }));
  if (found.length > 0) return found;
  return changed('the actions of the plan', before as unknown as Json, now as unknown as Json, false);
}

function partOf(states: ReadonlyMap<string, string>, path: string): string {
  return states.has(path) ? 'changed' : 'left alone';
}

/** What the plan does to each path. */
function statesOf({ actions }: PlanEffect): Map<string, string> {
  const found = new Map<string, string>();
  for (const { action_type, changes } of actions)
    for (const change of changes)
      found.set(
        change.path,
        `${found.get(change.path) ?? ''}${canonicalText([action_type, change.after] as unknown as Json)}`,
      );
  return found;
}

function callsIn({ effect, alternates }: Envelope): Json[] {
  return [effect, ...alternates].map(({ digest: _, ...call }) => call as unknown as Json);
}

/** The newest other intent of the same proposer that asks for the same calls and has not run. The goal may say it in other words. */
export async function pendingTwin(context: Context, intent_id: string): Promise<string | null> {
  const own = await requireIntent(context, intent_id);
  const calls = canonicalText(callsIn((await openAsked(context, own)).envelope));
  const page = newestBefore(journeyLimits.twin_intents, undefined, ['proposer', [own.proposer]]);
  const rows = await context.store.page('intent', page);
  const now = context.clock();
  for (const { state } of rows) {
    const is_candidate = state.intent_id !== intent_id && state.tool === own.tool;
    if (!is_candidate || !isDue(state) || hasExpired(state, now)) continue;
    const asked = await openAsked(context, state).catch(() => null);
    if (asked && canonicalText(callsIn(asked.envelope)) === calls) return state.intent_id;
  }
  return null;
}
