import { realpathSync } from 'node:fs';
import { decodeUtf8 } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Starter } from './starter.ts';

/** Where the value of a secret comes from. */
export type SecretSource =
  | { readonly environment: string }
  | { readonly file: string }
  | { readonly command: readonly string[]; readonly timeout_s: number };

/** Values by name. They are kept for one run, in memory, and nowhere else. */
export type Secrets = ReadonlyMap<string, string>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one secret. No refusal repeats what was read: not the value, and not what a command printed. */
export async function readSecret(
  name: string,
  source: SecretSource,
  starter: Starter,
  environment: Environment = process.env,
): Promise<string> {
  if ('environment' in source) return usable(name, ofVariable(name, source.environment, environment));
  const bytes =
    'file' in source ? ofFile(name, source.file) : await ofCommand(name, source, starter, environment);
  return usable(name, withoutLineEnd(textOf(name, bytes)));
}

function ofVariable(name: string, variable: string, environment: Environment): string {
  const value = Object.hasOwn(environment, variable) ? environment[variable] : undefined;
  return (
    value ??
    refuse('SECRET_MISSING', `The secret ${name} is NOT SET: there is no variable ${variable}.`, {
      secret: name,
    })
  );
}

/** A link may lead to the file: that is how clusters mount secrets. */
function ofFile(name: string, path: string): Uint8Array {
  try {
    return readRegularFile(realpathSync.native(path), limits.secret_bytes + LINE_END_bytes).bytes;
  } catch (error) {
    const why = error instanceof Refusal ? error.code : ((error as NodeJS.ErrnoException).code ?? 'unknown');
    if (why === 'INPUT_TOO_LARGE') refuseUnusable(name, TOO_LONG);
    const code = why === 'ENOENT' ? 'SECRET_MISSING' : 'SECRET_UNREADABLE';
    return refuse(code, `The secret ${name} cannot be read from ${path} (${why}).`, { secret: name });
  }
}

async function ofCommand(
  name: string,
  { command, timeout_s }: Extract<SecretSource, { command: unknown }>,
  starter: Starter,
  environment: Environment,
): Promise<Uint8Array> {
  const { started, exit_code, timed_out, stdout } = await starter.run({
    argv: command,
    env: Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    cwd: '/',
    timeout_ms: timeout_s * 1000,
    stdout_bytes: limits.secret_bytes + LINE_END_bytes,
    stderr_bytes: 0,
  });
  const failed = (how: string) =>
    refuse('SECRET_UNREADABLE', `The secret ${name} cannot be read: its command ${how}.`, { secret: name });
  if (!started) failed('could not be started');
  if (timed_out) failed(`took longer than ${timeout_s} s`);
  if (exit_code !== 0) failed(exit_code === null ? 'was killed' : `ended with exit code ${exit_code}`);
  if (stdout.truncated) refuseUnusable(name, TOO_LONG);
  return stdout.bytes;
}

const LINE_END_bytes = 2;

/** Files and commands end with a line break that is no part of the secret. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes, limits.secret_bytes + LINE_END_bytes);
  } catch {
    return refuseUnusable(name, 'is not UTF-8');
  }
}

const TOO_LONG = `has more than ${limits.secret_bytes} bytes`;

function usable(name: string, value: string): string {
  if (value === '')
    refuse('SECRET_MISSING', `The secret ${name} is NOT SET: its source is empty.`, { secret: name });
  const bytes = Buffer.byteLength(value);
  if (bytes < limits.secret_bytes_min) refuseUnusable(name, `has under ${limits.secret_bytes_min} bytes`);
  if (bytes > limits.secret_bytes) refuseUnusable(name, TOO_LONG);
  if (value.includes('\0')) refuseUnusable(name, 'has a NUL');
  return value;
}

function refuseUnusable(name: string, why: string): never {
  return refuse('SECRET_UNUSABLE', `The secret ${name} ${why}.`, { secret: name });
}
