import type { ReasonCode } from '../../refusal.ts';

/** The most that SQL may ask for. Times are those of 004 section 11.1, the file size that of section 11.2. */
export const sqlLimits = {
  text_bytes: 1024 * 1024,
  statements: 1000,
  parameters: 256,
  timeout_ms: 300_000,
  timeout_ms_default: 60_000,
  memory_mb: 8192,
  memory_mb_default: 512,
  threads: 4,
  threads_default: 2,
  rows: 10_000,
  rows_default: 1000,
  /** Rows as JSON: they go into a report that a person reads. */
  rows_bytes: 4 * 1024 * 1024,
  /** Files and folders in a readable folder: each is looked at before a run. */
  readable_entries: 10_000,
  file_mb: 1024,
  file_mb_default: 50,
} as const;

export type Scalar = string | number | boolean | null;
export type ResultFormat = 'parquet' | 'csv' | 'json';

/** What the parent asks of the runner: one line of JSON on its standard input. */
export type Job = ClassifyJob | ExecuteJob;

export interface ClassifyJob {
  readonly task: 'classify';
  readonly text: string;
  readonly statements: readonly JobStatement[];
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
  /** The real database, opened only to hold DuckDB's lock on it. */
  readonly guard: string | null;
  readonly statements: readonly JobStatement[];
  readonly parameters: Readonly<Record<string, Scalar>>;
  readonly expect_results: boolean;
  readonly save: { readonly path: string; readonly format: ResultFormat } | null;
  readonly allowed_directories: readonly string[];
  readonly memory_mb: number;
  readonly threads: number;
  readonly max_rows: number;
}

/** What the runner answers: one line of JSON on descriptor 3. Standard output is DuckDB's to write on. */
export type Answer = { readonly ok: true; readonly done: Done } | Refused;

export interface Refused {
  readonly ok: false;
  readonly code: ReasonCode;
  readonly message: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

export interface Done {
  readonly statements: readonly {
    readonly number: number;
    readonly kind: string;
    readonly rows_changed: number;
  }[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  /** All rows of the result; null where reading stopped at the limit and nobody counted on. */
  readonly row_count: number | null;
  readonly truncated: boolean;
}

export const ANSWER_FD = 3;
export const GUARD_FD = 4;
/** The first descriptor of the sandbox; it keeps none of its own open. */
export const SANDBOX_FD = 5;
