import { parseJson } from '../canonical/json.ts';
import { hookLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';

/**
 * The tables `[mcp_servers.NAME]` of a Codex configuration. What is read of TOML is what such tables hold: texts, lists of texts and inline
 * tables. A file with anything else that could hide a table is refused, and is never written.
 */
export interface TomlTable {
  readonly name: string;
  /** The lines from its header to its last value, of all its parts: where each begins and ends. */
  readonly parts: { readonly from: number; readonly to: number }[];
  readonly values: Record<string, unknown>;
}

const HEADER = /^\s*\[(\[?)([^[\]]+)\]?\]\s*(?:#.*)?$/;
const KEY = /^\s*(?:([A-Za-z0-9_-]+)|"([^"\\]*)"|'([^']*)')\s*=\s*/;
const NAMED =
  /^\s*mcp_servers\s*\.\s*(?:([A-Za-z0-9_-]+)|"([^"\\]+)"|'([^']+)')\s*(?:\.\s*([A-Za-z0-9_-]+)\s*)?$/;

export function tablesIn(text: string): readonly TomlTable[] {
  if (/"""|'''/.test(text)) cannot('It has a text of several lines.');
  if (/^\s*["']?mcp_servers["']?\s*[.=]/m.test(text)) cannot('Its servers are not in tables of their own.');
  const lines = text.split('\n');
  const tables = new Map<string, TomlTable>();
  const paths = new Set<string>();
  for (let n = 0; n < lines.length; n += 1) {
    const [, is_list, path = ''] = HEADER.exec(lines[n]!) ?? [];
    // Behind an escape such as \u005f may be the name that is looked for.
    if (/^\s*"[^"]*\\/.test(path)) cannot(`Line ${n + 1} has a name with an escape.`);
    if (!/^\s*["']?mcp_servers\b/.test(path)) continue;
    const [matched, bare, basic, literal, part] = NAMED.exec(path) ?? [];
    if (matched === undefined || is_list) cannot(`Line ${n + 1} is no table of one server.`);
    const name = bare ?? basic ?? literal!;
    // TOML allows no table and no key twice. Which of them a client takes is not known.
    const place = JSON.stringify([name, part]);
    if (paths.has(place)) cannot(`Line ${n + 1} is a table that is there already.`);
    paths.add(place);
    const { values, to } = valuesFrom(lines, n + 1);
    const table = tables.get(name) ?? { name, parts: [], values: {} };
    tables.set(name, table);
    table.parts.push({ from: n, to });
    const added = part === undefined ? values : { [part]: values };
    const twice = Object.keys(added).find((key) => Object.hasOwn(table.values, key));
    if (twice !== undefined) cannot(`"${twice}" of ${name} is there twice.`);
    Object.assign(table.values, added);
    n = to - 1;
  }
  return [...tables.values()];
}

/** Without these tables, and with one more at the end. */
export function withoutTables(text: string, gone: readonly TomlTable[], added: readonly string[]): string {
  const lines = text.split('\n');
  const parts = gone.flatMap((table) => table.parts);
  const kept = lines.filter((_, n) => !parts.some(({ from, to }) => n >= from && n < to));
  const rest = kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd();
  return `${[...(rest === '' ? [] : [rest]), ...(added.length > 0 ? [added.join('\n')] : [])].join('\n\n')}\n`;
}

function valuesFrom(lines: readonly string[], first: number) {
  const values: Record<string, unknown> = {};
  let to = first;
  for (let n = first; n < lines.length && !HEADER.test(lines[n]!); n += 1) {
    if (/^\s*(#.*)?$/.test(lines[n]!)) continue;
    const [matched, bare, basic, literal] = KEY.exec(lines[n]!) ?? [];
    if (matched === undefined) cannot(`Line ${n + 1} is no value that is read here.`);
    let said = lines[n]!.slice(matched.length);
    let found = valueIn(said);
    while (found === 'more' && n + 1 < lines.length) {
      n += 1;
      said = `${said}\n${lines[n]!}`;
      found = valueIn(said);
    }
    if (found === 'more' || found === 'unknown') cannot(`Line ${n + 1} is no value that is read here.`);
    const key = bare ?? basic ?? literal!;
    if (Object.hasOwn(values, key)) cannot(`Line ${n + 1} has "${key}" a second time.`);
    values[key] = (found as Found).value;
    to = n + 1;
  }
  return { values, to };
}

interface Found {
  readonly value: unknown;
}

/** The tokens of TOML that JSON writes in another way are written as JSON: then it is read as that. */
const TOKEN = /\s+|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[[\]{},=]|[A-Za-z0-9_.+:-]+/y;

function valueIn(text: string): Found | 'more' | 'unknown' {
  const json: string[] = [];
  let depth = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [token] = TOKEN.exec(text) ?? [];
    if (token === undefined) return 'unknown';
    if (/^[\s#]/.test(token)) continue;
    if ('[{'.includes(token)) depth += 1;
    if (']}'.includes(token)) {
      depth -= 1;
      // A list may end with a comma.
      if (json.at(-1) === ',') json.pop();
    }
    const is_word = /^[A-Za-z0-9_.+:-]/.test(token) && !/^(?:true|false|-?\d+(?:\.\d+)?)$/.test(token);
    if (token === '=') json.push(':');
    else if (token.startsWith("'")) json.push(JSON.stringify(token.slice(1, -1)));
    else json.push(is_word ? JSON.stringify(token) : token);
  }
  if (depth > 0) return 'more';
  try {
    return { value: parseJson(json.join(''), hookLimits.client_file_bytes) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return 'unknown';
  }
}

function cannot(words: string): never {
  return refuse('MCP_CONFIG_MALFORMED', `${words} Move its servers by hand: docs/mcp.md says how.`);
}
