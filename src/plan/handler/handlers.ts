import type { ActionType } from '../operation.ts';
import { fileCreateHandler } from './file-create.ts';
import { fileDeleteHandler } from './file-delete.ts';
import { createFileModifyHandler } from './file-modify.ts';
import { fileRenameHandler } from './file-rename.ts';
import type { Editor, Handler } from './handler.ts';
import { createPipelineRunHandler, type Pipelines } from './pipeline-run.ts';
import { createSchemaUpdateHandler } from './schema-update.ts';
import { createSqlExecuteHandler, type SqlSurroundings } from './sql-execute.ts';

/** What actions need that is not part of this folder. */
export interface Runners {
  readonly pipelines?: Pipelines | undefined;
  readonly sql?: SqlSurroundings | undefined;
  readonly editor?: Editor | undefined;
}

export type Handlers = { readonly [T in ActionType]: Handler<T> };

/** 004 section 5.2: each action type has its handler. */
export function createHandlers(runners: Runners): Handlers {
  return {
    FILE_CREATE: fileCreateHandler,
    FILE_MODIFY: createFileModifyHandler(runners.editor),
    FILE_DELETE: fileDeleteHandler,
    FILE_RENAME: fileRenameHandler,
    SCHEMA_UPDATE: createSchemaUpdateHandler(runners.editor),
    SQL_EXECUTE: createSqlExecuteHandler(runners.sql ?? {}),
    PIPELINE_RUN: createPipelineRunHandler(runners.pipelines),
  };
}
