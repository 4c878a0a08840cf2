import { canonicalText, canonicalTextOfParsed, guardPlain, type Json } from '../canonical/json.ts';
import { Recent } from '../canonical/recent.ts';
import { limits } from '../limits.ts';
import { type ArgumentTypes, argumentsAsked } from './arguments.ts';
import type { Engine } from './engine.ts';
import type { Policy } from './policy.ts';
import { type Decision, type PolicyAction, type PolicyRequest, SCOPE_OF } from './request.ts';

/**
 * The same engine: a decision follows from the policies and from what they read of the question, so questions that differ only in
 * what no policy reads are asked once. Cedar itself tells what a policy reads.
 */
export function rememberingEngine(engine: Engine): Engine {
  const known = new Recent<string, Decision>(limits.remembered_policy_sets);
  const reads = readsOf(engine.set.policies);
  return {
    ...engine,
    decide: (request) => {
      const question = questionOf(request, reads(request.action), engine.set.arguments);
      const found = known.get(question);
      if (found) return found;
      const decision = engine.decide(request);
      known.set(question, decision);
      return decision;
    },
  };
}

type Names = ReadonlySet<string>;

/** What the policies that judge an action read of the context; null where one of them may read anything. */
function readsOf(policies: readonly Policy[]): (action: PolicyAction) => Names | null {
  const known = new Map<PolicyAction, Names | null>();
  return (action) => {
    const found = known.get(action);
    if (found !== undefined) return found;
    const judging = policies.filter(({ scope }) => scope === SCOPE_OF[action] || scope === 'emergency');
    const names = judging.some(({ reads }) => reads === null)
      ? null
      : new Set(judging.flatMap(({ reads }) => reads!.map(sourceOf)));
    known.set(action, names);
    return names;
  };
}

/** `call.ts` makes one attribute of another one. */
function sourceOf(name: string): string {
  return name === 'writes_in' ? 'scope_writes' : name;
}

/**
 * Facts of the ledger are plain JSON. Anything else is refused here, before it could look like another question. Arguments that a
 * policy declares are always part of the question: without one of them it is denied, whichever policies judge.
 */
function questionOf(request: PolicyRequest, reads: Names | null, types: ArgumentTypes): string {
  if (reads === null) return canonicalText(request);
  const { calls, ...facts } = request.context;
  guardPlain(calls);
  guardPlain(facts);
  const context = Object.entries(facts).map(([name, value]) => [
    name,
    reads.has(name) ? value : kindOf(value),
  ]);
  const asked = argumentsAsked(request, types);
  return canonicalTextOfParsed({ ...request, asked, context: Object.fromEntries(context) });
}

/** Cedar refuses a question of the wrong form, also where no policy reads it: the form is part of the question. */
function kindOf(value: Json): Json {
  if (typeof value === 'string') return '';
  if (typeof value === 'boolean') return false;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return 0;
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [] : value;
}
