import { visible } from '../canonical/visible.ts';
import { policyLimits } from '../limits.ts';
import type { DecidingPolicy, PolicyRequest, Scope } from './request.ts';

/** A decision in one or two sentences, for the person who asks why. */

export function allowedBy(policies: readonly DecidingPolicy[]): string {
  return `Allowed by ${namesAndWhy(policies)}`;
}

export function deniedBy(policies: readonly DecidingPolicy[]): string {
  return `Denied by ${namesAndWhy(policies)}`;
}

export function notPermitted({ principal, action, resource }: PolicyRequest, scope: Scope): string {
  const who = `the ${principal.kind} ${quoted(principal.name)}`;
  const what = `${VERBS[action]} the ${resource.kind} ${quoted(resource.name)}`;
  return `Denied: no policy of the scope ${scope} permits ${who} to ${what}.`;
}

export function notEvaluated({ id, version }: DecidingPolicy, message: string): string {
  return `Denied, because the policy "${id}" (version ${version}) could not be evaluated: ${ended(short(message))}`;
}

export function notAsked(message: string): string {
  return `Denied, because the policies could not be asked: ${ended(short(message))}`;
}

const VERBS: Readonly<Record<PolicyRequest['action'], string>> = {
  review: 'be asked to look at',
  pass: 'let its client run',
  submit: 'submit an intent for',
  approve: 'approve',
  grant: 'have a capability for',
  execute: 'execute',
  break_glass: 'use break-glass for',
  access: 'have',
};

/** The first with its reason, the others by name: who wants more of them finds them in the decision. */
function namesAndWhy([first, ...others]: readonly DecidingPolicy[]): string {
  const { id, version, rationale } = first!;
  const why = `"${id}" (version ${version}): ${ended(rationale)}`;
  if (others.length === 0) return why;
  const named = others.slice(0, policyLimits.named).map((other) => `"${other.id}"`);
  if (others.length > policyLimits.named) named.push(`${others.length - policyLimits.named} more`);
  return `${why} Also by ${listed(named)}.`;
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function quoted(name: string): string {
  return `"${visible(name)}"`;
}

function short(message: string): string {
  return visible(message.slice(0, policyLimits.message_chars));
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
