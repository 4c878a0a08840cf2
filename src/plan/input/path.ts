import { visible } from '../../canonical/visible.ts';
import { componentsBeneath } from '../../durable/walk.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';

/**
 * A path of a plan: relative to the project root, one plain walk downwards, and readable in one way only. The attacker writes a
 * path that a person, a shell, another file system or another program reads differently from the kernel.
 */
export function requirePlanPath(text: string): string {
  if (!text.isWellFormed()) unclear(text, 'it has a lone surrogate');
  if (Buffer.byteLength(text) > planLimits.path_bytes)
    unclear(text, `it has more than ${planLimits.path_bytes} bytes`);
  requireReadable(text);
  const names = componentsBeneath(text);
  if (names.length > planLimits.path_depth)
    unclear(text, `it is more than ${planLimits.path_depth} folders deep`);
  for (const name of names) requireName(text, name);
  requireSameWhenFolded(text, names.length);
  return text;
}

/** Each with what is wrong. Unassigned and private characters have no shape that a person could check. */
const UNREADABLE: readonly (readonly [RegExp, string])[] = [
  [/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u, 'it has a control, direction, invisible, private or unknown character'],
  [/(?! )[\p{Z}\u115f\u1160\u2800\u3164\uffa0]/u, 'it has a space that is not a plain space'],
  [/\p{Default_Ignorable_Code_Point}/u, 'it has an invisible character'],
  [/\\/, 'it has a backslash'],
  [
    /[<>:"|?*`]/,
    'it has a character that a shell, a pattern or another file system reads as more than itself',
  ],
  [/\$[({]/, 'it looks like something that a shell would replace'],
  [/%[0-9a-f]{2}/i, 'it has a percent escape'],
  [
    /[\u2044\u2215\u2216\u29f5\u29f8\u29f9\u2571\u2572\ufe68\uff0f\uff3c]/u,
    'it has a character that looks like a slash',
  ],
];

function requireReadable(text: string): void {
  for (const [pattern, what] of UNREADABLE) if (pattern.test(text)) unclear(text, what);
  if (text !== text.normalize('NFC')) unclear(text, 'it is not in the composed form (NFC)');
  if (text.startsWith('~')) unclear(text, 'it begins with a tilde, which a shell reads as a home folder');
}

/** Names that mean a device on some systems, whatever their ending. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])(\.|$)/i;

function requireName(text: string, name: string): void {
  if (Buffer.byteLength(name) > planLimits.name_bytes)
    unclear(text, `a name in it has more than ${planLimits.name_bytes} bytes`);
  if (/[. ]$/.test(name)) unclear(text, 'a name in it ends with a dot or a space');
  if (name.startsWith('..')) unclear(text, 'a name in it begins like a way up');
  if (name.startsWith(' ')) unclear(text, 'a name in it begins with a space');
  if (/^\p{M}/u.test(name)) unclear(text, 'a name in it begins with a mark that joins the slash before it');
  if (DEVICE.test(name)) unclear(text, 'a name in it is a device on some systems');
}

/** Full-width dots and slashes, two-dot leaders and the like must not become `..` or `/` where a program normalises Unicode. */
function requireSameWhenFolded(text: string, depth: number): void {
  const names = text.normalize('NFKC').split('/');
  const plain = names.every((name) => name !== '' && !/^\.+$/.test(name) && !/[\\:]/.test(name));
  if (names.length !== depth || !plain)
    unclear(text, 'it becomes another path when its characters are folded');
}

function unclear(text: string, what: string): never {
  const shown = visible(JSON.stringify(text.slice(0, 200)));
  return refuse('PLAN_PATH_UNCLEAR', `The path ${shown} is not accepted: ${what}.`);
}
