import * as z from 'zod';
import { type ActionType, actionTypes, operationSchemas } from '../operation.ts';
import { systemConfigSchema } from './config.ts';
import { taskEnvelopeSchema } from './envelope.ts';
import { actionList, actionShape, planShape } from './schema.ts';

/**
 * The JSON Schemas of what comes in, for editors and for other programs. They are made from the schemas that decide, and say a
 * little less: paths, circles and limits that depend on other fields are checked by `plan validate` only.
 */

type Schema = { readonly [key: string]: unknown };

export function inputJsonSchemas(): Readonly<Record<string, Schema>> {
  return {
    'plan-task.json': titled('plan-task.json', 'A task plan', planJsonSchema()),
    'plan-config.json': titled('plan-config.json', 'A system config', bare(systemConfigSchema)),
    'plan-envelope.json': titled('plan-envelope.json', 'A task envelope', bare(taskEnvelopeSchema)),
  };
}

function titled(file: string, title: string, schema: Schema): Schema {
  const { $schema: _, ...rest } = schema;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `https://keyturn.dev/schemas/${file}`,
    title,
    ...rest,
  };
}

/** As it is written, before defaults are filled in. */
function bare(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

function planJsonSchema(): Schema {
  const schema = bare(z.strictObject({ ...planShape, action_plan: actionList(z.unknown()) }));
  const properties = schema.properties as Record<string, Schema>;
  const action_plan = { ...properties.action_plan, items: { oneOf: actionTypes.map(actionJsonSchema) } };
  return { ...schema, properties: { ...properties, action_plan } };
}

function actionJsonSchema(type: ActionType): Schema {
  const schema = bare(
    z.strictObject({ ...actionShape, action_type: z.literal(type), operation: z.looseObject({}) }),
  );
  const inline = alternatives(bare(operationSchemas[type]));
  const operation = { anyOf: [...inline, ...inline.map(underDetails)] };
  return { ...schema, properties: { ...(schema.properties as Schema), operation } };
}

function alternatives(schema: Schema): Schema[] {
  return ((schema.oneOf ?? schema.anyOf) as Schema[] | undefined) ?? [schema];
}

/** 004 section 3.3 writes the parameters one level deeper than section 12.1. */
function underDetails(inline: Schema): Schema {
  const { type: name, ...parameters } = inline.properties as Record<string, Schema>;
  const required = (inline.required as string[]).filter((key) => key !== 'type');
  return {
    type: 'object',
    properties: {
      type: name,
      details: { type: 'object', properties: parameters, required, additionalProperties: false },
    },
    required: ['type', 'details'],
    additionalProperties: false,
  };
}
