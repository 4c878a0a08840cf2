import { Aside } from '../../effect/aside.ts';
import { planLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import type { EditResult } from '../edit/apply.ts';
import type { Editor } from '../handler/handler.ts';
import type { Onlooker } from '../preview/collect.ts';
import type { AsideDone, AsideWork, ChangeLook } from './work.ts';

/**
 * Parsers, searches and diffs that take long, in a process of their own: a service answers all others meanwhile. Each work has a limit; where
 * it takes longer, or more memory than there is, the process is ended and the plan refused. The command line has one caller and does all of
 * it itself.
 */
export class PlanAside {
  readonly #aside: Aside<AsideWork, AsideDone>;
  #is_served = false;

  constructor(limit_ms: number = planLimits.aside_ms) {
    this.#aside = new Aside({
      program: [import.meta.url, 'process.ts', 'plan-aside.js'],
      limit_ms,
      ended: () => new Refusal('EDIT_COSTLY', 'It takes too long, or too much memory.'),
      // Loaded late: the editors are large, and most processes need none.
      here: async (work) => (await import('./work.ts')).doWork(work),
      stays: true,
    });
  }

  /** From here on this process answers callers who do not wait for each other. */
  serve(): void {
    this.#is_served = true;
  }

  /** Of a plan of a service. Null where it is done here. */
  get editor(): Editor | null {
    return this.#is_served ? (work) => this.#run(work) as Promise<EditResult> | null : null;
  }

  get onlooker(): Onlooker | null {
    return this.#is_served
      ? (look) => this.#run({ kind: 'look', ...look }) as Promise<ChangeLook> | null
      : null;
  }

  close(): void {
    this.#is_served = false;
    this.#aside.close();
  }

  #run(work: AsideWork): Promise<AsideDone> | null {
    return this.#aside.isAbsent || !isLong(work) ? null : this.#aside.run(work);
  }
}

/** An expression can take long on any text, all else by the size of what it reads. */
function isLong(work: AsideWork): boolean {
  if (work.kind === 'look')
    return Math.max(work.from?.length ?? 0, work.change.after?.bytes.length ?? 0) > planLimits.aside_bytes;
  const { operation, bytes } = work;
  const is_search = operation.type === 'text_replace' && operation.regex;
  return is_search || work.kind === 'schema' || bytes.length > planLimits.aside_bytes;
}
