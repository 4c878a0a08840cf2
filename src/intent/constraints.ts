import * as z from 'zod';
import { refuse } from '../refusal.ts';
import type { Envelope } from './envelope.ts';
import { isWithin } from './path.ts';
import { type KnownTerms, type PathTerm, type PathVerb, parseTerm, type Term } from './term.ts';

/** The limits that Keyturn holds an effect to. Any other would be a promise that is not kept. */
const limitsSchema = z.strictObject({
  max_runtime_s: z.number().positive().optional(),
  max_files: z.int().min(0).optional(),
  network: z.boolean().optional(),
});

/** What the effect does, as far as an intent can bound it. Paths are in the vocabulary of `path.ts`. */
export interface Extent {
  /** What runs: each thing with all the words that name it. */
  readonly runs: readonly (readonly string[])[];
  readonly network: boolean;
  /** Without a sandbox it can reach everything. */
  readonly unconfined: boolean;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** What may be removed. A tool can remove what it can write. */
  readonly deletes: readonly string[];
  readonly runtime_s: number;
  /** How many files a plan touches; null where that cannot be told. */
  readonly files: number | null;
}

/**
 * F6: what an intent says about its own bounds must be clear, and must hold of its effect. A word or a limit that is not known is
 * neither skipped nor guessed: its author expects an effect.
 */
export function requireConstraints(
  constraints: Envelope['constraints'],
  extent: Extent,
  known: KnownTerms,
): void {
  requireLimits(constraints.limits, extent);
  const terms = (texts: readonly string[]) => texts.flatMap((text) => parseTerm(text, known));
  requireScope(terms(constraints.scope), extent);
  for (const term of terms(constraints.prohibitions))
    if (isTouched(term, extent))
      refuse('ACTION_PROHIBITED', `The intent prohibits "${term.text}", and its effect does it.`, {
        term: term.text,
      });
}

function requireLimits(limits: Envelope['constraints']['limits'], extent: Extent): void {
  const parsed = limitsSchema.safeParse(limits);
  if (!parsed.success) {
    const { path, message, ...issue } = parsed.error.issues[0]!;
    const named = 'keys' in issue ? (issue.keys as string[]).join(', ') : path.join('.');
    refuse('CLARIFICATION_NEEDED', `The limit "${named}" of the intent is not clear: ${message}.`);
  }
  const { max_runtime_s, max_files, network } = parsed.data;
  if (network === false && (extent.network || extent.unconfined))
    refuse('ACTION_PROHIBITED', 'The intent allows no network, and the effect has it.');
  if (max_runtime_s !== undefined && extent.runtime_s > max_runtime_s)
    refuse(
      'ACTION_PROHIBITED',
      `The effect may take ${extent.runtime_s} s; the intent allows ${max_runtime_s}.`,
    );
  if (max_files === undefined) return;
  if (extent.files === null)
    refuse('CLARIFICATION_NEEDED', 'How many files a tool touches cannot be told: max_files is for plans.');
  if (extent.files > max_files)
    refuse('ACTION_PROHIBITED', `The plan touches ${extent.files} files; the intent allows ${max_files}.`);
}

/**
 * A scope is a list of all that is allowed. Words for what runs bound what runs; words for what is reached (paths, network) bound
 * what is reached. A scope with words of one kind says nothing about the other.
 */
function requireScope(terms: readonly Term[], extent: Extent): void {
  const names = terms.flatMap((term) => (term.kind === 'run' ? [term.text] : []));
  const other = extent.runs.find((words) => !words.some((word) => names.includes(word)));
  if (names.length > 0 && other) outside(other[0]!);
  const reach = terms.filter((term) => term.kind !== 'run');
  if (reach.length === 0 || reach.some(({ kind }) => kind === 'unconfined')) return;
  if (extent.unconfined) outside('unconfined');
  if (extent.network && !reach.some(({ kind }) => kind === 'network')) outside('network');
  const paths = reach.filter((term) => term.kind === 'path');
  for (const verb of VERBS) {
    const beyond = extent[PATHS[verb]].find((path) => !paths.some((term) => covers(term, verb, path)));
    if (beyond !== undefined) outside(`${verb}:${beyond}`);
  }
}

const VERBS = ['read', 'write', 'delete'] as const satisfies readonly PathVerb[];
const PATHS = { read: 'reads', write: 'writes', delete: 'deletes' } as const;

/** Who may write a path may also read and remove it. */
function covers(term: PathTerm, verb: PathVerb, path: string): boolean {
  const allowed = term.verb === null || term.verb === verb || term.verb === 'write';
  return allowed && (term.path === null || isWithin(path, term.path));
}

function outside(what: string): never {
  return refuse(
    'ACTION_PROHIBITED',
    `The effect does "${what}", which the scope of the intent does not name.`,
    {
      term: what,
    },
  );
}

function isTouched(term: Term, extent: Extent): boolean {
  if (term.kind === 'run') return extent.runs.some((words) => words.includes(term.text));
  if (extent.unconfined) return true;
  if (term.kind !== 'path') return term.kind === 'network' && extent.network;
  const { reads, writes, deletes } = extent;
  const verbs = { read: reads, write: [...writes, ...deletes], delete: deletes };
  const paths = term.verb === null ? [...reads, ...writes, ...deletes] : verbs[term.verb];
  const { path } = term;
  return path === null ? paths.length > 0 : paths.some((one) => isWithin(one, path) || isWithin(path, one));
}
