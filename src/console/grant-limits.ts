import type { Json } from '../canonical/json.ts';
import { shellWord } from '../canonical/shell-word.ts';

/** A tool that a grant can be for: of the registry, or of an accepted MCP server. */
export interface Grantable {
  readonly name: string;
  readonly action: string;
  readonly pin: string;
  /** The JSON Schema of each argument. */
  readonly arguments: Readonly<Record<string, JsonSchema>>;
}
export type JsonSchema = Readonly<Record<string, Json>>;

/** How one argument is limited: not at all, to one value, to a range, or to the paths beneath a folder. */
export interface Limit {
  readonly kind: 'any' | 'is' | 'to' | 'beneath';
  readonly text: string;
}
export type ArgumentLimits = Readonly<Record<string, Limit>>;
export const UNLIMITED: Limit = { kind: 'any', text: '' };

/** What can be chosen for an argument, with its words. */
export function limitKinds(schema: JsonSchema): readonly (readonly [Limit['kind'], string])[] {
  const { type } = schema;
  return [
    ['any', 'any value'],
    ...(['array', 'object', 'boolean'].includes(String(type)) ? [] : [['is', 'exactly'] as const]),
    ...(isNumber(schema) ? [['to', 'at most'] as const] : []),
    ...(type === 'string' ? [['beneath', 'a path beneath'] as const] : []),
  ];
}

/** The JSON Schema of what is let through. What it does not name falls outside, and so does a call that leaves out what is limited. */
export function schemaOf(tool: Pick<Grantable, 'arguments'>, limits: ArgumentLimits) {
  const properties = Object.entries(tool.arguments).map(([name, schema]): [string, JsonSchema] => [
    name,
    limitedTo(schema, limits[name] ?? UNLIMITED),
  ]);
  const required = limitedNames(tool, limits);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

export function limitedNames(tool: Pick<Grantable, 'arguments'>, limits: ArgumentLimits): string[] {
  return Object.keys(tool.arguments).filter((name) => (limits[name] ?? UNLIMITED).kind !== 'any');
}

function limitedTo(schema: JsonSchema, { kind, text }: Limit): JsonSchema {
  if (kind === 'is') return { const: isNumber(schema) ? Number(text) : text };
  const held = heldOf(schema);
  if (kind === 'to') return { ...held, maximum: Number(text) };
  return kind === 'beneath' ? { ...held, pattern: patternBeneath(text) } : held;
}

/** Keywords that a tool may say of its arguments and no grant holds, so that none is signed with them. */
const NOT_HELD = /^(?:format|content(?:Encoding|MediaType|Schema))$/;

function heldOf(schema: JsonSchema): JsonSchema {
  const found = Object.entries(schema).filter(([keyword]) => !NOT_HELD.test(keyword));
  return Object.fromEntries(found.map(([keyword, value]) => [keyword, heldAt(keyword, value)]));
}

function heldAt(keyword: string, value: Json): Json {
  if (Array.isArray(value)) return /^(?:items|(?:any|all|one)Of)$/.test(keyword) ? value.map(heldIn) : value;
  if (keyword === 'items' || keyword === 'additionalProperties') return heldIn(value);
  if (keyword !== 'properties' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, heldIn(one as Json)]));
}

const heldIn = (value: Json): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? heldOf(value as JsonSchema) : value;

const isNumber = ({ type }: JsonSchema) => type === 'integer' || type === 'number';

/** A limit that says nothing yet, or no number or no folder where one is needed. */
export function isUnsaid(schema: JsonSchema, { kind, text }: Limit): boolean {
  if (kind === 'any') return false;
  if (kind === 'beneath') return !FOLDER.test(text);
  return text === '' || (isNumber(schema) && (text.trim() === '' || !Number.isFinite(Number(text))));
}

/** What a name in a path may hold. A backslash and a percent sign stand for something else to some servers. */
const CHARACTER = '[^/\\\\%\\x00-\\x1f\\x7f]';
const FIRST = '[^./\\\\%\\x00-\\x1f\\x7f]';
/** One name in a path, but neither `.` nor `..`. Each character is read once: no text makes it slow. */
const NAME = `(?:${FIRST}${CHARACTER}*|\\.${FIRST}${CHARACTER}*|\\.\\.${CHARACTER}+)`;
const FOLDER = new RegExp(`^/?${NAME}(?:/${NAME})*/?$`);

/** The folder and every path beneath it, compared as it is written: a link beneath it can lead elsewhere. */
function patternBeneath(folder: string): string {
  const root = folder.replace(/\/$/, '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `^${root}(?:/${NAME})*/?$`;
}

interface GrantTerms {
  readonly agent: string;
  readonly tool: Grantable;
  readonly limits: ArgumentLimits;
  readonly uses: number;
  readonly minutes: number;
}

/** The same grant at a terminal, with the same limits. In plain characters: what is copied has nothing that is not seen. */
export function grantCommand({ agent, tool, limits, uses, minutes }: GrantTerms): string {
  const schema = plainText(JSON.stringify(schemaOf(tool, limits)));
  const words = ['--action', tool.action, '--ttl', `${minutes}m`, '--approves', '--uses', String(uses)];
  const bounds = limitedNames(tool, limits).length === 0 ? [] : ['--schema', schema];
  return `keyturn delegation add ${[agent, ...words, ...bounds].map(shellWord).join(' ')} --reason "…"`;
}

const plainText = (json: string) =>
  json.replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
