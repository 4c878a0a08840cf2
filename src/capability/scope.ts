import * as z from 'zod';
import { NAME_FORM } from '../canonical/form.ts';
import { describeIssue } from '../event/event.ts';
import { capabilityLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';

/**
 * What a run may reach. A path covers itself and everything below it; the deepest entry decides, as in the sandbox:
 * to read `/srv/conf` inside of writing `/srv` keeps `/srv/conf` from being written. Absolute paths are of the machine
 * (tools), the others of the project (plans), and `.` is all of it. Neither kind covers the other.
 */
export interface ResourceScope {
  /** No sandbox: every path and the network. It says nothing about pipelines. */
  readonly unconfined: boolean;
  readonly network: boolean;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Names of registered pipelines. */
  readonly pipelines: readonly string[];
}

/**
 * Readable in one way only. The attacker writes a path that the comparison takes for one place and the kernel for
 * another: a way up, a doubled slash, a NUL. Characters are compared as they are and never folded.
 */
export function isPlainPath(text: string): boolean {
  if (text === '/' || text === '.') return true;
  if (text.length > capabilityLimits.path_chars || !text.isWellFormed() || /[\x00-\x1f\x7f]/.test(text))
    return false;
  const names = (text.startsWith('/') ? text.slice(1) : text).split('/');
  return names.every((name) => name !== '' && name !== '.' && name !== '..');
}

const paths = z.array(z.string().refine(isPlainPath, 'is not a plain path')).max(capabilityLimits.entries);

const loose = z.strictObject({
  unconfined: z.boolean(),
  network: z.boolean(),
  read: paths,
  write: paths,
  pipelines: z.array(z.string().regex(NAME_FORM, 'is not a name')).max(capabilityLimits.entries),
});

/** One scope has one text, so that what a person reads is all there is: no list that another entry makes void. */
export const scopeSchema = loose.refine(isCanonical, 'is not in its one form');

export function parseScope(value: unknown): ResourceScope {
  const scope = scopeSchema.safeParse(value);
  if (!scope.success) refuse('CAPABILITY_MALFORMED', `The scope is not valid: ${describeIssue(scope.error)}`);
  return scope.data;
}

/** The one form of a scope: sorted, and without entries that change nothing. */
export function canonicalScope(scope: ResourceScope): ResourceScope {
  const checked = loose.safeParse(scope);
  if (!checked.success)
    refuse('CAPABILITY_MALFORMED', `The scope is not valid: ${describeIssue(checked.error)}`);
  return reduced(checked.data);
}

function reduced(scope: ResourceScope): ResourceScope {
  const { unconfined, network } = scope;
  const entries = entriesOf(scope);
  const telling = unconfined
    ? []
    : [...entries].filter(([path, level]) => levelAbove(entries, path) !== level);
  const pathsOf = (level: Level) => telling.flatMap(([path, is]) => (is === level ? [path] : [])).sort();
  return {
    unconfined,
    network: network || unconfined,
    read: pathsOf(READ),
    write: pathsOf(WRITE),
    pipelines: [...new Set(scope.pipelines)].sort(),
  };
}

function isCanonical(scope: ResourceScope): boolean {
  const { network, read, write, pipelines } = reduced(scope);
  const same = (a: readonly string[], b: readonly string[]) =>
    a.length === b.length && a.every((text, i) => text === b[i]);
  return (
    network === scope.network &&
    same(read, scope.read) &&
    same(write, scope.write) &&
    same(pipelines, scope.pipelines)
  );
}

/** Whether whatever `narrow` may reach, `wide` may reach too. A partial order on canonical scopes. */
export function isScopeWithin(narrow: ResourceScope, wide: ResourceScope): boolean {
  if (!narrow.pipelines.every((name) => wide.pipelines.includes(name))) return false;
  if (wide.unconfined) return true;
  if (narrow.unconfined || (narrow.network && !wide.network)) return false;
  const [inner, outer] = [entriesOf(narrow), entriesOf(wide)];
  // What may be done changes only where one of the two has an entry, so looking there is looking everywhere.
  const isCovered = (path: string) => levelAt(inner, path) <= levelAt(outer, path);
  return [...inner.keys()].every(isCovered) && [...outer.keys()].every(isCovered);
}

type Level = 0 | 1 | 2;
const READ: Level = 1;
const WRITE: Level = 2;
type Entries = ReadonlyMap<string, Level>;

/** A path that may be both read and written may be written. */
function entriesOf({ read, write }: ResourceScope): Entries {
  const entries = new Map<string, Level>();
  for (const path of read) entries.set(path, READ);
  for (const path of write) entries.set(path, WRITE);
  return entries;
}

function levelAt(entries: Entries, path: string): Level {
  return entries.get(path) ?? levelAbove(entries, path);
}

function levelAbove(entries: Entries, path: string): Level {
  for (let at = parentOf(path); at !== null; at = parentOf(at)) {
    const level = entries.get(at);
    if (level !== undefined) return level;
  }
  return 0;
}

function parentOf(path: string): string | null {
  if (path === '/' || path === '.') return null;
  const end = path.lastIndexOf('/');
  if (end > 0) return path.slice(0, end);
  return end === 0 ? '/' : '.';
}
