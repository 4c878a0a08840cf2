import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';

type Part = string | { readonly group: number | string };
type GroupText = (group: number | string) => string;

const DOLLAR = /\$(?:(\$)|(\d+)|\{(\d+)\}|\{([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/**
 * Reads the replacement of a regular expression once: `$$`, `$1`, `${1}`, `${name}`, and `$0` for the whole match.
 * Anything else with a dollar sign is refused, because other tools read it in other ways.
 */
export function parseReplacement(
  replacement: string,
  groups: number,
  names: ReadonlySet<string>,
): (group: GroupText) => string {
  const parts: Part[] = [];
  let end = 0;
  for (const found of replacement.matchAll(DOLLAR)) {
    parts.push(replacement.slice(end, found.index), partOf(found, groups, names));
    end = found.index + found[0].length;
  }
  parts.push(replacement.slice(end));
  if (parts.length > 2 * editLimits.replacement_groups + 1)
    refuse(
      'EDIT_REPLACEMENT_INVALID',
      `The replacement has more than ${editLimits.replacement_groups} groups.`,
    );
  return (group) => expand(parts, group);
}

/** Groups can be as long as the file, so the length is watched before the text is made. */
function expand(parts: readonly Part[], group: GroupText): string {
  let text = '';
  for (const part of parts) {
    const next = typeof part === 'string' ? part : group(part.group);
    if (text.length + next.length > editLimits.file_bytes) refuse('EDIT_RESULT_TOO_LARGE');
    text += next;
  }
  return text;
}

function partOf(
  [whole, dollar, digits, braced, name]: RegExpExecArray,
  groups: number,
  names: ReadonlySet<string>,
): Part {
  if (dollar !== undefined) return '$';
  if (name !== undefined && names.has(name)) return { group: name };
  const number = digits ?? braced;
  if (number !== undefined && Number(number) <= groups) return { group: Number(number) };
  return refuse('EDIT_REPLACEMENT_INVALID', `The pattern has no group for "${whole}".`);
}
