import { type Beside, startBeside } from '../../effect/beside.ts';
import { planLimits } from '../../limits.ts';
import { Refusal } from '../../refusal.ts';
import type { EditResult } from '../edit/apply.ts';
import type { Editor } from '../handler/handler.ts';
import type { Onlooker } from '../preview/collect.ts';
import type { AsideDone, AsideWork, ChangeLook } from './work.ts';

/** What the helper tells: first that it runs, then the end of each work. */
export type AsideTold =
  | 'ready'
  | { readonly done: AsideDone }
  | { readonly refusal: Pick<Refusal, 'code' | 'message' | 'facts'> }
  | { readonly fault: string };

interface Asked {
  readonly work: AsideWork;
  readonly resolve: (done: AsideDone | Promise<AsideDone>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Parsers, searches and diffs that take long, in a process of their own: a service answers all others meanwhile. One work at a time, each with a
 * limit; where it takes longer, or more memory than there is, the process is ended and the plan refused. The command line has one caller
 * and does all of it itself.
 */
export class Aside {
  readonly #waiting: Asked[] = [];
  readonly #limit_ms: number;
  #child: Beside | null = null;
  #at_work: Asked | null = null;
  #timer: NodeJS.Timeout | undefined;
  #is_served = false;
  /** The helper cannot be started here. */
  #is_absent = false;

  constructor(limit_ms: number = planLimits.aside_ms) {
    this.#limit_ms = limit_ms;
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
    this.#end();
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The project was closed.'));
  }

  #run(work: AsideWork): Promise<AsideDone> | null {
    if (this.#is_absent || !isLong(work)) return null;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#at_work !== null) return;
    const asked = this.#waiting.shift() ?? null;
    this.#at_work = asked;
    if (asked !== null) this.#child ??= this.#start();
    this.#keepAlive();
    if (asked === null) return;
    if (this.#child === null) {
      this.#doHere();
      return;
    }
    this.#timer = setTimeout(() => this.#end(), this.#limit_ms);
    this.#child.send(asked.work, (error) => error && this.#end());
  }

  #take(): Asked | null {
    clearTimeout(this.#timer);
    const asked = this.#at_work;
    this.#at_work = null;
    return asked;
  }

  #hear(told: AsideTold): void {
    if (told === 'ready') return;
    const asked = this.#take();
    if ('done' in told) asked?.resolve(told.done);
    else if ('fault' in told) asked?.reject(new Error(told.fault));
    else {
      const { code, message, facts } = told.refusal;
      asked?.reject(new Refusal(code, message, facts));
    }
    this.#next();
  }

  /** What was under way is refused: it took too long, or the process ran out of memory. */
  #end(): void {
    const child = this.#child;
    this.#child = null;
    child?.removeAllListeners();
    child?.on('error', () => {});
    child?.kill('SIGKILL');
    this.#take()?.reject(new Refusal('EDIT_COSTLY', 'It takes too long, or too much memory.'));
    this.#next();
  }

  #doHere(): void {
    const asked = this.#take();
    // Loaded late: the editors are large, and most processes need none.
    asked?.resolve(import('./work.ts').then(({ doWork }) => doWork(asked.work)));
    this.#next();
  }

  #start(): Beside | null {
    const child = startBeside(import.meta.url, 'process.ts', 'plan-aside.js');
    this.#is_absent = child === null;
    child?.on('message', (told: AsideTold) => this.#hear(told));
    for (const event of ['error', 'disconnect', 'exit']) child?.on(event, () => this.#end());
    return child;
  }

  /** Node waits for it only while it works. */
  #keepAlive(): void {
    const act = this.#at_work === null ? 'unref' : 'ref';
    this.#child?.[act]();
    this.#child?.channel?.[act]();
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
