import type { JsonObject } from '../canonical/json.ts';
import { mcpLimits, webLimits } from '../limits.ts';
import type { Answered } from '../mcp/endpoint.ts';
import { messageBytes, type Response as Reply } from '../mcp/message.ts';
import { respond } from './answer.ts';
import { type Flow, flowing } from './flow.ts';

const encoder = new TextEncoder();
const eventOf = (message: Reply | JsonObject) => messageBytes(message, 'event: message\ndata: ', '\n\n');

export interface StreamOptions extends Pick<Flow, 'cut'> {
  /** Rejects where the caller is none any more: a stream can outlive a token. */
  readonly recheck: () => Promise<unknown>;
  readonly onEnd?: (() => void) | undefined;
}

/** Messages to one client as server-sent events: what is told on the way to an answer, and the answer. */
export class MessageStream {
  readonly #options: StreamOptions;
  readonly #unread: Uint8Array[] = [];
  readonly #gone = new AbortController();
  #checked_ms = performance.now();
  #wake: () => void = () => {};
  #last: (() => Promise<void>) | null = null;
  #begin: () => void = () => {};
  /** Resolves with the first message. */
  readonly begun: Promise<null> = new Promise((done) => {
    this.#begin = () => done(null);
  });

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Aborts when the client no longer reads. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  send(message: JsonObject): void {
    if (this.#last !== null || this.#unread.length >= mcpLimits.unread) return;
    this.#unread.push(eventOf(message));
    this.#begin();
    this.#wake();
  }

  /** The answer, and the end of the stream; null where nothing is to be answered. It counts as read once all of it was taken. */
  finish(answered: Answered | null, hold: (bytes: number) => void = () => {}): void {
    if (this.#last !== null) return;
    if (answered !== null) {
      const event = eventOf(answered.response);
      hold(event.length);
      this.#unread.push(event);
    }
    this.#last = answered?.written ?? (async () => {});
    this.#begin();
    this.#wake();
  }

  response(): Response {
    const flow: Flow = {
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#end(),
      cut: (error) => {
        this.#end();
        this.#options.cut(error);
      },
    };
    return respond(flowing(flow, 0), 200, { 'content-type': 'text/event-stream' });
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (this.#unread.length === 0 && this.#last === null) await this.#news();
    const is_quiet = this.#unread.length === 0 && this.#last === null;
    const is_due = performance.now() - this.#checked_ms >= webLimits.quiet_ms;
    if ((is_quiet || is_due) && !(await this.#isStillCaller())) {
      // What it has not read it no longer gets, and the answer does not count as read.
      this.#unread.length = 0;
      this.#last = async () => {};
    }
    const next = this.#unread.shift();
    if (next !== undefined) return controller.enqueue(next);
    if (this.#last === null) return controller.enqueue(encoder.encode(': still here\n\n'));
    await this.#last();
    controller.close();
    this.#end();
  }

  #news(): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, webLimits.quiet_ms);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  #isStillCaller(): Promise<boolean> {
    this.#checked_ms = performance.now();
    return this.#options.recheck().then(
      () => true,
      () => false,
    );
  }

  #end(): void {
    this.#gone.abort();
    this.#options.onEnd?.();
  }
}
