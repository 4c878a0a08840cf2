import * as z from 'zod';
import { guardPlain, type Json } from '../../canonical/json.ts';
import { editLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';

/** The operations of 004 appendix A.1, as a plan writes them. */

const text = (max_chars: number) =>
  z
    .string()
    .max(max_chars)
    .refine(
      (value) => value.isWellFormed() && !value.includes('\0'),
      'has a lone surrogate or a NUL character',
    );

const plain = z.custom<Json>(isPlain, 'is not plain JSON');
const path = text(editLimits.path_chars).min(1);
const line = z.int().min(1);
const count = z.int().min(1).max(editLimits.matches);

/**
 * Literal unless `regex` is true. A regular expression is RE2: no look-around, no back-references. In its replacement
 * `$1` (all digits that follow), `${1}` and `${name}` stand for a group, `$0` for the whole match, `$$` for a dollar
 * sign; any other dollar sign is refused. A literal replacement is taken as it is.
 */
const textReplace = z
  .strictObject({
    type: z.literal('text_replace'),
    pattern: text(editLimits.pattern_chars).min(1),
    replacement: text(editLimits.text_chars),
    regex: z.boolean().default(false),
    flags: z
      .string()
      .regex(/^(?!.*(.).*\1)[ims]*$/, 'must be some of i, m and s, each once')
      .optional(),
    expected_matches: count.optional(),
    max_matches: count.default(editLimits.matches_default),
  })
  .refine((edit) => edit.regex || edit.flags === undefined, 'flags belong to a regular expression')
  .refine(
    (edit) => !edit.regex || edit.pattern.length <= editLimits.regex_chars,
    `the expression has more than ${editLimits.regex_chars} characters`,
  );

/** Lines count from 1. The new lines come before that line; one past the last appends. */
const lineInsert = z.strictObject({
  type: z.literal('line_insert'),
  line_number: line,
  content: text(editLimits.text_chars),
});

/** Both lines are deleted, and all between them. */
const lineDelete = z
  .strictObject({ type: z.literal('line_delete'), start_line: line, end_line: line })
  .refine((edit) => edit.start_line <= edit.end_line, 'end_line is before start_line');

const key = text(editLimits.path_chars);

const jsonAddProperty = z.strictObject({ type: z.literal('json_add_property'), path, key, value: plain });
const jsonRemoveProperty = z.strictObject({ type: z.literal('json_remove_property'), path, key });
const jsonUpdateValue = z.strictObject({ type: z.literal('json_update_value'), path, value: plain });

/**
 * The path is `$.a.b[0]`, or dotted: `a.b.0`. `create` adds the last key instead of changing it. Of a file with several documents, `document`
 * names one; the first is 0.
 */
const yamlUpdate = z.strictObject({
  type: z.literal('yaml_update'),
  document: z
    .int()
    .min(0)
    .max(editLimits.yaml_documents - 1)
    .optional(),
  path,
  value: plain,
  create: z.boolean().default(false),
});

export const editOperationSchema = z.discriminatedUnion('type', [
  textReplace,
  lineInsert,
  lineDelete,
  jsonAddProperty,
  jsonRemoveProperty,
  jsonUpdateValue,
  yamlUpdate,
]);

/** What SCHEMA_UPDATE may do: the edits that know the structure. */
export const schemaOperationSchema = z.discriminatedUnion('type', [
  jsonAddProperty,
  jsonRemoveProperty,
  jsonUpdateValue,
  yamlUpdate,
]);

export type EditOperation = z.infer<typeof editOperationSchema>;
export type SchemaOperation = z.infer<typeof schemaOperationSchema>;
export type TextReplace = z.infer<typeof textReplace>;
export type LineInsert = z.infer<typeof lineInsert>;
export type LineDelete = z.infer<typeof lineDelete>;
export type JsonAddProperty = z.infer<typeof jsonAddProperty>;
export type JsonRemoveProperty = z.infer<typeof jsonRemoveProperty>;
export type JsonUpdateValue = z.infer<typeof jsonUpdateValue>;
export type YamlUpdate = z.infer<typeof yamlUpdate>;

function isPlain(value: unknown): value is Json {
  try {
    guardPlain(value);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
