import * as z from 'zod';
import { manifestSchema } from '../rollback/manifest.ts';
import { changeLogSchema, errorSchema, executionReportSchema } from './schema.ts';

/** The JSON Schemas of what a run leaves behind. */
export function reportJsonSchemas(): Readonly<Record<string, object>> {
  return {
    'plan-execution-report.json': published(
      'plan-execution-report.json',
      'execution_report.json',
      executionReportSchema,
    ),
    'plan-change-log.json': published('plan-change-log.json', 'change_log.json', changeLogSchema),
    'plan-rollback-manifest.json': published(
      'plan-rollback-manifest.json',
      'rollback_manifest.json',
      manifestSchema,
    ),
    'plan-error.json': published('plan-error.json', 'One failure of a run', errorSchema),
  };
}

function published(file: string, title: string, schema: z.ZodType): object {
  return {
    ...z.toJSONSchema(schema, { io: 'output' }),
    $id: `https://keyturn.dev/schemas/${file}`,
    title,
  };
}
