import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json, JsonObject } from '../canonical/json.ts';
import { DIALECTS, type HookClient } from './client.ts';
import { readSettings } from './settings.ts';

/** A member of a settings file by which a client asks no hook, whatever entry stands there for one. */
export interface SwitchedOff {
  readonly member: string;
  readonly file: string;
}

/** The settings of a whole machine: they go before those of the account and of a project. */
const MANAGED: Readonly<Record<HookClient, string | null>> = {
  'claude-code': '/etc/claude-code/managed-settings.json',
  codex: null,
  'gemini-cli': '/etc/gemini-cli/settings.json',
};

/** What is looked at for a client, the file that wins first: `named` is the one file that --settings names. */
export function settingsFiles(
  client: HookClient,
  { root, home, named }: { readonly root: string; readonly home: string; readonly named: string | null },
): readonly string[] {
  const managed = MANAGED[client];
  const { settings } = DIALECTS[client];
  const local = client === 'claude-code' ? [join(root, '.claude/settings.local.json')] : [];
  const own = named === null ? [...local, join(root, settings), join(home, settings)] : [named];
  return [...new Set([...(managed === null ? [] : [managed]), ...own])];
}

/** Null where nothing that is read keeps the client from asking the hook of `file`. */
export function switchedOff(
  client: HookClient,
  { file, files }: { readonly file: string; readonly files: readonly string[] },
): SwitchedOff | null {
  if (client === 'codex') return codexOff(files);
  return client === 'claude-code' ? claudeOff(file, files) : geminiOff(file, files);
}

/** Hooks of managed settings are asked whatever other settings say, unless these are switched off there. */
function claudeOff(file: string, files: readonly string[]): SwitchedOff | null {
  const is_managed = file === MANAGED['claude-code'];
  const looked = is_managed ? [file] : files;
  const all = firstSaid(looked, ({ disableAllHooks }) => disableAllHooks);
  if (all?.value === true) return { member: 'disableAllHooks', file: all.file };
  if (is_managed) return null;
  const only = looked.find((one) => readSettings(one).allowManagedHooksOnly === true);
  return only === undefined ? null : { member: 'allowManagedHooksOnly', file: only };
}

function geminiOff(file: string, files: readonly string[]): SwitchedOff | null {
  const configOf = ({ hooksConfig }: JsonObject) => objectOr(hooksConfig);
  const enabled = firstSaid(files, (settings) => configOf(settings).enabled);
  if (enabled?.value === false) return { member: 'hooksConfig.enabled', file: enabled.file };
  // By the name of a hook, or by its command where it has none, as ours.
  const text = JSON.stringify(objectOr(readSettings(file).hooks));
  const by = files.find((one) => {
    const { disabled } = configOf(readSettings(one));
    return (
      Array.isArray(disabled) && disabled.some((name) => text.includes(`"command":${JSON.stringify(name)}`))
    );
  });
  return by === undefined ? null : { member: 'hooksConfig.disabled', file: by };
}

/** In TOML, beside the hooks: `hooks`, or `codex_hooks` as it was called before, under `[features]`. */
function codexOff(files: readonly string[]): SwitchedOff | null {
  for (const file of files.map((one) => join(dirname(one), 'config.toml'))) {
    const said = existsSync(file) ? featureIn(readFileSync(file, 'utf8')) : null;
    if (said !== null) return said ? null : { member: 'features.hooks', file };
  }
  return null;
}

function featureIn(text: string): boolean | null {
  let table = '';
  for (const line of text.split('\n')) {
    table = /^\s*\[\s*([^[\]]+?)\s*\]/.exec(line)?.[1] ?? table;
    const under = table === 'features' ? /^\s*(?:codex_)?hooks\s*=\s*(true|false)/ : null;
    const dotted =
      table === '' ? /^\s*features(?:\.|\s*=\s*\{.*?\b)(?:codex_)?hooks\s*=\s*(true|false)/ : null;
    const found = (under ?? dotted)?.exec(line);
    if (found) return found[1] === 'true';
  }
  return null;
}

function firstSaid(files: readonly string[], of: (settings: JsonObject) => Json | undefined) {
  const all = files.map((file) => ({ file, value: of(readSettings(file)) }));
  return all.find(({ value }) => typeof value === 'boolean');
}

function objectOr(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
