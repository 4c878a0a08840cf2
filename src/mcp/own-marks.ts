import type { Json, JsonObject } from '../canonical/json.ts';
import { isObject } from './message.ts';

/** What the gate itself says in `_meta`: that a result is a recorded one, that a call passed in shadow mode, which server asks. */
const OWN = /^keyturn\//;

/** Members with values and schemas of a server: whatever stands there is no `_meta` of the protocol. */
const DATA: ReadonlySet<string> = new Set(['inputSchema', 'outputSchema', 'structuredContent']);

/** What a server says, without the marks of the gate in any `_meta` of it. A value that has none is returned as it is, and not copied. */
export function withoutOwnMarks<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    const items: readonly Json[] = value.map(withoutOwnMarks);
    return items.some((one, n) => one !== value[n]) ? (items as T) : value;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value as JsonObject).map(
    ([key, one]) =>
      [key, DATA.has(key) ? one : key === '_meta' ? unmarked(one) : withoutOwnMarks(one)] as const,
  );
  const is_same = members.every(([key, one]) => one === (value as JsonObject)[key]);
  return is_same ? value : (Object.fromEntries(members) as T);
}

function unmarked(meta: Json): Json {
  if (!isObject(meta) || !Object.keys(meta).some((key) => OWN.test(key))) return meta;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !OWN.test(key)));
}
