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

export function matchesGlob(pattern: string, path: string): boolean {
  const wanted = foldPath(pattern).split('/');
  const anywhere = wanted.length === 1 ? ['**', ...wanted] : wanted;
  return matchNames(anywhere, foldPath(path).split('/'));
}

export function matchesAny(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, path));
}

/**
 * Row by row over the names, so the time is the product of the two lengths: a pattern of many `**` cannot make it
 * explode. `reached[i]` says that the first i names of the pattern match what was read so far.
 */
function matchNames(pattern: readonly string[], names: readonly string[]): boolean {
  let reached = withSkips(pattern, [true, ...pattern.map(() => false)]);
  for (const name of names) {
    const next = pattern.map((part, i) =>
      part === '**' ? reached[i + 1]! || reached[i]! : reached[i]! && matchName(part, name),
    );
    reached = withSkips(pattern, [false, ...next]);
  }
  return reached[pattern.length]!;
}

/** `**` may stand for no name at all. */
function withSkips(pattern: readonly string[], reached: boolean[]): boolean[] {
  for (const [i, part] of pattern.entries()) if (part === '**' && reached[i]) reached[i + 1] = true;
  return reached;
}

/** One name against one part with `*` and `?`: the last star is widened, which never needs a second one. */
function matchName(part: string, name: string): boolean {
  const wanted = [...part];
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
