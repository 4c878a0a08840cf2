import { RE2JS } from 're2js';
import * as z from 'zod';
import { FIELD_FORM, NAME_FORM } from '../canonical/form.ts';
import { visible } from '../canonical/visible.ts';
import { parseYaml } from '../canonical/yaml.ts';
import { fieldLimits, limits, simulationLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/** The shape of one `simulations/*.yaml`. An unknown key is refused: its author meant it to do something. */

export const PLAN_ROLLBACK = 'plan:rollback';

/** Of a simulation, a family or an act of access. */
export const simulationName = z.string().regex(NAME_FORM, 'is not a name: a-z, 0-9, dot, dash, underscore');
const field_name = z
  .string()
  .regex(FIELD_FORM, 'is not the name of a field: a-z, 0-9, underscore')
  .refine((text) => text !== 'simulation_id', 'is what the finder calls the simulation itself');
const language = z.string().regex(/^[a-z]{2,3}$/, 'is not a language such as en');
/** The attacker is an author whose text reads differently from what the finder matches. */
const line = z
  .string()
  .min(1)
  .max(simulationLimits.line_chars)
  .refine((text) => visible(text) === text, 'has a character that cannot be seen');

/** A text per language. English is always there, so that a user of any language has a text. */
const texts = z
  .record(language, line)
  .refine((given) => Object.hasOwn(given, 'en'), 'has no English text')
  .refine((given) => Object.keys(given).length <= simulationLimits.languages, 'has too many languages');
const phrases = z
  .record(language, z.array(line).max(simulationLimits.phrases))
  .refine((given) => Object.keys(given).length <= simulationLimits.languages, 'has too many languages');

const words = z.array(line).min(1).max(fieldLimits.listed);
/**
 * What people call the act and the thing that it is done to, per language. An act and a thing heard together mean the
 * simulation, in whatever phrase; a thing without an act, or an act without a thing, does not. An entry of several words
 * is heard as a whole, in this order.
 */
const vocabulary = z
  .record(language, z.strictObject({ acts: words, things: words }))
  .refine((given) => Object.keys(given).length <= simulationLimits.languages, 'has too many languages');
const extract = z.union([
  z.enum(['quoted', 'number', 'date', 'enum', 'email', 'path', 'token']),
  z.strictObject({ after: words }),
]);

const TEXT_EXTRACTS: readonly string[] = ['quoted', 'email', 'path', 'token'];

const field = z
  .strictObject({
    type: z.enum(['string', 'integer', 'number', 'boolean', 'date', 'enum']),
    enum: z.array(line).min(2).max(simulationLimits.choices).optional(),
    /** Other words for a value of the enum, in any language. */
    words: z.record(z.string(), words).optional(),
    /** A regular expression (RE2) that must match the whole value. */
    pattern: z
      .string()
      .min(1)
      .max(simulationLimits.pattern_chars)
      .refine(isPattern, 'is not an RE2 pattern')
      .optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    max_length: z.int().min(1).max(limits.prose_chars).optional(),
    question: texts,
    /** Two or three ways to answer, shown with the question. */
    formats: z.array(line).min(2).max(3),
    examples: z.array(line).max(simulationLimits.examples).optional(),
    /** How a value is found in what the user says. Without it the value is always asked for. */
    extract: extract.optional(),
  })
  .superRefine((given, context) => {
    for (const [broken, path, message] of fieldRules(given))
      if (broken) context.addIssue({ code: 'custom', path: [path], message });
  });

type FieldShape = z.infer<typeof field>;

function fieldRules(given: FieldShape): (readonly [broken: boolean, path: string, message: string])[] {
  const { type, extract } = given;
  const is_number = type === 'integer' || type === 'number';
  const is_text = typeof extract === 'object' || TEXT_EXTRACTS.includes(extract ?? '');
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = given;
  const unknown = Object.keys(given.words ?? {}).some((value) => !given.enum?.includes(value));
  return [
    [(type === 'enum') !== (given.enum !== undefined), 'enum', 'belongs to the type enum, and only to it'],
    [new Set(given.enum).size !== (given.enum?.length ?? 0), 'enum', 'has a value twice'],
    [unknown, 'words', 'are words for a value that the enum does not have'],
    [type !== 'string' && given.pattern !== undefined, 'pattern', 'is for text only'],
    [type !== 'string' && given.max_length !== undefined, 'max_length', 'is for text only'],
    [!is_number && (given.min !== undefined || given.max !== undefined), 'min', 'is for numbers only'],
    [min > max, 'min', 'is more than max'],
    [is_text && type !== 'string', 'extract', 'finds text, and the field is not text'],
    [extract === 'token' && given.pattern === undefined, 'extract', 'needs a pattern to know the token by'],
    [extract === 'number' && !is_number, 'extract', 'finds a number, and the field is not one'],
    [extract === 'date' && type !== 'date', 'extract', 'finds a date, and the field is not one'],
    [extract === 'enum' && type !== 'enum', 'extract', 'finds a value of an enum, and the field has none'],
  ];
}

function isPattern(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false;
  }
}

