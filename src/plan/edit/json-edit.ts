import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../canonical/json.ts';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { compilePath, type Step } from './document-path.ts';
import { addProperty } from './json-add.ts';
import { type JsonPlace, locate } from './json-locate.ts';
import { parsePlain } from './json-plain.ts';
import { removeProperty } from './json-remove.ts';
import { Scale } from './json-scale.ts';
import { scanJson } from './json-scan.ts';
import { updateValue } from './json-update.ts';
import type { JsonAddProperty, JsonRemoveProperty, JsonUpdateValue } from './operation.ts';
import type { Edit, Splice } from './splice.ts';

type JsonOperation = JsonAddProperty | JsonRemoveProperty | JsonUpdateValue;

/** An edit, and the check that the text it leads to says exactly what was asked. */
export interface CheckedEdit extends Edit {
  check(result: string): void;
}

export function editJson(text: string, comments: boolean, operation: JsonOperation): CheckedEdit {
  const path = compilePath(operation.path);
  const location = path.steps ?? path.resolve(searchable(text, comments));
  const place = locate(text, comments, location);
  if (place === null) refuse('EDIT_TARGET_MISSING');
  return {
    splices: splicesOf(text, comments, place, operation),
    output: report(operation),
    check: (result) => checkResult(result, comments, location, place, operation),
  };
}

/** The value of a document that a path may search: sound, and neither too large nor too deep for a search. */
function searchable(text: string, comments: boolean): Json {
  const scale = new Scale();
  scanJson(text, comments, scale);
  if (scale.steps > editLimits.path_steps) refuse('EDIT_COSTLY', undefined, { steps: scale.steps });
  return parsePlain(text, comments);
}

function splicesOf(text: string, comments: boolean, place: JsonPlace, operation: JsonOperation): Splice[] {
  switch (operation.type) {
    case 'json_add_property':
      return addProperty(text, place, operation.key, operation.value);
    case 'json_remove_property':
      return removeProperty(text, place, operation.key);
    case 'json_update_value':
      if (isDeepStrictEqual(valueAt(text, comments, place), asRead(operation.value)))
        refuse('EDIT_CHANGES_NOTHING');
      return updateValue(text, place, operation.value);
  }
}

/**
 * Reads the result as if for the first time. The bytes outside the edit are copies, so a sound document with the
 * right value at the place has no other difference.
 */
function checkResult(
  result: string,
  comments: boolean,
  location: readonly Step[],
  before: JsonPlace,
  operation: JsonOperation,
): void {
  const added = operation.type === 'json_add_property';
  const after = locate(result, comments, added ? [...location, operation.key] : location);
  if (after === null) refuse('EDIT_NOT_EXACT');
  const exact =
    operation.type === 'json_remove_property'
      ? after.members?.length === before.members!.length - 1
      : isDeepStrictEqual(valueAt(result, comments, after), asRead(operation.value));
  if (!exact) refuse('EDIT_NOT_EXACT');
}

function valueAt(text: string, comments: boolean, place: JsonPlace): Json {
  return parsePlain(text.slice(place.start, place.end), comments);
}

/** As a reader of the file gets it: minus zero, for one, is written as zero. */
function asRead(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function report(operation: JsonOperation): string {
  switch (operation.type) {
    case 'json_add_property':
      return `Property '${operation.key}' added successfully`;
    case 'json_remove_property':
      return `Property '${operation.key}' removed successfully`;
    case 'json_update_value':
      return `Value at '${operation.path}' updated successfully`;
  }
}
