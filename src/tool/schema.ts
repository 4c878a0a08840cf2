import * as z from 'zod';
import { FIELD_FORM, FINGERPRINT_FORM, NAME_FORM, UUID_FORM, VARIABLE_FORM } from '../canonical/form.ts';
import { fieldLimits, limits } from '../limits.ts';

/** The shape of `tools.yaml`. An unknown key is refused: its author expects an effect. */

const name = z.string().regex(NAME_FORM, 'is not a name: a-z, 0-9, dot, dash, underscore');
const parameter_name = z.string().regex(FIELD_FORM, 'is not a parameter name: a-z, 0-9, underscore');
const variable = z.string().regex(VARIABLE_FORM, 'is not the name of a variable');
const line = z.string().regex(/^[^\x00-\x1f\x7f]*$/, 'has a control character');
const path = line.min(1).max(fieldLimits.path_chars);
const uuid = z.string().regex(UUID_FORM, 'is not a lower-case UUID');

const parameter = z.strictObject({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'path', 'list']),
  required: z.boolean().default(true),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  description: line.max(limits.prose_chars).optional(),
  /** A regular expression (RE2) that must match the whole value. */
  pattern: z.string().min(1).max(fieldLimits.pattern_chars).optional(),
  enum: z
    .array(z.union([z.string(), z.number()]))
    .min(1)
    .max(fieldLimits.values)
    .optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  min_length: z.int().min(0).optional(),
  max_length: z.int().min(0).max(limits.json_string_chars).optional(),
  max_items: z.int().min(0).max(limits.list_items).optional(),
  allow_leading_dash: z.boolean().default(false),
  /** Lets a string have line breaks and tabs. */
  multiline: z.boolean().default(false),
});

const arg = z.union([
  line,
  z.strictObject({ when: parameter_name, args: z.array(line).min(1).max(fieldLimits.registered) }),
]);

/** The name of a secret, here and in the file of the executor. */
export const secretName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/,
    'is not the name of a secret: letters, digits, underscore, dot, dash',
  );

/** Variables that make a program load code. A secret in one would run code under an approval that never showed it. */
const LOADERS =
  /^(LD_.*|DYLD_.*|GLIBC_TUNABLES|GCONV_PATH|MALLOC_.*|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|BASH_ENV|ENV|BASH_FUNC.*|SHELLOPTS|BASHOPTS|PS4|IFS|PROMPT_COMMAND|PYTHON.*|PERL.*|RUBYLIB|RUBYOPT|GEM_(HOME|PATH)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|LUA_.*|PHPRC|PHP_INI_SCAN_DIR|GIT_.*|EDITOR|VISUAL|PAGER|LESSOPEN|LESSCLOSE|OPENSSL_CONF|OPENSSL_MODULES|SSLKEYLOGFILE)$/;

const given = variable
  .refine((text) => !LOADERS.test(text), 'makes programs load code, so it holds no secret')
  .refine((text) => text !== 'PATH', 'decides which interpreter runs, so it must be fixed under env');

const fixed = variable.refine(
  (text) => !/^(LD_|DYLD_|GLIBC_TUNABLES$)/.test(text),
  'reaches the sandbox itself',
);

const covered = path.refine(
  (pattern) => pattern.split('/').every((name) => name !== '' && name !== '.' && name !== '..'),
  'is not a plain path beneath the project',
);

const sandbox = z.union([
  z.literal('none'),
  z.strictObject({
    network: z.boolean().default(false),
    read: z.array(path).max(fieldLimits.registered).default([]),
    write: z.array(path).max(fieldLimits.registered).default([]),
  }),
]);

const limited = z.strictObject({
  cpu_s: z.int().min(1).max(limits.timeout_s).optional(),
  file_mb: z.int().min(1).max(limits.sandbox_file_mb).optional(),
  open_files: z.int().min(limits.sandbox_open_files_min).max(limits.sandbox_open_files).optional(),
  processes: z.int().min(1).max(limits.sandbox_processes).optional(),
  memory_mb: z.int().min(limits.sandbox_memory_mb_min).max(limits.sandbox_memory_mb).optional(),
  /** Of a sandbox's own /tmp, and of its /dev/shm. */
  tmp_mb: z.int().min(1).max(limits.sandbox_tmp_mb).optional(),
});

