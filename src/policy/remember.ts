import { type Digest, sha256 } from '../canonical/digest.ts';
import { canonicalText, canonicalTextOfParsed, type Json } from '../canonical/json.ts';
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
  const known = new Recent<Digest, Decision>(limits.remembered_policy_sets);
  const reads = readsOf(engine.set.policies);
  return {
    ...engine,
    decide: (request) => {
      const question = sha256(questionOf(request, reads(request.action), engine.set.arguments));
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
 * The facts come from parsed values, so only what a text can carry is looked at; what JSON cannot say is refused here, before it could
 * look like another question. Arguments that a policy declares are always part of the question: without one of them it is denied,
 * whichever policies judge.
 */
function questionOf(request: PolicyRequest, reads: Names | null, types: ArgumentTypes): string {
  if (reads === null) return canonicalText(request);
  const { action, principal, resource, context } = request;
  let facts = '';
  for (const [name, value] of Object.entries(context) as [string, Json][]) {
    const text = reads.has(name) ? canonicalTextOfParsed(value) : kindOf(value);
    if (name !== 'calls') facts += `${name}:${text} `;
  }
  const asked = argumentsAsked(request, types);
  return facts + canonicalTextOfParsed({ action, principal, resource, asked });
}

/** Cedar refuses a question of the wrong form, also where no policy reads it: the form is part of the question. No JSON text is one of these letters. */
function kindOf(value: Json): string {
  if (typeof value === 'boolean') return 'b';
  if (Number.isSafeInteger(value)) return 'i';
  const text = canonicalTextOfParsed(value);
  if (typeof value === 'string') return 's';
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? 'l' : text;
}
