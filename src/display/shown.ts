import { argument, isPlainWord, quotedPart, visible } from '../canonical/visible.ts';
import type { Hunk } from '../plan/report/hunk.ts';

/**
 * What a human must see of an effect, as data. A terminal, `--json` and any other surface draw exactly this and decide
 * nothing: which lines there are, their order, their weight and who chose each piece of text is settled here. Every text
 * is harmless already (`canonical/visible.ts`), and none is cut.
 */
export interface Shown {
  readonly kind: 'tool' | 'plan' | 'mcp' | 'action' | 'sql' | 'policies';
  /** What it does. It comes from the effect and never from the goal. */
  readonly headline: Line;
  /** To be read before anything else. A plan has those of its actions and steps as well, with their place. */
  readonly alarms: readonly Alarm[];
  readonly fields: readonly Line[];
  readonly blocks: readonly Block[];
  /** The actions of a plan, the steps of a pipeline. */
  readonly parts: readonly Shown[];
}

/**
 * Who chose a text: the owner of the registry, the proposer, the machine (a path that was resolved, a hash, our own
 * words), or an MCP server. What the proposer or a server chose deserves a second look.
 */
export type Origin = 'registry' | 'agent' | 'derived' | 'server';

export interface Piece {
  readonly text: string;
  readonly from: Origin;
}

export type Weight = 'alarm' | 'warn' | 'plain' | 'dim';

export interface Line {
  readonly label: string;
  readonly value: readonly Piece[];
  readonly weight: Weight;
}

export const ALARMS = [
  'shadow',
  'no-sandbox',
  'root',
  'network',
  'secret',
  'no-undo',
  'no-rollback',
  'goes-on',
  'delete',
  'drop',
  'truncate',
  'delete-all',
  'update-all',
  'replace',
  'protected',
  'policy-removed',
  'quorum-lowered',
  'quorum-changed',
  'test-removed',
  'test-changed',
  'content',
  'binary',
  'unseen',
] as const;

export interface Alarm {
  readonly alarm: (typeof ALARMS)[number];
  readonly weight: 'alarm' | 'warn';
  /** Our words, in one form for each alarm. */
  readonly words: string;
  /** What it is about: an action, a path, a statement. */
  readonly about: readonly Piece[];
}

/** Text of several lines: SQL, the content of a file, a diff. */
export interface Block {
  readonly kind: 'sql' | 'text' | 'diff';
  readonly title: readonly Piece[];
  readonly from: Origin;
  readonly lines: readonly string[];
  /** Of a diff: what changes, below its lines. */
  readonly hunks: readonly ShownHunk[];
  /** Lines that are not here because there are too many. While there are any, it was not shown. */
  readonly left_out: number;
}

export interface ShownHunk extends Hunk {
  /** Its lines are not here: so many are read by a request of their own when this place is looked at. */
  readonly apart?: number;
}

export const derived = (text: string): Piece => ({ text: visible(text), from: 'derived' });
export const registry = (text: string): Piece => ({ text: visible(text), from: 'registry' });
export const agent = (text: string): Piece => ({ text: visible(text), from: 'agent' });

/** A value in the form in which no two values look the same. */
export const worded = (text: string, from: Origin): Piece => ({ text: argument(text), from });

/** Any plain value: text as a word, everything else as JSON. Text that JSON would read as another value is quoted. */
export function valued(value: unknown, from: Origin): Piece {
  if (typeof value === 'string' && !LITERAL.test(value)) return worded(value, from);
  return { text: visible(JSON.stringify(value)), from };
}

const LITERAL = /^(true|false|null|-?[0-9][0-9.eE+-]*)$/;

export function words(list: readonly string[], from: Origin): Piece[] {
  return spaced(list.map((text) => [worded(text, from)]));
}

/** Several values in one line. */
export function spaced(values: readonly (readonly Piece[])[], between = ' '): Piece[] {
  return values.flatMap((value, i) => (i === 0 ? value : [derived(between), ...value]));
}

/** One element of a command line whose parts come from different authors: quoted as a whole, like any other element. */
export function element(parts: readonly Piece[]): Piece[] {
  const whole = parts.map(({ text }) => text).join('');
  if (isPlainWord(whole)) return parts.filter(({ text }) => text !== '');
  return [derived('"'), ...parts.map(({ text, from }) => ({ text: quotedPart(text), from })), derived('"')];
}

export function line(label: string, value: readonly Piece[], weight: Weight = 'plain'): Line {
  return { label, value, weight };
}

export function block(kind: Block['kind'], title: readonly Piece[], text: string, from: Origin): Block {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return { kind, title, from, lines: lines.map(visible), hunks: [], left_out: 0 };
}

/** The alarms of the parts, gathered by what they say, each with its place. */
export function lifted(parts: readonly { readonly at: readonly Piece[]; readonly shown: Shown }[]): Alarm[] {
  const found = new Map<string, Alarm>();
  for (const { at, shown } of parts) {
    for (const alarm of shown.alarms) {
      const about = alarm.about.length === 0 ? at : [...at, derived(': '), ...alarm.about];
      const before = found.get(alarm.words);
      found.set(alarm.words, {
        ...alarm,
        about: before ? [...before.about, derived('; '), ...about] : about,
      });
    }
  }
  return [...found.values()];
}

/** The worst first, whatever part they come from. */
export function ordered(alarms: readonly Alarm[]): Alarm[] {
  return alarms.toSorted((a, b) => ALARMS.indexOf(a.alarm) - ALARMS.indexOf(b.alarm));
}
