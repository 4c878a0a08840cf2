import { refuse } from '../refusal.ts';
import type { Schema } from './route.ts';

/** Scheme and host, path, query, and what follows. Without a URL object: that costs as much as the rest of a small request. */
const URL_PARTS = /^[a-z]+:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/;

export function pathOf({ url }: Pick<Request, 'url'>): string {
  return URL_PARTS.exec(url)?.[1] ?? '';
}

/**
 * A path has one spelling. What decodes to it, or leads to it by dots, is none: a proxy that has rules for paths would see another one, and so
 * would the signer of the request.
 */
export function requireAsSent(target: string | undefined, path: string): void {
  const sent = (target ?? '').replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0];
  if (sent !== path) refuse('ROUTE_UNKNOWN');
}

/** What the log calls a path. One that is not ours could hold anything. */
export function entryPointOf(path: string, ours: ReadonlyMap<string, unknown>): string {
  return ours.has(path) ? path.replace(/^\/(v1\/)?/, '').replaceAll('/', '.') || 'page' : 'serve';
}

/** URLSearchParams puts another character in place of bytes that are no UTF-8, and what was asked would not be what is answered. */
export function queryIn({ url }: Pick<Request, 'url'>): URLSearchParams {
  const text = URL_PARTS.exec(url)?.[2] ?? '';
  try {
    decodeURIComponent(text);
  } catch {
    refuse('INPUT_NOT_UTF8', 'The query is not valid UTF-8, or a "%" in it begins no byte.');
  }
  return new URLSearchParams(text);
}

const NUMBER = /^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,15})?$/;

/** The request that a query is. A member that is there twice, or is not of its type, is refused. */
export function requestIn(
  query: URLSearchParams,
  members: Readonly<Record<string, Schema>>,
): Record<string, string | number | boolean> {
  const found: Record<string, string | number | boolean> = Object.create(null);
  for (const [name, text] of query) {
    if (Object.hasOwn(found, name)) refuse('JSON_DUPLICATE_KEY', `"${name}" is in the query twice.`);
    const schema = Object.hasOwn(members, name) ? members[name] : undefined;
    if (schema === undefined) refuse('SHAPE_INVALID', `The request has no member "${name}".`);
    found[name] = readAs(name, text, schema);
  }
  return found;
}

function readAs(name: string, text: string, { type }: Schema): string | number | boolean {
  if (type === 'boolean')
    return text === 'true' || (text !== 'false' && refuse('SHAPE_INVALID', `"${name}" is true or false.`));
  if (type !== 'number' && type !== 'integer') return text;
  return NUMBER.test(text) ? Number(text) : refuse('SHAPE_INVALID', `"${name}" is a number.`);
}
