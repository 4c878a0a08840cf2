import type { Digest } from '../canonical/digest.ts';
import type { JsonObject } from '../canonical/json.ts';
import type { ToolEffect } from '../tool/effect.ts';
import type { ActionType, OperationOf } from './operation.ts';

/** A parsed plan: 004 section 3.3 with every default filled in. Types only; `plan/input/` makes them. */

export type RiskLevel = 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';
export type ExecutionOrder = 'sequential' | 'parallel' | 'dependency_based';

/** 004 writes the parameters of an operation inline (12.1) or under `details` (3.3); both parse to the same. */
export type Action<T extends ActionType = ActionType> = {
  [P in T]: {
    readonly action_id: string;
    readonly action_type: P;
    readonly target: string;
    readonly operation: OperationOf<P>;
    readonly depends_on: readonly string[];
    readonly reversible: boolean;
    readonly risk_level: RiskLevel;
    readonly timeout_ms: number;
  };
}[T];

export interface ExecutionInstructions {
  readonly execution_order: ExecutionOrder;
  readonly stop_on_error: boolean;
  readonly rollback_on_failure: boolean;
  readonly preserve_permissions: boolean;
  readonly verify_hashes: boolean;
  readonly timeout_ms: number;
}

export interface Plan {
  readonly plan_id: string;
  readonly task_id: string;
  readonly actions: readonly Action[];
  readonly instructions: ExecutionInstructions;
  readonly validation: readonly ValidationRule[];
  /** SHA-256 of the canonical plan as it came in. */
  readonly digest: Digest;
}

/** What must hold after the run; anything else is a failed validation and rolls back. */
export type ValidationRule =
  | { readonly type: 'file_exists'; readonly path: string }
  | { readonly type: 'file_absent'; readonly path: string }
  | { readonly type: 'hash_equals'; readonly path: string; readonly sha256: Digest }
  | { readonly type: 'json_valid'; readonly path: string }
  | { readonly type: 'yaml_valid'; readonly path: string }
  | { readonly type: 'contains'; readonly path: string; readonly text: string };

/** What is at a path. `null` stands for nothing. */
export interface FileState {
  readonly sha256: Digest;
  readonly size: number;
  readonly mode: number;
  /** Of its access control list and its extended attributes; left out when it has none. */
  readonly attributes?: Digest | undefined;
}

export interface PathChange {
  readonly path: string;
  /** `'unknown'` only after an earlier action of the same plan whose `after` is. */
  readonly before: FileState | null | 'unknown';
  /** `'unknown'` where only the run can tell: a database that SQL changes, a saved result. */
  readonly after: FileState | null | 'unknown';
}

export type Undo = 'exact' | 'compensating' | 'none';

export type ActionEffect<T extends ActionType = ActionType> = {
  [P in T]: {
    readonly action_id: string;
    readonly action_type: P;
    readonly target: string;
    readonly operation: OperationOf<P>;
    readonly depends_on: readonly string[];
    readonly undo: Undo;
    readonly timeout_ms: number;
    readonly changes: readonly PathChange[];
    /** Kinds of SQL statements, in order; empty for other actions. */
    readonly statements: readonly string[];
    /** The SQL of a `query_file`, word for word; null for other actions, and where `operation.query` has it. */
    readonly query_text: string | null;
    /** What a pipeline would run, in order; empty for other actions. */
    readonly steps: readonly PipelineStep[];
  };
}[T];

export type PipelineStep = ToolEffect | SqlStep;

/** SQL from a file of the project, on a database of the project. */
export interface SqlStep {
  readonly kind: 'sql';
  readonly file: string;
  readonly sha256: Digest;
  readonly text: string;
  readonly database: string;
}

/** Everything a plan would do. Its canonical bytes are hashed into what the human approves. */
export interface PlanEffect {
  readonly kind: 'plan';
  readonly plan_id: string;
  readonly task_id: string;
  readonly plan_digest: Digest;
  readonly config_digest: Digest | null;
  readonly instructions: ExecutionInstructions;
  /** In the order of execution; for `parallel` and `dependency_based` the deterministic topological order. */
  readonly actions: readonly ActionEffect[];
  /** Folders that do not exist and that the plan makes, outermost first. They are removed again by a rollback. */
  readonly folders: readonly string[];
  readonly validation: readonly ValidationRule[];
  /** Protected paths that this plan touches: they need a second approver. */
  readonly elevated: readonly string[];
}

/** The plan of a simulation before its placeholders are filled in, with what it takes from outside itself. */
export interface PlanBound {
  readonly kind: 'plan';
  readonly plan: JsonObject;
  readonly config: JsonObject | null;
  readonly pipelines: readonly { readonly name: string; readonly steps: readonly PipelineStep[] }[];
  readonly files: readonly FileBound[];
}

/** A file whose SQL the plan runs, or whose content it writes. */
export interface FileBound {
  readonly path: string;
  /** Null for a file that only the plan itself creates. */
  readonly sha256: Digest | null;
  /** The SQL, word for word; null for a content, and where there is no file yet. */
  readonly sql: string | null;
}
