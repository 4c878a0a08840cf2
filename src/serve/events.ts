import { type Entry, entrySentence, type Face, type Keyturn } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import { respond } from './answer.ts';
import type { WebCaller } from './caller.ts';

/** So often a line is sent on which nothing happens, so that whoever is between does not think that it is over. */
const QUIET_MS = 15_000;

export interface EventsAsked {
  readonly keyturn: Keyturn;
  readonly caller: WebCaller;
  readonly face: Face;
  /** `Last-Event-ID`, by which a stream goes on where it was lost; null for what comes from now on. */
  readonly last_id: string | null;
  /** Refuses a caller who is none any more: a stream can outlive a token and a session. */
  readonly recheck: () => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Called once the stream is over, or none began. */
  readonly onEnd: () => void;
}

/** The entries of the ledger as they come, as server-sent events. An agent hears of its own intents. */
export async function answerEvents(asked: EventsAsked): Promise<Response> {
  try {
    return await streamOf(asked);
  } catch (error) {
    asked.onEnd();
    throw error;
  }
}

async function streamOf(asked: EventsAsked): Promise<Response> {
  const { keyturn, last_id } = asked;
  const stop = new AbortController();
  const signal = AbortSignal.any([asked.signal, stop.signal]);
  signal.addEventListener('abort', asked.onEnd, { once: true });
  if (signal.aborted) asked.onEnd();
  const from = last_id === null ? await sizeOf(keyturn) : await placeAfter(keyturn, last_id);
  const entries = keyturn.ledger.follow({ from, signal });
  let next: Promise<IteratorResult<Entry>> | null = null;
  const stream = new ReadableStream({
    pull: async (controller) => {
      next ??= entries.next();
      const came = await orQuiet(next, signal).catch((error: unknown) => {
        stop.abort();
        throw error;
      });
      if (came !== null) next = null;
      const is_over = (came === null && signal.aborted) || came?.done || !(await holds(asked));
      if (is_over) stop.abort();
      if (is_over) controller.close();
      else if (came === null) controller.enqueue(bytes(': still here\n\n'));
      else if (await mayHear(asked, came.value as Entry))
        controller.enqueue(bytes(eventOf(came.value as Entry)));
      else controller.enqueue(bytes(':\n\n'));
    },
    cancel: () => stop.abort(),
  });
  return respond(stream, 200, { 'content-type': 'text/event-stream' });
}

async function sizeOf({ ledger }: Keyturn): Promise<number> {
  const { entries } = await ledger.entries({ limit: 1 });
  return (entries[0]?.seq ?? -1) + 1;
}

const bytes = (text: string) => Buffer.from(text, 'utf8');

function holds({ recheck }: EventsAsked): Promise<boolean> {
  return recheck().then(
    () => true,
    () => false,
  );
}

/** Null where nothing comes for a while, or the signal does. */
async function orQuiet<T>(next: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let end = () => {};
  const quiet = new Promise<null>((done) => {
    const over = () => done(null);
    const timer = setTimeout(over, QUIET_MS);
    timer.unref();
    signal.addEventListener('abort', over, { once: true });
    if (signal.aborted) over();
    end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
    };
  });
  return Promise.race([next, quiet]).finally(end);
}

function eventOf(entry: Entry): string {
  const { seq, at, kind, subject, body } = entry;
  const data = JSON.stringify({ seq, at, kind, subject, words: entrySentence({ kind, body }) });
  return `id: ${idOf(entry)}\nevent: entry\ndata: ${data}\n\n`;
}

/** With a part of the hash of the entry before it, which covers all that came before. */
function idOf({ seq, prev }: Entry): string {
  return `${seq}.${prev.slice(0, 16)}`;
}

/** The entry after the one that is named, if that is one of this ledger. */
async function placeAfter(keyturn: Keyturn, id: string): Promise<number> {
  const [, text] = /^(0|[1-9][0-9]{0,14})\.[0-9a-f]{16}$/.exec(id) ?? [];
  const seq = Number(text ?? Number.NaN);
  if (!(seq < (await sizeOf(keyturn)))) refuse('EVENT_ID_UNKNOWN');
  const once = new AbortController();
  for await (const entry of keyturn.ledger.follow({ from: seq, signal: once.signal })) {
    once.abort();
    if (idOf(entry) !== id) refuse('EVENT_ID_UNKNOWN');
    break;
  }
  return seq + 1;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function mayHear({ caller, face }: EventsAsked, { subject }: Entry): Promise<boolean> {
  if (caller.kind !== 'agent') return true;
  if (!UUID.test(subject)) return false;
  return face.intents.get({ intent_id: subject }).then(
    () => true,
    () => false,
  );
}