const given_values = z.record(z.string().min(1).max(fieldLimits.reference_chars), z.json());
const effect = z.union([
  z.strictObject({ tool: simulationName, arguments: given_values.default({}) }),
  z.strictObject({
    plan: z.record(z.string(), z.json()),
    config: z.record(z.string(), z.json()).optional(),
  }),
]);
const step = z.strictObject({ simulation: simulationName, fields: given_values.default({}) });

export const simulationSchema = z
  .strictObject({
    id: simulationName,
    version: z.int().min(1),
    family: simulationName,
    summary: texts,
    phrases: phrases.default({}),
    words: vocabulary.optional(),
    priority: z.int().min(0).max(100).default(50),
    risk: z.enum(['LOW', 'MEDIUM', 'HIGH']),
    /** No defaults: the author of a simulation says what it does to the world. */
    impactful: z.boolean(),
    side_effecting: z.boolean(),
    irreversible: z.boolean(),
    access_action: simulationName,
    /** All of them are required. */
    fields: z
      .record(field_name, field)
      .refine((given) => Object.keys(given).length <= simulationLimits.fields, 'are too many')
      .default({}),
    effect: effect.optional(),
    steps: z.array(step).min(1).max(simulationLimits.steps).optional(),
    /** A rollback simulation, or `plan:rollback` for the undo that a plan has of its own. */
    rollback_plan_ref: z.union([z.literal(PLAN_ROLLBACK), simulationName]).optional(),
    timeout_ms: z.int().min(1).max(simulationLimits.timeout_ms).default(simulationLimits.timeout_ms_default),
  })
  .superRefine((given, context) => {
    const tells = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if ((given.effect === undefined) === (given.steps === undefined))
      tells('effect', 'is there, or steps are: one of the two');
    if (given.impactful && given.rollback_plan_ref === undefined)
      tells('rollback_plan_ref', 'is missing, and the simulation is impactful');
    if (given.rollback_plan_ref === PLAN_ROLLBACK && !(given.effect && 'plan' in given.effect))
      tells('rollback_plan_ref', 'is the undo of a plan, and the effect is not a plan');
    const unknown = placeholdersIn(given.effect ?? given.steps ?? null).find(
      (name) => !Object.hasOwn(given.fields, name),
    );
    if (unknown !== undefined)
      tells(given.effect ? 'effect' : 'steps', `uses the field "${unknown}", which is not there`);
  });

export type Simulation = z.infer<typeof simulationSchema>;
export type Field = Simulation['fields'][string];
export type Risk = Simulation['risk'];

const PLACEHOLDER = /\{([a-z][a-z0-9_]{0,63})\}/g;

/** The fields that the strings of a value name in braces. */
export function placeholdersIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(PLACEHOLDER)].map(([, name]) => name!);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(placeholdersIn);
}

/** The user must say yes to it first. */
export function needsConfirmation({ impactful, side_effecting, irreversible }: Simulation): boolean {
  return impactful || side_effecting || irreversible;
}

/** Reads one file, or refuses with the file and everything that is wrong, each with its line. */
export function parseSimulation(file: string, text: string): Simulation {
  const document = strictYaml(file, text);
  const parsed = simulationSchema.safeParse(document.value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => {
    const where = path.length > 0 ? `${path.map(String).join('.')}: ` : '';
    return { line: document.place(path).line, text: `${where}${message}` };
  });
  const lines = faults.map(({ line, text }) => `${file}, line ${line}: ${text}`);
  return refuse('SIMULATION_INVALID', lines.join('\n'), { file, line: faults[0]!.line });
}

function strictYaml(file: string, text: string): ReturnType<typeof parseYaml> {
  try {
    return parseYaml(Buffer.from(text, 'utf8'), simulationLimits.file_bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { line = 1 } = error.facts;
    return refuse('SIMULATION_INVALID', `${file}: ${error.message}`, { file, line });
  }
}
