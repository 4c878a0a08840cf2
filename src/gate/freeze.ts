import type { Body, Event } from '../event/event.ts';
import { requireSeen } from '../identity/seen.ts';
import { refuse } from '../refusal.ts';
import { breakGlassSince } from './break-glass.ts';
import type { IntentState } from './state.ts';

/** Something that is stopped until a human lets it go. */
export interface Freeze {
  readonly scope: Body<'system.frozen'>['scope'];
  readonly name: string;
  readonly by: string;
  readonly at: string;
  readonly reason: string;
}

export type FreezeEvent = Event<'system.frozen' | 'system.unfrozen'>;

/** Pure: what is frozen after this event. */
export function nextFreezes(freezes: readonly Freeze[], event: FreezeEvent, at: string): readonly Freeze[] {
  const { scope, name, by, reason } = event.body;
  const known = freezes.find((freeze) => freeze.scope === scope && freeze.name === name);
  if (event.kind === 'system.unfrozen') {
    if (!known) refuse('NOT_FROZEN');
    requireSeen(event.body.lifts, { by: known.by, at: known.at }, freezeWords(known));
    return freezes.filter((freeze) => freeze !== known);
  }
  if (known) refuse('FROZEN_ALREADY');
  return [...freezes, { scope, name, by, at, reason }];
}

/** The freeze that stops this; null when none does. */
export function freezeOf(
  freezes: readonly Freeze[],
  { tenant, agents, tools }: { tenant: string; agents: readonly string[]; tools: readonly string[] },
): Freeze | null {
  const stops: Readonly<Record<Freeze['scope'], (name: string) => boolean>> = {
    system: () => true,
    tenant: (name) => name === tenant,
    agent: (name) => agents.includes(name),
    tool: (name) => tools.includes(name),
  };
  return freezes.find(({ scope, name }) => stops[scope](name)) ?? null;
}

/**
 * What a freeze of an agent stops: what it proposed, submitted, was granted, or asked the agent core for. A name alone is
 * easily another.
 */
function agentsOf(state: IntentState): string[] {
  const granted = state.capabilities.filter(({ attempt }) => attempt === state.attempt);
  const user = state.on_behalf_of === null ? [] : [state.on_behalf_of];
  return [state.proposer, ...user, ...state.delegates, ...granted.map(({ by }) => by)];
}

/** What the present attempt would run. */
function toolsOf({ choices, tool, effect_digest }: IntentState): readonly string[] {
  return choices.find((one) => one.tool === tool && one.effect_digest === effect_digest)!.tools;
}

export interface FreezeFacts {
  readonly freezes: readonly Freeze[];
  readonly tenant: string;
  readonly at: string;
  readonly isLiveKey: (name: string, key: string) => boolean;
}

/** Only a break-glass of two humans for this attempt goes past a freeze, and only past one that they knew of. */
export function frozenFor(state: IntentState, facts: FreezeFacts): Freeze | null {
  const { freezes, tenant, at, isLiveKey } = facts;
  if (freezes.length === 0) return null;
  const since = breakGlassSince(state, at, isLiveKey);
  const known = (freeze: Freeze) => since !== null && Date.parse(freeze.at) <= Date.parse(since);
  const about = { tenant, agents: agentsOf(state), tools: toolsOf(state) };
  return freezeOf(
    freezes.filter((freeze) => !known(freeze)),
    about,
  );
}

/** Who stopped it, when and why, in one sentence. */
export function freezeWords({ scope, name, by, at, reason }: Freeze): string {
  const what = scope === 'system' ? 'Everything' : `The ${scope} "${name}"`;
  // The reason is what a person wrote: what follows it is no part of it.
  return `${what} is frozen since ${at}, by ${by}: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}`;
}
