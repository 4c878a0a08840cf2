import type { Body, Event } from '../event/event.ts';
import { refuse } from '../refusal.ts';
import { isGlassBroken } from './capability.ts';
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

export function movesFreeze(event: Event): event is FreezeEvent {
  return event.kind === 'system.frozen' || event.kind === 'system.unfrozen';
}

/** Pure: what is frozen after this event. */
export function nextFreezes(freezes: readonly Freeze[], event: FreezeEvent, at: string): readonly Freeze[] {
  const { scope, name, by, reason } = event.body;
  const others = freezes.filter((freeze) => freeze.scope !== scope || freeze.name !== name);
  const is_frozen = others.length < freezes.length;
  if (event.kind === 'system.unfrozen') return is_frozen ? others : refuse('NOT_FROZEN');
  if (is_frozen) refuse('FROZEN_ALREADY');
  return [...freezes, { scope, name, by, at, reason }];
}

/** The freeze that stops this; null when none does. */
export function freezeOf(
  freezes: readonly Freeze[],
  { tenant, agent, tools }: { tenant: string; agent: string | null; tools: readonly string[] },
): Freeze | null {
  const stops: Readonly<Record<Freeze['scope'], (name: string) => boolean>> = {
    system: () => true,
    tenant: (name) => name === tenant,
    agent: (name) => name === agent,
    tool: (name) => tools.includes(name),
  };
  return freezes.find(({ scope, name }) => stops[scope](name)) ?? null;
}

/** Only two humans who broke the glass for this attempt go past a freeze. */
export function frozenFor(freezes: readonly Freeze[], tenant: string, state: IntentState): Freeze | null {
  if (freezes.length === 0 || isGlassBroken(state)) return null;
  return freezeOf(freezes, { tenant, agent: state.proposer, tools: [state.tool] });
}

/** Who stopped it, when and why, in one sentence. */
export function freezeWords({ scope, name, by, at, reason }: Freeze): string {
  const what = scope === 'system' ? 'Everything' : `The ${scope} "${name}"`;
  return `${what} is frozen since ${at}, by ${by}: ${reason}`;
}
