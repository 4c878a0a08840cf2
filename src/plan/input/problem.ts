import { planLimits } from '../../limits.ts';
import { explain, type ReasonCode, Refusal, refuse } from '../../refusal.ts';

/** One thing that is wrong with a file, and where. */
export interface PlanProblem {
  readonly code: ReasonCode;
  readonly message: string;
  /** RFC 6901; empty for the whole document. */
  readonly pointer: string;
  readonly line: number;
  readonly column: number;
}

export type Path = readonly (string | number)[];

export interface Spot {
  readonly line: number;
  readonly column: number;
}

/** A file whose values know their places. */
export interface Placed {
  readonly value: unknown;
  /** Where the value at this path stands, or the nearest thing around it. */
  spotOf(path: Path): Spot;
  /** Where the key itself stands. */
  spotOfKey(path: Path): Spot;
}

export class Problems {
  private readonly found: PlanProblem[] = [];
  private more = 0;

  add(problem: PlanProblem): void {
    if (this.found.length < planLimits.problems) this.found.push(problem);
    else this.more += 1;
  }

  at(file: Placed, path: Path, code: ReasonCode, message: string): void {
    this.add({ code, message, pointer: pointerOf(path), ...file.spotOf(path) });
  }

  atKey(file: Placed, path: Path, code: ReasonCode, message: string): void {
    this.add({ code, message, pointer: pointerOf(path), ...file.spotOfKey(path) });
  }

  /** Runs a check that refuses, and keeps what it says. Returns null when it refused. */
  attempt<T>(file: Placed, path: Path, check: () => T): T | null {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.at(file, path, error.code, error.message);
      return null;
    }
  }

  get none(): boolean {
    return this.found.length === 0;
  }

  /** In the order of the file. */
  list(): PlanProblem[] {
    const sorted = [...this.found].sort((a, b) => a.line - b.line || a.column - b.column);
    const last = sorted.at(-1);
    if (this.more === 0 || last === undefined) return sorted;
    return [...sorted, { ...last, message: `There are ${this.more} more problems, which are not listed.` }];
  }
}

export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** For callers who want one answer: refuses with the first problem and says how many there are. */
export function refuseProblems(problems: readonly PlanProblem[]): never {
  const { code, message, pointer, line, column } = problems[0]!;
  const text = message === '' ? explain(code).meaning : message;
  return refuse(code, `Line ${line}, column ${column}: ${text}`, {
    line,
    column,
    pointer,
    problems: problems.length,
  });
}
