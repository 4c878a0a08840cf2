/** One step of a pattern on its way down: a name, perhaps with * and ?, or `**` for any number of folders. */
interface Step {
  readonly name: string;
  readonly wild: boolean;
  readonly deep: boolean;
}

/** Where a walk is within one pattern. */
interface At {
  readonly pattern: number;
  readonly step: number;
}

/** Where a walk is within all patterns. */
export type GlobState = readonly At[];

export interface Globs {
  readonly start: GlobState;
  /** Which patterns a file of this name matches. */
  files(at: GlobState, name: string): number[];
  /** Where the walk is in a folder of this name. Empty when nothing below can match. */
  below(at: GlobState, name: string): GlobState;
}

/**
 * Patterns over paths: `*` and `?` within one name, `**` for any number of folders; every other character is itself. A
 * leading dot is nothing special: a file that is left out in silence would be a file that is not covered.
 */
export function compileGlobs(patterns: readonly string[]): Globs {
  const steps = patterns.map(stepsOf);
  const closed = (all: readonly At[]) => closure(all, steps);
  return {
    start: closed(patterns.map((_, pattern) => ({ pattern, step: 0 }))),
    files: (at, name) =>
      at.flatMap(({ pattern, step }) =>
        step === steps[pattern]!.length - 1 && fits(steps[pattern]![step]!, name) ? [pattern] : [],
      ),
    below: (at, name) =>
      closed(
        at.flatMap((one) => {
          const step = steps[one.pattern]![one.step]!;
          if (step.deep) return [one];
          return one.step < steps[one.pattern]!.length - 1 && fits(step, name)
            ? [{ ...one, step: one.step + 1 }]
            : [];
        }),
      ),
  };
}

function stepsOf(pattern: string): Step[] {
  const names = pattern.split('/').filter((name, i, all) => name !== '**' || all[i - 1] !== '**');
  return names.map((name) => ({ name, wild: /[*?]/.test(name), deep: name === '**' }));
}

/** `**` may stand for no folder at all, so what follows it is reached at once. */
function closure(all: readonly At[], steps: readonly (readonly Step[])[]): At[] {
  const found = new Map<string, At>();
  const add = (at: At) => {
    const key = `${at.pattern}:${at.step}`;
    if (found.has(key)) return;
    found.set(key, at);
    const own = steps[at.pattern]!;
    if (own[at.step]!.deep && at.step < own.length - 1) add({ ...at, step: at.step + 1 });
  };
  for (const at of all) add(at);
  return [...found.values()];
}

function fits({ name: pattern, wild, deep }: Step, name: string): boolean {
  return deep || (wild ? matches(pattern, name) : pattern === name);
}

/** Only the last * has to be tried again, so the time is at most the product of both lengths. */
function matches(pattern: string, name: string): boolean {
  let [p, n, star, from] = [0, 0, -1, 0];
  while (n < name.length) {
    const wanted = pattern[p];
    if (wanted === '*') {
      [star, from] = [p, n];
      p += 1;
    } else if (wanted === '?') {
      p += 1;
      n += widthAt(name, n);
    } else if (wanted === name[n]) {
      p += 1;
      n += 1;
    } else if (star >= 0) {
      from += 1;
      p = star + 1;
      n = from;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

/** A character beyond the first 65,536 is two units of a string. */
function widthAt(name: string, at: number): number {
  return (name.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
