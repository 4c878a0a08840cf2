import { visible } from '../canonical/visible.ts';
import { refuse } from '../refusal.ts';

/** One word of a scope or of a prohibition. The vocabulary is closed; docs/cli.md lists it. */
export type Term = WordTerm | PathTerm;

interface WordTerm {
  readonly kind: 'run' | 'network' | 'unconfined';
  readonly text: string;
}

export type PathVerb = 'read' | 'write' | 'delete';

export interface PathTerm {
  readonly kind: 'path';
  /** As it was written, with its path in the one form. */
  readonly text: string;
  /** Null for a bare path: whatever is done with it. */
  readonly verb: PathVerb | null;
  /** Null for every path. */
  readonly path: string | null;
}

export interface KnownTerms {
  /** Whether a word is an action of the registry. What an intent requests makes no word: its proposer writes that too. */
  readonly isAction: (word: string) => boolean;
  /** A path in the vocabulary of `path.ts`; null where a link is on its way. */
  readonly place: (path: string) => readonly string[] | null;
}

const RUNS = /^(?:(?:tool|pipeline):(?:\*|[a-z0-9][a-z0-9._-]{0,63})|plan)$/;
const PLAN_ACTIONS: ReadonlySet<string> = new Set([
  'FILE_CREATE',
  'FILE_MODIFY',
  'FILE_DELETE',
  'FILE_RENAME',
  'SCHEMA_UPDATE',
  'SQL_EXECUTE',
  'PIPELINE_RUN',
]);
const PATH = /^(?:(read|write|delete):)?(.+)$/s;

/** Reads a word. Several terms where an absolute path is also one of the project. */
export function parseTerm(text: string, known: KnownTerms): Term[] {
  if (text === 'network' || text === 'unconfined') return withAction([{ kind: text, text }], text, known);
  if (text === 'read' || text === 'write' || text === 'delete')
    return withAction([{ kind: 'path', text, verb: text, path: null }], text, known);
  if (RUNS.test(text) || PLAN_ACTIONS.has(text) || known.isAction(text)) return [{ kind: 'run', text }];
  return pathTerms(text, known);
}

/** A tool whose action has the name of a word is meant as well. */
function withAction(terms: Term[], text: string, { isAction }: KnownTerms): Term[] {
  return isAction(text) ? [...terms, { kind: 'run', text }] : terms;
}

function pathTerms(text: string, { place }: KnownTerms): Term[] {
  const [, verb, written] = PATH.exec(text) ?? unclear(text);
  // A sentence is not a path: without a verb before it, a path has a slash or begins with a dot, and no space.
  if (verb === undefined && (/\s/.test(text) || !/^\.|\//.test(text))) unclear(text);
  const path = plainPath(written!) ?? unclear(text);
  const places = place(path) ?? unclear(text, 'leads through a link: name the place where it leads');
  return places.map((one) => ({
    kind: 'path',
    text: verb === undefined ? one : `${verb}:${one}`,
    verb: (verb as PathVerb | undefined) ?? null,
    path: one,
  }));
}

/** Without a leading `./` and a last `/`; null for a path that could be read in two ways. */
function plainPath(written: string): string | null {
  const path = written === '/' ? '/' : written.replace(/^\.\/(?=.)/, '').replace(/(?<=.)\/$/, '');
  if (path === '/' || path === '.') return path;
  if (!path.isWellFormed() || /[\x00-\x1f\x7f*?]/.test(path)) return null;
  const names = (path.startsWith('/') ? path.slice(1) : path).split('/');
  return names.every((name) => name !== '' && name !== '.' && name !== '..') ? path : null;
}

function unclear(text: string, why = 'is not a word that a scope or a prohibition can have'): never {
  const term = visible(text.slice(0, 200));
  return refuse('CLARIFICATION_NEEDED', `"${term}" ${why}.`, { term });
}

/** The words as policies see them. */
export function plainTerms(texts: readonly string[], known: KnownTerms): string[] {
  return [...new Set(texts.flatMap((text) => parseTerm(text, known)).map((term) => term.text))].sort();
}
