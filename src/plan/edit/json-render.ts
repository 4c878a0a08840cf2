import type { Json } from '../../canonical/json.ts';
import type { JsonStyle } from './json-style.ts';

/** The text of a value on one line. */
export function renderInline(value: Json, style: JsonStyle): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const comma = `,${style.gap}`;
  if (isArray(value)) return `[${value.map((item) => renderInline(item, style)).join(comma)}]`;
  const members = Object.entries(value).map(
    ([key, item]) => JSON.stringify(key) + style.colon + renderInline(item, style),
  );
  return members.length === 0 ? '{}' : `{${style.padding}${members.join(comma)}${style.padding}}`;
}

/** The text of a value with each element on its own line. `indent` is that of the line it starts on. */
export function renderBroken(value: Json, style: JsonStyle, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = indent + style.unit;
  const lines = isArray(value)
    ? value.map((item) => renderBroken(item, style, inner))
    : Object.entries(value).map(
        ([key, item]) => JSON.stringify(key) + style.colon + renderBroken(item, style, inner),
      );
  const [open, close] = isArray(value) ? '[]' : '{}';
  if (lines.length === 0) return `${open}${close}`;
  return `${open}${style.ending}${inner}${lines.join(`,${style.ending}${inner}`)}${style.ending}${indent}${close}`;
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
