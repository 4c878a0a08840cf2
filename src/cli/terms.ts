import { isDigest } from '../canonical/digest.ts';
import { type Conditions, canonicalScope, parseConditions, type ResourceScope } from '../keyturn.ts';
import { refuse } from '../refusal.ts';

/** `--scope`, once for each thing that may be reached. Nothing is added to what was typed. */
export function scopeOf(words: readonly string[] | undefined): ResourceScope | undefined {
  if (words === undefined) return undefined;
  if (words.includes('nothing') && words.length > 1)
    refuse('USAGE', '--scope nothing goes with no other scope.');
  const valuesOf = (name: string) =>
    words.filter((word) => word.startsWith(`${name}=`)).map((word) => word.slice(name.length + 1));
  const [read, write, pipelines] = [valuesOf('read'), valuesOf('write'), valuesOf('pipeline')];
  const unknown = words.find((word) => !FLAGS.has(word) && !/^(read|write|pipeline)=./s.test(word));
  if (unknown !== undefined)
    refuse(
      'USAGE',
      `"${unknown.slice(0, 60)}" is not a scope: read=PATH, write=PATH, network, unconfined, pipeline=NAME or nothing.`,
    );
  const [network, unconfined] = [words.includes('network'), words.includes('unconfined')];
  return canonicalScope({ unconfined, network, read, write, pipelines });
}

const FLAGS: ReadonlySet<string> = new Set(['network', 'unconfined', 'nothing']);

/** `--condition`, once for each fact that must hold. A fact that is said twice could be meant either way. */
export function conditionsOf(words: readonly string[] | undefined): Conditions | undefined {
  if (words === undefined) return undefined;
  const found: Found = {};
  for (const word of words) {
    const [name, value] = splitWord(word);
    if (name === 'file') found.files = withFile(found.files ?? {}, value);
    else {
      if (found[name] !== undefined) refuse('USAGE', `The condition ${word.split('=')[0]} is given twice.`);
      Object.assign(found, { [name]: READERS[name](value) });
    }
  }
  return parseConditions(found);
}

type Found = { -readonly [K in keyof Conditions]: Conditions[K] };
type Plain = 'environment' | 'host' | 'hours' | 'not_before';

const READERS = {
  environment: (text: string) => text,
  host: (text: string) => text,
  hours: hoursOf,
  not_before: instantOf,
} satisfies Record<Plain, (text: string) => unknown>;

function splitWord(word: string): [Plain | 'file', string] {
  const equals = word.indexOf('=');
  const name = word.slice(0, Math.max(0, equals)).replace('not-before', 'not_before');
  const value = word.slice(equals + 1);
  if (value !== '' && (name === 'file' || Object.hasOwn(READERS, name))) return [name as Plain, value];
  return refuse(
    'USAGE',
    `"${word.slice(0, 60)}" is not a condition: environment=E, host=H, hours=9-17, not-before=TIME or file=PATH:SHA256.`,
  );
}

/** Full hours in UTC; 22-6 goes over midnight. */
function hoursOf(text: string): { from: number; to: number } {
  const match = /^(\d{1,2})-(\d{1,2})$/.exec(text);
  if (!match) refuse('TIME_MALFORMED', `"${text.slice(0, 40)}" is not a span of hours such as 9-17.`);
  return { from: Number(match[1]), to: Number(match[2]) };
}

/** A moment with its zone: without one it would be another moment on another machine. */
export function instantOf(text: string): string {
  const is_instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const moment = is_instant ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(moment))
    refuse('TIME_MALFORMED', `"${text.slice(0, 40)}" is not a time such as 2026-01-15T12:00:00Z.`);
  return new Date(moment).toISOString();
}

/** `PATH:SHA256`, or `PATH:none` for a file that must not be there. */
function withFile(files: Readonly<Record<string, string | null>>, text: string) {
  const colon = text.lastIndexOf(':');
  const [path, digest] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)];
  if (path === '' || !(isDigest(digest) || digest === 'none'))
    refuse(
      'USAGE',
      `"${text.slice(0, 60)}" is not PATH:SHA256, or PATH:none for a file that must not exist.`,
    );
  if (Object.hasOwn(files, path)) refuse('USAGE', `The file ${path.slice(0, 60)} is given twice.`);
  return { ...files, [path]: digest === 'none' ? null : digest };
}

/** The public key of a holder, where it is typed as such. */
export function publicKeyIn(text: string): string | null {
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? text : null;
}
