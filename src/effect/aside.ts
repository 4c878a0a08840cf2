import { Refusal } from '../refusal.ts';
import { type Beside, startBeside } from './beside.ts';

/** What the helper tells: first that it runs, then the end of each work. */
export type AsideTold<Done> =
  | 'ready'
  | { readonly done: Done }
  | { readonly refusal: Pick<Refusal, 'code' | 'message' | 'facts'> }
  | { readonly fault: string };

export interface AsideOptions<Work, Done> {
  /** As for `startBeside`. */
  readonly program: readonly [module: string, source: string, built: string];
  /** Where it takes longer, the process is ended. Null for as long as it takes. */
  readonly limit_ms: number | null;
  /** What the caller is told whose work was ended: it took too long, or the process died, such as for want of memory. */
  readonly ended: () => Error;
  /** Where no helper can be started. */
  readonly here: (work: Work) => Promise<Done>;
  /** Whether the helper stays for what comes next. */
  readonly stays: boolean;
}

interface Asked<Work, Done> {
  readonly work: Work;
  readonly resolve: (done: Done | Promise<Done>) => void;
  readonly reject: (error: unknown) => void;
}

/** What takes long, in a process of its own: a service answers all others meanwhile. One work at a time, in the order in which they came. */
export class Aside<Work, Done> {
  readonly #waiting: Asked<Work, Done>[] = [];
  readonly #options: AsideOptions<Work, Done>;
  #child: Beside | null = null;
  #at_work: Asked<Work, Done> | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The helper cannot be started here. */
  #is_absent = false;

  constructor(options: AsideOptions<Work, Done>) {
    this.#options = options;
  }

  get isAbsent(): boolean {
    return this.#is_absent;
  }

  run(work: Work): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      this.#next();
    });
  }

  close(): void {
    this.#end();
    for (const { reject } of this.#waiting.splice(0)) reject(new Refusal('STORE_CLOSED'));
  }

  #next(): void {
    if (this.#at_work !== null) return;
    const asked = this.#waiting.shift() ?? null;
    this.#at_work = asked;
    if (asked !== null) this.#child ??= this.#start();
    this.#keepAlive();
    if (asked === null) {
      if (!this.#options.stays) this.#letGo();
      return;
    }
    if (this.#child === null) {
      this.#doHere();
      return;
    }
    const { limit_ms } = this.#options;
    if (limit_ms !== null) this.#timer = setTimeout(() => this.#end(), limit_ms);
    this.#child.send(asked.work as object, (error) => error && this.#end());
  }

  #take(): Asked<Work, Done> | null {
    clearTimeout(this.#timer);
    const asked = this.#at_work;
    this.#at_work = null;
    return asked;
  }

  #hear(told: AsideTold<Done>): void {
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

  /** What was under way is refused. */
  #end(): void {
    this.#letGo();
    this.#take()?.reject(this.#options.ended());
    this.#next();
  }

  #letGo(): void {
    const child = this.#child;
    this.#child = null;
    child?.removeAllListeners();
    child?.on('error', () => {});
    child?.kill('SIGKILL');
  }

  #doHere(): void {
    const asked = this.#take();
    asked?.resolve(this.#options.here(asked.work));
    this.#next();
  }

  #start(): Beside | null {
    const child = startBeside(...this.#options.program);
    this.#is_absent = child === null;
    child?.on('message', (told: AsideTold<Done>) => this.#hear(told));
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
