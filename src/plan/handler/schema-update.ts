import { applySchemaUpdate } from '../edit/schema-update.ts';
import type { Action, ActionEffect } from '../model.ts';
import { type EditFunction, executeEdit, prepareEdit, simulateEdit } from './file-modify.ts';
import type { Editor, Handler } from './handler.ts';

/** SCHEMA_UPDATE: edits a JSON Schema, which must be a valid one afterwards. Undone by restoring its backup. */
export function createSchemaUpdateHandler(editor: Editor = () => null): Handler<'SCHEMA_UPDATE'> {
  return {
    undo: 'exact',
    simulate: (action, world) => simulateEdit(action, world, editOf(action, editor)),
    prepare: (action, stager) => prepareEdit(action, stager, editOf(action, editor)),
    execute: (action, writer) => executeEdit(action, writer, editOf(action, editor)),
  };
}

function editOf(
  { operation, target }: Action<'SCHEMA_UPDATE'> | ActionEffect<'SCHEMA_UPDATE'>,
  editor: Editor,
): EditFunction {
  return (bytes, take) =>
    editor({ kind: 'schema', path: target, bytes, operation }) ??
    applySchemaUpdate(bytes, operation, { path: target }, take);
}
