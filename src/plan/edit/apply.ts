import { refuse } from '../../refusal.ts';
import { bounds } from './bounds.ts';
import { acceptsComments, type FormatHints, formatOf, requireYaml } from './format.ts';
import { type CheckedEdit, editJson } from './json-edit.ts';
import { deleteLines } from './line-delete.ts';
import { insertLines } from './line-insert.ts';
import type { EditOperation } from './operation.ts';
import { applySplices, type Edit, openText } from './splice.ts';
import { replaceText } from './text-replace.ts';
import { editYaml } from './yaml-edit.ts';

export interface EditResult {
  readonly bytes: Uint8Array;
  /** What happened, as 004 section 12.1 reports it. */
  readonly output: string;
}

/**
 * One content edit of 004 appendix A.1: the same bytes and operation give the same result everywhere. Whatever is not
 * exactly as the operation says is refused, and an edit that would change nothing is one of these.
 */
export function applyEdit(bytes: Uint8Array, operation: EditOperation, hints: FormatHints = {}): EditResult {
  const source = openText(bytes, operation.type === 'yaml_update' ? bounds.yaml_bytes : bounds.file_bytes);
  const edit = planEdit(source.text, operation, hints);
  const result = applySplices(source, edit.splices);
  if (Buffer.compare(result, bytes) === 0) refuse('EDIT_CHANGES_NOTHING');
  if ('check' in edit) edit.check(openText(result).text);
  return { bytes: result, output: edit.output };
}

function planEdit(text: string, operation: EditOperation, hints: FormatHints): Edit | CheckedEdit {
  switch (operation.type) {
    case 'text_replace':
      return replaceText(text, operation);
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
