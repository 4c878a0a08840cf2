import { applySchemaUpdate } from '../edit/schema-update.ts';
import type { Action, ActionEffect } from '../model.ts';
import { type EditFunction, executeEdit, prepareEdit, simulateEdit } from './file-modify.ts';
import type { Handler } from './handler.ts';

/** SCHEMA_UPDATE: edits a JSON Schema, which must be a valid one afterwards. Undone by restoring its backup. */
export const schemaUpdateHandler: Handler<'SCHEMA_UPDATE'> = {
  undo: 'exact',
  simulate: (action, world) => simulateEdit(action, world, editOf(action)),
  prepare: (action, stager) => prepareEdit(action, stager, editOf(action)),
  execute: (action, writer) => executeEdit(action, writer, editOf(action)),
};

function editOf({
  operation,
  target,
}: Action<'SCHEMA_UPDATE'> | ActionEffect<'SCHEMA_UPDATE'>): EditFunction {
  return (bytes, take) => applySchemaUpdate(bytes, operation, { path: target }, take);
}
