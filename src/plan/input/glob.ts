import { planLimits } from '../../limits.ts';

/**
 * Patterns for paths: `?` is one character, `*` any characters of one name, `**` as a whole name any number of names,
 * also none. A pattern without a slash is a file name, wherever it stands. Nothing else is special.
 *
 * Both sides are folded, so that a twin of a path (other case, full-width letters, accents, ligatures) is matched like the path:
 * on some file systems the twin is the same file.
 */

/** Compares alike whatever a file system somewhere takes for the same name. */
export function foldPath(path: string): string {
  const bare = path.normalize('NFKD').replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '');
  return bare.toUpperCase().toLowerCase().normalize('NFKC');
}

/** Patterns, read once for all the paths that are held against them. */
export interface PathGlobs {
  readonly patterns: readonly string[];
  matches(path: string): boolean;
}

export function pathGlobs(patterns: readonly string[]): PathGlobs {
  const plain = new Set<string>();
  const others: (readonly Part[])[] = [];
  for (const pattern of patterns) {
    const names = foldPath(pattern).split('/');
    if (names.length > 1) others.push(names.map(partOf));
    else if (/[*?]/.test(names[0]!)) others.push(['**', names[0]!].map(partOf));
    else plain.add(names[0]!);
  }
  const isMatch = (path: string) => {
    const names = foldPath(path).split('/');
    return plain.has(names.at(-1)!) || others.some((parts) => matchNames(parts, names));
  };
  // A plan names a path in many actions, and each is asked about several times.
  const known = new Map<string, boolean>();
  return {
    patterns,
    matches(path) {
      const found = known.get(path) ?? isMatch(path);
      if (known.size < planLimits.kept_matches) known.set(path, found);
      return found;
    },
  };
}

/** One name of a pattern. */
interface Part {
  readonly is_deep: boolean;
  /** Null where it has a star or a question mark. */
  readonly literal: string | null;
  readonly characters: readonly string[];
}

function partOf(name: string): Part {
  return { is_deep: name === '**', literal: /[*?]/.test(name) ? null : name, characters: [...name] };
}

/**
 * Row by row over the names, so the time is the product of the two lengths: a pattern of many `**` cannot make it
 * explode. `reached[i]` says that the first i names of the pattern match what was read so far.
 */
function matchNames(pattern: readonly Part[], names: readonly string[]): boolean {
  let reached = withSkips(pattern, [true, ...pattern.map(() => false)]);
  for (const name of names) {
    const next = pattern.map((part, i) =>
      part.is_deep ? reached[i + 1]! || reached[i]! : reached[i]! && matchName(part, name),
    );
    reached = withSkips(pattern, [false, ...next]);
  }
  return reached[pattern.length]!;
}

/** `**` may stand for no name at all. */
function withSkips(pattern: readonly Part[], reached: boolean[]): boolean[] {
  for (const [i, { is_deep }] of pattern.entries()) if (is_deep && reached[i]) reached[i + 1] = true;
  return reached;
}

/** One name against one part with `*` and `?`: the last star is widened, which never needs a second one. */
function matchName({ literal, characters: wanted }: Part, name: string): boolean {
  if (literal !== null) return literal === name;
  const found = [...name];
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let n = 0; n < found.length; ) {
    if (wanted[p] === '*') {
      star = p++;
      resume = n;
    } else if (p < wanted.length && (wanted[p] === '?' || wanted[p] === found[n])) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (wanted[p] === '*') p += 1;
  return p === wanted.length;
}