const tool = z.strictObject({
  name,
  summary: line.min(1).max(limits.prose_chars),
  executable: path,
  args: z.array(arg).max(fieldLimits.values).default([]),
  parameters: z
    .record(parameter_name, parameter)
    .refine(
      (all) => Object.keys(all).length <= limits.parameters,
      `has more than ${limits.parameters} parameters`,
    )
    .default({}),
  env: z.record(fixed, line.max(fieldLimits.value_chars)).default({}),
  /** Secrets of the executor, each in a variable of its name, or in the variable that stands before it. Without one the tool does not run. */
  secrets: z
    .union([z.array(given).max(fieldLimits.registered), z.record(given, secretName)])
    .transform((named) => (Array.isArray(named) ? Object.fromEntries(named.map((one) => [one, one])) : named))
    .default({}),
  cwd: path.default('.'),
  timeout_s: z.int().min(1).max(limits.timeout_s).default(limits.timeout_s_default),
  stdout_bytes: z.int().min(0).max(limits.output_bytes).default(limits.output_bytes_default),
  stderr_bytes: z.int().min(0).max(limits.output_bytes).default(limits.output_bytes_default),
  /** No default: the author of the entry says what the tool may reach, and whether it can be undone. */
  sandbox,
  limits: limited.optional(),
  /** Left out, the tool runs as the user of Keyturn, or as `nobody` where that is root. */
  run_as: z
    .string()
    .regex(/^[a-z_][a-z0-9_.-]{0,31}$/, 'is not the name of a user: a-z, 0-9, dot, dash, underscore')
    .optional(),
  digest: z.string().regex(FINGERPRINT_FORM, 'is not sha256: and 64 hexadecimal characters').optional(),
  /** Files that the tool loads, as patterns beneath the project. They become part of what is approved. `[]` says: none. */
  covers: z.array(covered).max(fieldLimits.registered).optional(),
  undo: z.enum(['exact', 'compensating', 'none']),
  /** The call that undoes it. `{name}` is the value that the parameter had. */
  undone_by: z
    .strictObject({
      tool: name,
      arguments: z
        .record(parameter_name, z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
        .default({}),
    })
    .optional(),
  /** What the tool does, in words that several tools can share, such as `deploy`; `tool:NAME` unless told. */
  action: name.optional(),
  /** A capability can be limited to one category of tools. */
  category: name.optional(),
  /** Only an executor of this name, or with this label, runs it; left out, the one that keyturn.yaml names. */
  executor: name.optional(),
});

/** How an MCP server is started: what the entry of a tool says of it, in the same words. */
export const startSchema = tool
  .pick({
    ...{ executable: true, env: true, secrets: true, cwd: true, timeout_s: true, sandbox: true },
    ...{ limits: true, run_as: true, covers: true },
  })
  .extend({ args: z.array(line.max(fieldLimits.value_chars)).max(fieldLimits.values).default([]) });

const binding = z.strictObject({
  intent: uuid,
  tool: z.union([name, z.array(name).max(fieldLimits.registered)]),
  arguments: z.record(z.string(), z.json()).default({}),
});

/** A pipeline is one registered thing: its steps and all their arguments are fixed here and approved as one. */
const pipeline = z.strictObject({
  name,
  summary: line.min(1).max(limits.prose_chars),
  steps: z
    .array(
      z.union([
        z.strictObject({ tool: name, arguments: z.record(z.string(), z.json()).default({}) }),
        z.strictObject({ sql: path, database: path }),
      ]),
    )
    .min(1)
    .max(fieldLimits.listed),
});

export const registrySchema = z.strictObject({
  version: z.literal(1),
  tools: z.array(tool).max(limits.tools),
  bindings: z.array(binding).max(limits.bindings).default([]),
  pipelines: z.array(pipeline).max(limits.tools).default([]),
});

export type RegistryFile = z.infer<typeof registrySchema>;
export type ToolEntry = z.infer<typeof tool>;
export type Parameter = z.infer<typeof parameter>;
export type Binding = z.infer<typeof binding>;
export type Pipeline = z.infer<typeof pipeline>;
