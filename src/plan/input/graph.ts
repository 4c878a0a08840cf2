import { refuse } from '../../refusal.ts';

/** The order of actions: what waits for what. Pure. Who may run at the same time is for the engine to say. */

export interface Node {
  readonly action_id: string;
  readonly depends_on: readonly string[];
}

/**
 * The topological order that keeps as close to the plan as the dependencies allow: of the actions that may go, the one
 * that stands first in the plan goes first. So one plan has one order. Refuses a circle and an unknown dependency.
 */
export function executionOrder<N extends Node>(nodes: readonly N[]): N[] {
  requireKnown(nodes);
  const done = new Set<string>();
  const order: N[] = [];
  const waiting = [...nodes];
  while (waiting.length > 0) {
    const next = waiting.findIndex((node) => node.depends_on.every((id) => done.has(id)));
    if (next < 0) refuseCycle(nodes);
    const [node] = waiting.splice(next, 1);
    order.push(node!);
    done.add(node!.action_id);
  }
  return order;
}

/**
 * One circle in the order in which the actions wait for each other, or null. What can be ordered is taken away first, so
 * from whatever is left a walk along its dependencies must meet itself.
 */
export function findCycle(nodes: readonly Node[]): string[] | null {
  const left = new Map<string, Node>();
  // An id that is there twice waits for what both of them wait for.
  for (const { action_id, depends_on } of nodes)
    left.set(action_id, {
      action_id,
      depends_on: [...(left.get(action_id)?.depends_on ?? []), ...depends_on],
    });
  for (let free = freeOf(left); free.length > 0; free = freeOf(left)) {
    for (const node of free) left.delete(node.action_id);
  }
  const start = left.values().next().value;
  return start === undefined ? null : walkUntilMet(left, start);
}

function freeOf(left: ReadonlyMap<string, Node>): Node[] {
  return [...left.values()].filter((node) => !node.depends_on.some((id) => left.has(id)));
}

function walkUntilMet(left: ReadonlyMap<string, Node>, start: Node): string[] {
  const trail: string[] = [];
  for (let node = start; ; node = left.get(node.depends_on.find((id) => left.has(id))!)!) {
    const met = trail.indexOf(node.action_id);
    if (met >= 0) return trail.slice(met);
    trail.push(node.action_id);
  }
}

/** Circles that share no action, until none is left. */
export function findCycles(nodes: readonly Node[]): string[][] {
  const cycles: string[][] = [];
  let left = nodes;
  for (let cycle = findCycle(left); cycle !== null; cycle = findCycle(left)) {
    const met = new Set(cycle);
    cycles.push(cycle);
    left = left.filter((node) => !met.has(node.action_id));
  }
  return cycles;
}

/** `a → b → a` as people write it. */
export function cycleText(cycle: readonly string[]): string {
  return [...cycle, cycle[0]].join(' → ');
}

function requireKnown(nodes: readonly Node[]): void {
  const known = new Set(nodes.map((node) => node.action_id));
  for (const { action_id, depends_on } of nodes) {
    const unknown = depends_on.find((id) => !known.has(id));
    if (unknown !== undefined)
      refuse('PLAN_DEPENDENCIES_CYCLIC', `The action ${action_id} waits for ${unknown}, which is not there.`);
  }
}

function refuseCycle(nodes: readonly Node[]): never {
  const cycle = cycleText(findCycle(nodes) ?? []);
  return refuse('PLAN_DEPENDENCIES_CYCLIC', `The actions wait for each other: ${cycle}.`, { cycle });
}
