import { isAbsolute } from 'node:path';
import type { Digest } from '../../canonical/digest.ts';
import type { Place } from '../../durable/beneath-write.ts';
import { sqlLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { Machine } from '../machine.ts';
import type { Hold } from './hold.ts';
import type { ResultFormat, SqlScalar } from './job.ts';
import type { RunnableKind, Statement } from './statement.ts';

export interface SqlRequest {
  /** The folder that everything stays in: absolute. All other paths are relative to it. */
  readonly root: string;
  /** A DuckDB file; null for one in memory that is gone afterwards. A missing file is created. */
  readonly database: string | null;
  /** What the file must be before the run: null means that it must not exist. Left out, it is only reported. */
  readonly expected_sha256?: Digest | null;
  readonly text: string;
  /** Values of `$name` in the text. Integers become BIGINT, other numbers DOUBLE, strings VARCHAR. */
  readonly parameters?: Readonly<Record<string, SqlScalar>>;
  /** The last statement must give at least one row. */
  readonly expect_results: boolean;
  /** The last statement, a SELECT, is written here. A file that is there is replaced. */
  readonly save_results_to?: { readonly path: string; readonly format: ResultFormat };
  /** Folders whose files the SQL may scan by name, relative to the root: `FROM 'data/a.csv'`. */
  readonly readable?: readonly string[];
  readonly kinds?: readonly RunnableKind[];
  readonly timeout_ms?: number;
  readonly memory_mb?: number;
  readonly threads?: number;
  readonly max_rows?: number;
  /** The most that the database or the result file may measure. */
  readonly max_file_mb?: number;
  /** `none` gives away the second wall (see confine.ts) and the kernel's memory limit. */
  readonly sandbox?: 'required' | 'none';
  readonly machine?: Machine;
  readonly abort?: AbortSignal;
  /** A lock that the caller holds already. Left out, or without this database, the run takes its own. */
  readonly hold?: Hold | undefined;
  /** The name of the private folder beside a file that is worked on. */
  readonly stageName?: (path: string) => string;
  /** Refuses a file of a readable folder that this SQL may not see. */
  readonly requireReadable?: (path: string) => void;
  /** Sees the saved result as text before it is in its place, and may refuse it. */
  readonly inspectResult?: (path: string, text: Uint8Array) => void;
  /** Sees each file just before it is put in its place, and may refuse: after it there is no way back. */
  readonly publishing?: (made: Made) => Promise<void>;
}

/** A finished file, on the disk, that is about to be put in its place. */
export interface Made {
  readonly path: string;
  readonly place: Place;
  readonly sha256: Digest;
  readonly size: number;
  readonly mode: number;
}

export interface SqlBounds {
  readonly timeout_ms: number;
  readonly memory_mb: number;
  readonly threads: number;
  readonly max_rows: number;
  readonly max_file_mb: number;
}

export function boundsOf(request: SqlRequest): SqlBounds {
  if (!isAbsolute(request.root))
    refuse('SHAPE_INVALID', 'The root must be an absolute path.', { field: 'root' });
  return {
    timeout_ms: bounded(
      'timeout_ms',
      request.timeout_ms ?? sqlLimits.timeout_ms_default,
      1,
      sqlLimits.timeout_ms,
    ),
    memory_mb: bounded(
      'memory_mb',
      request.memory_mb ?? sqlLimits.memory_mb_default,
      16,
      sqlLimits.memory_mb,
    ),
    threads: bounded('threads', request.threads ?? sqlLimits.threads_default, 1, sqlLimits.threads),
    max_rows: bounded('max_rows', request.max_rows ?? sqlLimits.rows_default, 1, sqlLimits.rows),
    max_file_mb: bounded(
      'max_file_mb',
      request.max_file_mb ?? sqlLimits.file_mb_default,
      1,
      sqlLimits.file_mb,
    ),
  };
}

function bounded(field: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  return refuse('SHAPE_INVALID', `${field} must be a whole number from ${min} to ${max}.`, { field });
}

const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Every parameter of the text has a value, and every value has a parameter. */
export function checkParameters(
  statements: readonly Statement[],
  parameters: Readonly<Record<string, SqlScalar>>,
): void {
  const given = namesOf(parameters);
  const used = new Set<string>();
  for (const statement of statements) {
    for (const name of statement.parameters) used.add(usedName(statement.number, name, given));
  }
  for (const name of given) {
    if (!used.has(name)) refuse('SQL_PARAMETER_UNUSED', `No statement uses $${name}.`, { parameter: name });
  }
}

function usedName(statement: number, name: string, given: ReadonlySet<string>): string {
  if (!PARAMETER_NAME.test(name))
    invalid(name, `Statement ${statement} has the parameter $${name}, which has no name.`);
  const folded = name.toLowerCase();
  if (!given.has(folded)) {
    refuse('SQL_PARAMETER_MISSING', `Statement ${statement} uses $${name}, and there is no value for it.`, {
      statement,
      parameter: name,
    });
  }
  return folded;
}

/** DuckDB folds the case of names, so two that differ only in case are one name with two values. */
function namesOf(parameters: Readonly<Record<string, SqlScalar>>): Set<string> {
  const names = new Set<string>();
  const entries = Object.entries(parameters);
  if (entries.length > sqlLimits.parameters)
    refuse('INPUT_TOO_LARGE', `There are ${entries.length} parameters.`);
  for (const [name, value] of entries) {
    if (!PARAMETER_NAME.test(name)) invalid(name, `${JSON.stringify(name)} is no name for a parameter.`);
    if (!isScalar(value))
      invalid(name, `The value of $${name} is not a string, a finite number, a boolean or null.`);
    if (names.has(name.toLowerCase())) invalid(name, `The parameter $${name} is given twice.`);
    names.add(name.toLowerCase());
  }
  return names;
}

function isScalar(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

function invalid(parameter: string, message: string): never {
  return refuse('SQL_PARAMETER_INVALID', message, { parameter });
}
