import type { EditResult } from '../edit/apply.ts';
import type { EditOperation, SchemaOperation } from '../edit/operation.ts';
import type { Action, ActionEffect, PathChange, PipelineStep, Undo } from '../model.ts';
import type { ActionType } from '../operation.ts';
import type { World } from '../state/world.ts';
import type { FileWriter, PreparedAction, Stager } from './apply.ts';

/** What each action type does, once as a simulation for the approver and once for real. */
export interface Handler<T extends ActionType> {
  /** How a rollback undoes it. */
  readonly undo: Undo;
  simulate(action: Action<T>, world: World): Promise<Simulated> | Simulated;
  /** All of `execute` that changes nothing yet. It may be done before the turn of the action. */
  prepare?(action: ActionEffect<T>, stager: Stager): Promise<PreparedAction>;
  /** Does it and says in one sentence what was done. */
  execute(action: ActionEffect<T>, writer: FileWriter): Promise<string>;
}

export interface Simulated {
  readonly changes: readonly PathChange[];
  /** Files whose contents it may read and put elsewhere. A protected one among them needs a second approver. */
  readonly reads?: readonly string[];
  readonly statements?: readonly string[];
  readonly query_text?: string | null;
  readonly steps?: readonly PipelineStep[];
}

/** Edits a content elsewhere. Null where it is to be edited here. */
export type Editor = (
  work: { readonly path: string; readonly bytes: Uint8Array } & (
    | { readonly kind: 'edit'; readonly operation: EditOperation }
    | { readonly kind: 'schema'; readonly operation: SchemaOperation }
  ),
) => Promise<EditResult> | null;

/** Files of a plan are readable by all and written by their owner, unless it says otherwise. */
export const DEFAULT_MODE = 0o644;
