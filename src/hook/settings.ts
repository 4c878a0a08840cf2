import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSameJson, type Json, type JsonObject, parseJson } from '../canonical/json.ts';
import { shellWord } from '../canonical/shell-word.ts';
import { replaceDurably } from '../durable/file.ts';
import { hookLimits } from '../limits.ts';
import { applyEdit } from '../plan/edit/apply.ts';
import { Refusal, refuse } from '../refusal.ts';
import { DIALECTS, type HookClient } from './client.ts';

/** By this a settings file tells which of its hooks is ours. The shell takes it for a comment. */
const MARK = '# keyturn-hook';

/** Whatever goes wrong is a no: a program that is gone, was killed or broke off would be a yes for the client. */
export function hookCommand(words: readonly string[]): string {
  const run = words.map(shellWord).join(' ');
  return `${run} || { [ $? -eq 2 ] || echo 'keyturn hook could not decide' >&2; exit 2; } ${MARK}`;
}

/** What stands in the settings of a client for Keyturn. */
export function hookEntry(client: HookClient, command: string): JsonObject {
  const { timeout, closed } = DIALECTS[client];
  return { hooks: [{ type: 'command', command, timeout, ...closed }] };
}

/** What a settings file says of our hook. */
export interface HookSettings {
  readonly file: string;
  /** Our entries, as the file has them. */
  readonly own: readonly Json[];
}

/** Empty where there is no such file. */
export function readSettings(file: string): JsonObject {
  return read(file)?.value ?? {};
}

export function readHook(client: HookClient, file: string): HookSettings {
  const { event } = DIALECTS[client];
  return { file, own: groupsIn(readSettings(file), event).filter(isOwn) };
}

/** Writes our hook beside the others, in place of one of ours. False where it is there already. */
export function installHook(client: HookClient, file: string, entry: JsonObject): boolean {
  return change(client, file, (groups) => [...groups.filter((one) => !isOwn(one)), entry]);
}

/** Takes out what is ours, and nothing else. False where there was nothing. */
export function removeHook(client: HookClient, file: string): boolean {
  return change(client, file, (groups) => groups.filter((one) => !isOwn(one)));
}

/** A group that holds a hook of ours. A group that holds other hooks beside it is refused, so that none of them is lost. */
function isOwn(group: Json): boolean {
  const { hooks } = isObject(group) ? group : { hooks: null };
  if (!Array.isArray(hooks)) return false;
  const own = (hooks as readonly Json[]).filter(
    (one) => isObject(one) && typeof one.command === 'string' && one.command.endsWith(MARK),
  );
  if (own.length > 0 && own.length < hooks.length)
    refuse(
      'HOOK_SETTINGS_MALFORMED',
      'Other hooks stand in the group of Keyturn. Give them one of their own.',
    );
  return own.length > 0;
}

interface Found {
  readonly bytes: Uint8Array;
  readonly value: JsonObject;
  readonly mode: number;
}

function read(file: string): Found | null {
  if (!existsSync(file)) return null;
  try {
    const bytes = readFileSync(file);
    const value = bytes.toString('utf8').trim() === '' ? {} : parseJson(bytes, hookLimits.settings_bytes);
    if (isObject(value)) return { bytes, value, mode: statSync(file).mode & 0o777 };
  } catch (error) {
    if (!(error instanceof Refusal) && (error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
  return refuse('HOOK_SETTINGS_MALFORMED', `${file} is not plain JSON that can be read.`);
}

function groupsIn(value: JsonObject, event: string): readonly Json[] {
  const { hooks = {} } = value;
  if (!isObject(hooks)) return refuse('HOOK_SETTINGS_MALFORMED', '"hooks" is not an object.');
  const groups = hooks[event] ?? [];
  return Array.isArray(groups) ? groups : refuse('HOOK_SETTINGS_MALFORMED', `"${event}" is not a list.`);
}

function change(
  client: HookClient,
  named: string,
  edit: (groups: readonly Json[]) => readonly Json[],
): boolean {
  const { event } = DIALECTS[client];
  // People keep their settings elsewhere, and a link here.
  const file = existsSync(named) ? realpathSync(named) : named;
  const found = read(file);
  const before = groupsIn(found?.value ?? {}, event);
  const after = edit(before);
  if (isSameJson(before, after)) return false;
  if (found === null) {
    mkdirSync(dirname(file), { recursive: true });
    replaceDurably(file, text({ hooks: { [event]: after } }), 0o644);
    return true;
  }
  replaceDurably(`${file}.before-keyturn`, found.bytes, found.mode);
  replaceDurably(file, edited(found, event, after), found.mode);
  return true;
}

/** Only what is between the brackets of this event changes. An event that nothing is left of is taken out. */
function edited({ bytes, value }: Found, event: string, groups: readonly Json[]): Uint8Array {
  const of = (operation: Parameters<typeof applyEdit>[1]) => applyEdit(bytes, operation).bytes;
  if (Object.keys(value).length === 0) return text({ hooks: { [event]: groups } });
  const { hooks } = value;
  if (!isObject(hooks))
    return of({ type: 'json_add_property', path: '$', key: 'hooks', value: { [event]: groups } });
  const path = `$.hooks`;
  if (groups.length === 0 && Object.keys(hooks).length === 1)
    return of({ type: 'json_remove_property', path: '$', key: 'hooks' });
  if (groups.length === 0) return of({ type: 'json_remove_property', path, key: event });
  return hooks[event] === undefined
    ? of({ type: 'json_add_property', path, key: event, value: groups })
    : of({ type: 'json_update_value', path: `${path}.${event}`, value: groups });
}

function text(value: Json): Uint8Array {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
