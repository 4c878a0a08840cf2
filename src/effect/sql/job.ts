import type { ReasonCode } from '../../refusal.ts';

export type SqlScalar = string | number | boolean | null;
export type ResultFormat = 'parquet' | 'csv' | 'json';

/** What the parent asks of the runner: one line of JSON on its standard input. */
export type Job = ClassifyJob | HoldJob | ExecuteJob;

export interface ClassifyJob {
  readonly task: 'classify';
  readonly text: string;
  readonly statements: readonly JobStatement[];
}

/**
 * Opens real databases, by descriptor, and keeps DuckDB's lock on them while the child lives. A child that holds does nothing else:
 * POSIX locks go with the first descriptor of a file that its process closes, and SQL can open any file that it may read. Without
 * databases it only answers, which shows that the locks are still held.
 */
export interface HoldJob {
  readonly task: 'hold';
  readonly databases: readonly string[];
}

export interface JobStatement {
  readonly number: number;
  readonly kind: string;
  readonly text: string;
}

export interface ExecuteJob {
  readonly task: 'execute';
  /** The staged copy; null for a database in memory. */
  readonly database: { readonly path: string; readonly read_only: boolean } | null;
  readonly statements: readonly JobStatement[];
  readonly parameters: Readonly<Record<string, SqlScalar>>;
  readonly expect_results: boolean;
  readonly save: Save | null;
  readonly allowed_directories: readonly string[];
  readonly memory_mb: number;
  readonly threads: number;
  readonly max_rows: number;
}

export interface Save {
  readonly path: string;
  readonly format: ResultFormat;
  /** The same rows as text go here too, for a format whose bytes cannot be searched. */
  readonly text_path: string | null;
}

/** What the runner answers: one line of JSON on descriptor 3. Standard output is DuckDB's to write on. */
export type SqlAnswer = { readonly ok: true; readonly done: Done } | Refused;

interface Refused {
  readonly ok: false;
  readonly code: ReasonCode;
  readonly message: string;
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

export interface Done {
  readonly statements: readonly {
    readonly number: number;
    readonly kind: string;
    readonly rows_changed: number;
  }[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  /** All rows of the result; null where reading stopped at the limit. */
  readonly row_count: number | null;
  readonly truncated: boolean;
}

export const ANSWER_FD = 3;
/** The databases that are held; then come the descriptors of the sandbox, which keeps none of its own open. */
export const GUARD_FD = 4;

export const NOTHING_DONE: Done = { statements: [], columns: [], rows: [], row_count: 0, truncated: false };
