import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { NAME_FORM, VARIABLE_FORM } from '../canonical/form.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { readSecret, type SecretSource, type Secrets } from '../effect/secret.ts';
import type { Starter } from '../effect/starter.ts';
import { describeIssue } from '../event/event.ts';
import { fieldLimits, limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { secretName } from '../tool/schema.ts';
import { parseYaml } from '../tool/yaml.ts';
import type { Layout } from './layout.ts';

const absolute = z.string().max(fieldLimits.path_chars).refine(isAbsolute, 'is not an absolute path');
const word = z
  .string()
  .max(fieldLimits.path_chars)
  .refine((text) => !text.includes('\0'), 'has a NUL');

const source = z.union([
  z.strictObject({ environment: z.string().regex(VARIABLE_FORM) }),
  z.strictObject({ file: absolute }),
  z.strictObject({
    command: z.tuple([absolute], word).refine(({ length }) => length <= 100, 'has more than 100 words'),
    timeout_s: z.int().min(1).max(limits.secret_timeout_s).default(limits.secret_timeout_s_default),
  }),
]);

const targetName = z.string().regex(NAME_FORM);
const cidr = z.union([z.cidrv4(), z.cidrv6()]);
const host = { allow: z.array(cidr).max(fieldLimits.networks).default([]) };
const within = z.int().min(1).max(limits.notify_timeout_s).default(limits.notify_timeout_s_default);
const url = z.url({ protocol: /^https?$/ }).max(fieldLimits.url_chars);

const target = z.union([
  /** A webhook by the rules of Standard Webhooks, signed with this secret. */
  z.strictObject({ webhook: url, secret: secretName, timeout_s: within, ...host }),
  z.strictObject({ slack: url, timeout_s: within, ...host }),
  z.strictObject({ command: z.tuple([absolute], word), timeout_s: within }),
]);

/** `.keyturn/executor.yaml`: what belongs to the host that runs, and to no version control. It can start processes. */
const executorSchema = z.strictObject({
  version: z.literal(1),
  secrets: z
    .record(secretName, source)
    .refine((all) => Object.keys(all).length <= limits.secrets, `has more than ${limits.secrets} secrets`)
    .default({}),
  notify: z
    .strictObject({
      /** What links begin with; that of the service unless told. */
      address: z
        .url({ protocol: /^https?$/ })
        .max(fieldLimits.address_chars)
        .optional(),
      targets: z
        .record(targetName, target)
        .refine((all) => Object.keys(all).length <= limits.notify_targets, 'has too many targets')
        .default({}),
    })
    .prefault({}),
});

export type NotifyTarget = z.infer<typeof target>;

/** Who is told, and how. Hosts and commands stand only here: keyturn.yaml names targets, and an edited one starts nothing new. */
export interface NotifyTargets {
  readonly address: string | null;
  readonly targets: ReadonlyMap<string, NotifyTarget>;
}

export function readTargets(layout: Layout): NotifyTargets {
  const file = readExecutorFile(layout);
  const { address = null, targets = {} } = file?.notify ?? {};
  return { address, targets: new Map(Object.entries(targets)) };
}

/** Reads secrets by name, each time from their source. The file is looked at only where a tool needs one. */
export function secretsOf(layout: Layout, starter: Starter): (names: Iterable<string>) => Promise<Secrets> {
  return async (names) => {
    const wanted = [...new Set(names)];
    if (wanted.length === 0) return new Map();
    const sources = readSources(layout);
    const found = wanted.map((name) => ({
      name,
      source:
        sources.get(name) ??
        refuse('SECRET_MISSING', `The secret ${name} is NOT SET: ${layout.executor_file} does not name it.`, {
          secret: name,
        }),
    }));
    const read = found.map(
      async ({ name, source }) => [name, await readSecret(name, source, starter)] as const,
    );
    return new Map(await Promise.all(read));
  };
}

/** Where each secret comes from. No file names none. */
export function readSources(layout: Layout): ReadonlyMap<string, SecretSource> {
  return new Map(Object.entries(readExecutorFile(layout)?.secrets ?? {}));
}

function readExecutorFile({ executor_file: path }: Layout): z.infer<typeof executorSchema> | null {
  const bytes = readOwn(path);
  if (bytes === null) return null;
  const parsed = executorSchema.safeParse(valueIn(bytes));
  if (!parsed.success) refuse('EXECUTOR_FILE_INVALID', `executor.yaml: ${describeIssue(parsed.error)}`);
  return parsed.data;
}

/** A file that another account can write starts what that account wants; one that it can read tells where the secrets are. */
function readOwn(path: string): Uint8Array | null {
  let read: ReturnType<typeof readRegularFile>;
  try {
    read = readRegularFile(path, limits.yaml_bytes);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'FILE_NOT_FOUND') return null;
    return refuse('EXECUTOR_FILE_INVALID', `executor.yaml: ${error.message}`, { path });
  }
  const { bytes, mode, uid } = read;
  if ((mode & 0o077) !== 0)
    refuse(
      'EXECUTOR_FILE_INVALID',
      `${path} has the mode ${mode.toString(8)}: other accounts can reach it.`,
      { path },
    );
  if (uid !== process.geteuid?.() && uid !== 0)
    refuse('EXECUTOR_FILE_INVALID', `${path} belongs to another user.`, { path });
  return bytes;
}

function valueIn(bytes: Uint8Array): unknown {
  try {
    return parseYaml(bytes).value;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('EXECUTOR_FILE_INVALID', `executor.yaml: ${error.message}`);
  }
}
