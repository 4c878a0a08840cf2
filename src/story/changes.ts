import { visible } from '../canonical/visible.ts';
import type { Envelope } from '../intent/envelope.ts';
import { limits } from '../limits.ts';

/** What a changed intent asks for differently than the one that it replaces, one line for each place. */
export function changesBetween(before: Envelope, after: Envelope): string[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const places = [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key));
  const lines = places.map((key) => {
    const words = differenceWords(old.get(key) ?? null, now.get(key) ?? null, limits.told_value_chars);
    return `${visible(nameOf(key))}${words}`;
  });
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

/** The words of the screens that ask: an argument by its name alone. */
function nameOf(place: string): string {
  return NAMES[place] ?? place.replace(/^effect\.arguments\./, '');
}

const NAMES: Readonly<Record<string, string>> = {
  declared_goal: 'goal',
  issuer: 'asked by',
  'effect.tool': 'what runs',
};

/** How a difference goes on behind its name. Each value is JSON, and null where there is none; one with more characters is not shown. */
export function differenceWords(before: string | null, now: string | null, chars: number): string {
  if (before === null && now === null) return ': another one';
  const [old, present] = [before, now].map((text) => (text === null ? 'nothing' : visible(text)));
  const fits = old!.length <= chars && present!.length <= chars;
  if (!fits || old === present) return ': another value';
  return `: ${old} before, ${present} now`;
}
