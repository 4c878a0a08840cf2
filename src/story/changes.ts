import { visible } from '../canonical/visible.ts';
import type { Envelope } from '../intent/envelope.ts';
import { limits } from '../limits.ts';

/** What a changed intent asks for differently than the one that it replaces, one line for each place. */
export function changesBetween(before: Envelope, after: Envelope): string[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const places = [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key));
  const lines = places.map((key) => `${visible(key)}: ${shown(old.get(key))} -> ${shown(now.get(key))}`);
  return lines.length > limits.told_changes
    ? [...lines.slice(0, limits.told_changes), `and ${lines.length - limits.told_changes} more`]
    : lines;
}

/** What a person asked for. Ids, digests and times differ in any two intents. */
function leavesOf(envelope: Envelope): Map<string, string> {
  const { declared_goal, constraints, requested_actions, issuer } = envelope;
  const effect = withoutDigest(envelope.effect);
  const alternates = envelope.alternates.map(withoutDigest);
  const leaves = new Map<string, string>();
  collect({ issuer, declared_goal, constraints, requested_actions, effect, alternates }, '', leaves);
  return leaves;
}

function withoutDigest<T extends { digest: string }>({ digest: _, ...rest }: T) {
  return rest;
}

function collect(value: unknown, place: string, leaves: Map<string, string>): void {
  if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value))
      collect(inner, place === '' ? key : `${place}.${key}`, leaves);
  } else leaves.set(place, JSON.stringify(value));
}

function shown(text: string | undefined): string {
  if (text === undefined) return 'nothing';
  return visible(text.length > limits.told_value_chars ? `${text.slice(0, limits.told_value_chars)}…` : text);
}
