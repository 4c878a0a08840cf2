import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { TakeMemory } from '../reused-memory.ts';
import { compilePath } from './document-path.ts';
import { acceptsComments, type FormatHints, formatOf, requireYaml } from './format.ts';
import { type CheckedEdit, editJson } from './json-edit.ts';
import { deleteLines } from './line-delete.ts';
import { insertLines } from './line-insert.ts';
import type { EditOperation } from './operation.ts';
import {
  applySplices,
  type ByteSplice,
  type Edit,
  inBytes,
  openText,
  type SourceText,
  textOf,
} from './splice.ts';
import { replaceExpression, replaceLiteral, requireExpression } from './text-replace.ts';
import { editYaml } from './yaml-edit.ts';
import { parseYamlPath } from './yaml-path.ts';

export interface EditResult {
  readonly bytes: Uint8Array;
  /** What happened, as 004 section 12.1 reports it. */
  readonly output: string;
}

/**
 * One content edit of 004 appendix A.1: the same bytes and operation give the same result everywhere. Whatever is not
 * exactly as the operation says is refused, and an edit that would change nothing is one of these.
 */
export function applyEdit(
  bytes: Uint8Array,
  operation: EditOperation,
  hints: FormatHints = {},
  take?: TakeMemory,
): EditResult {
  const source = openText(
    bytes,
    operation.type === 'yaml_update' ? editLimits.yaml_bytes : editLimits.file_bytes,
  );
  // A string takes as much memory as the file once more, so what can be found in the bytes is.
  const edit: PlannedEdit =
    operation.type === 'text_replace' && !operation.regex
      ? replaceLiteral(source, operation)
      : planInBytes(source, operation, hints);
  const result = applySplices(source, edit.splices, take);
  if (Buffer.compare(result, bytes) === 0) refuse('EDIT_CHANGES_NOTHING');
  edit.check?.(textOf(openText(result)));
  return { bytes: result, output: edit.output };
}

/** Refuses an edit that fits no file. True for one that searches the file: by an expression, or by a path with a filter. */
export function isSearch(operation: EditOperation): boolean {
  if (operation.type === 'text_replace') {
    if (operation.regex) requireExpression(operation);
    return operation.regex;
  }
  if (operation.type === 'yaml_update') parseYamlPath(operation.path);
  return (
    'path' in operation && operation.type !== 'yaml_update' && compilePath(operation.path).steps === null
  );
}

/** An edit by the places in the bytes, and the check of its result if it has one. */
interface PlannedEdit {
  readonly splices: readonly ByteSplice[];
  readonly output: string;
  check?(result: string): void;
}

function planInBytes(source: SourceText, operation: EditOperation, hints: FormatHints): PlannedEdit {
  const text = textOf(source);
  const edit = planEdit(text, operation, hints);
  return { ...edit, splices: inBytes(source, text, edit.splices) };
}

function planEdit(text: string, operation: EditOperation, hints: FormatHints): Edit | CheckedEdit {
  switch (operation.type) {
    case 'text_replace':
      return replaceExpression(text, operation);
    case 'line_insert':
      return insertLines(text, operation);
    case 'line_delete':
      return deleteLines(text, operation);
    case 'json_add_property':
    case 'json_remove_property':
    case 'json_update_value':
      return editJson(text, acceptsComments(formatOf(hints)), operation);
    case 'yaml_update':
      requireYaml(formatOf(hints));
      return editYaml(text, operation);
  }
}
