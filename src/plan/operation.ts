import * as z from 'zod';
import { NAME_FORM } from '../canonical/form.ts';
import { fieldLimits, limits, planLimits } from '../limits.ts';
import { editOperationSchema, schemaOperationSchema } from './edit/operation.ts';

/** The parameters of each action type as a plan writes them, flat. The edits are those of appendix A.1, and a change of the mode. */

const path = z.string().min(1);

const text = z
  .string()
  .max(limits.json_string_chars)
  .refine(
    (value) => value.isWellFormed() && !value.includes('\0'),
    'has a lone surrogate or a NUL character',
  );

/** Written in octal, as people write a mode. A number would be read as decimal by one and as octal by another. */
const mode = z
  .string()
  .regex(/^0?[0-7]{3}$/, 'is not an octal mode such as "0644"')
  .transform((octal) => Number.parseInt(octal, 8));

/** The content stands in the plan, or in a file of the project that the plan names and that is read when it is proposed. */
const fileCreate = z
  .strictObject({
    type: z.enum(['create', 'file_create']),
    content: text
      .max(
        limits.json_string_chars,
        `may have ${limits.json_string_chars} characters at most; name a larger content with content_file`,
      )
      .optional(),
    content_file: path.optional(),
    encoding: z.enum(['utf8', 'base64']).optional(),
    mode: mode.optional(),
  })
  .refine(({ content, content_file }) => (content === undefined) !== (content_file === undefined), {
    path: ['content'],
    message: 'is needed, or content_file instead of it',
  })
  .refine(({ encoding, content_file }) => encoding === undefined || content_file === undefined, {
    path: ['encoding'],
    message: 'means nothing for content_file, whose bytes are taken as they are',
  })
  .refine(({ encoding, content }) => encoding !== 'base64' || isBase64(content ?? ''), {
    path: ['content'],
    message: 'is not base64 in its one exact form',
  })
  .transform(({ content, content_file, encoding = 'utf8' as const, ...rest }) =>
    content_file === undefined ? { ...rest, content: content!, encoding } : { ...rest, content_file },
  );

function isBase64(content: string): boolean {
  return Buffer.from(content, 'base64').toString('base64') === content;
}

/** Only the mode: the content stays. */
const modeChange = z.strictObject({ type: z.literal('mode_change'), mode });

const fileModify = z.discriminatedUnion('type', [...editOperationSchema.options, modeChange]);

const fileDelete = z.strictObject({ type: z.enum(['delete', 'file_delete']) });

/** `new_path` and `destination` are two names for one thing; the plan uses one of them. */
const fileRename = z
  .strictObject({
    type: z.enum(['rename', 'file_rename', 'move']),
    new_path: path.optional(),
    destination: path.optional(),
  })
  .refine((rename) => (rename.new_path === undefined) !== (rename.destination === undefined), {
    message: 'needs either new_path or destination',
  })
  .transform(({ type, new_path, destination }) => ({ type, destination: (new_path ?? destination)! }));

const scalar = z.union([text, z.number(), z.boolean(), z.null()]);
const parameterName = z.string().regex(/^(?!__)[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'is not a parameter name');

/** Appendix A.2. The target is the database file; `database` may repeat it. `memory` needs no file. */
const sqlExecute = z
  .strictObject({
    type: z.literal('sql_execute'),
    query: text.min(1).optional(),
    query_file: path.optional(),
    parameters: z.record(parameterName, scalar).default({}),
    connection: z.enum(['duckdb', 'memory']).default('duckdb'),
    database: path.optional(),
    expect_results: z.boolean().default(false),
    save_results_to: path.regex(/\.(parquet|csv|json)$/, 'is not a parquet, csv or json file').nullish(),
    readable: z.array(path).max(planLimits.readable).default([]),
  })
  .refine((sql) => (sql.query === undefined) !== (sql.query_file === undefined), {
    message: 'needs either query or query_file',
  })
  .refine((sql) => sql.connection === 'duckdb' || sql.database === undefined, {
    path: ['database'],
    message: 'means nothing for a connection in memory',
  });

const pipelineRun = z.strictObject({
  type: z.enum(['run', 'pipeline_run']),
  pipeline: z.string().regex(NAME_FORM, 'is not the name of a pipeline'),
  arguments: z
    .record(z.string().max(limits.name_chars), z.union([scalar, z.array(text).max(fieldLimits.values)]))
    .default({}),
});

export const operationSchemas = {
  FILE_CREATE: fileCreate,
  FILE_MODIFY: fileModify,
  FILE_DELETE: fileDelete,
  FILE_RENAME: fileRename,
  SCHEMA_UPDATE: schemaOperationSchema,
  SQL_EXECUTE: sqlExecute,
  PIPELINE_RUN: pipelineRun,
} as const;

export type ActionType = keyof typeof operationSchemas;

export const actionTypes = Object.keys(operationSchemas) as [ActionType, ...ActionType[]];

type Parsed = { [T in ActionType]: z.infer<(typeof operationSchemas)[T]> };

/** The parameters of an operation, parsed. `database` only repeats the target, so it is gone after the check. */
export type OperationOf<T extends ActionType> = T extends 'SQL_EXECUTE'
  ? Omit<Parsed[T], 'database'>
  : Parsed[T];
