import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { readRegularFile } from '../durable/beneath.ts';
import { readSecret, type SecretSource, type Secrets } from '../effect/secret.ts';
import type { Starter } from '../effect/starter.ts';
import { describeIssue } from '../event/event.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { secretName } from '../tool/schema.ts';
import { parseYaml } from '../tool/yaml.ts';
import type { Layout } from './layout.ts';

const absolute = z.string().max(4096).refine(isAbsolute, 'is not an absolute path');
const word = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'has a NUL');

const source = z.union([
  z.strictObject({ environment: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/) }),
  z.strictObject({ file: absolute }),
  z.strictObject({
    command: z.tuple([absolute], word).refine(({ length }) => length <= 100, 'has more than 100 words'),
    timeout_s: z.int().min(1).max(limits.secret_timeout_s).default(limits.secret_timeout_s_default),
  }),
]);

/** `.keyturn/executor.yaml`: what belongs to the host that runs, and to no version control. It can start processes. */
const executorSchema = z.strictObject({
  version: z.literal(1),
  secrets: z
    .record(secretName, source)
    .refine((all) => Object.keys(all).length <= limits.secrets, `has more than ${limits.secrets} secrets`)
    .default({}),
});

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
export function readSources({ executor_file: path }: Layout): ReadonlyMap<string, SecretSource> {
  const bytes = readOwn(path);
  if (bytes === null) return new Map();
  const parsed = executorSchema.safeParse(valueIn(bytes));
  if (!parsed.success) refuse('EXECUTOR_FILE_INVALID', `executor.yaml: ${describeIssue(parsed.error)}`);
  return new Map(Object.entries(parsed.data.secrets));
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
