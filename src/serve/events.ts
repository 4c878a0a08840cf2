import { setImmediate } from 'node:timers/promises';
import { UUID_FORM } from '../canonical/form.ts';
import { type Entry, entrySentence, type Keyturn, sealEntry } from '../keyturn.ts';
import { webLimits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { respond } from './answer.ts';
import type { WebCaller } from './caller.ts';
import { type Flow, flowing } from './flow.ts';
import { httpStatusOf } from './status.ts';

export interface EventsAsked extends Pick<Flow, 'cut'> {
  readonly keyturn: Keyturn;
  readonly caller: WebCaller;
  /** What the caller shows. Streams of the same are looked at together. */
  readonly shown: string;
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
  const take = inBatches(keyturn.ledger.follow({ from, signal }), signal);
  const end = () => stop.abort();
  const flow: Flow = {
    pull: async (controller) => {
      const came = await take();
      const is_over =
        came === null || (came.length === 0 && signal.aborted) || !(await holds(asked, came.at(-1)));
      if (is_over) end();
      if (is_over) controller.close();
      else controller.enqueue(bytes(came.length === 0 ? ': still here\n\n' : await heardOf(asked, came)));
    },
    cancel: end,
    cut: (error) => {
      end();
      asked.cut(error);
    },
  };
  return respond(flowing(flow, 1), 200, { 'content-type': 'text/event-stream' });
}

/** What has come: some entries in their order, none where nothing comes for a while or the signal does, null where it is over. */
function inBatches(entries: AsyncGenerator<Entry>, signal: AbortSignal): () => Promise<Entry[] | null> {
  let next: Promise<IteratorResult<Entry>> | null = null;
  return async () => {
    const batch: Entry[] = [];
    next ??= entries.next();
    let came = await orQuiet(next, signal);
    // Also lets others of this process go on before this stream is written to.
    const turn = setImmediate(null);
    while (came !== null) {
      next = null;
      if (came.done) return batch.length === 0 ? null : batch;
      batch.push(came.value);
      if (batch.length === webLimits.event_batch) break;
      next = entries.next();
      came = await Promise.race([next, turn]);
    }
    return batch;
  };
}

async function sizeOf({ ledger }: Keyturn): Promise<number> {
  const { entries } = await ledger.entries({ limit: 1 });
  return (entries[0]?.seq ?? -1) + 1;
}

const bytes = (text: string) => Buffer.from(text, 'utf8');

/** Whether a caller still is one, by the entry that came last and by what is shown: a hundred streams of one person are one look. */
const held = new WeakMap<Entry, Map<string, Promise<boolean>>>();

function holds({ recheck, shown }: EventsAsked, last: Entry | undefined): Promise<boolean> {
  const look = () =>
    recheck().then(
      () => true,
      () => false,
    );
  if (last === undefined) return look();
  const known = held.get(last) ?? new Map<string, Promise<boolean>>();
  held.set(last, known);
  const found = known.get(shown) ?? look();
  known.set(shown, found);
  return found;
}

/** Null where nothing comes for a while, or the signal does. */
async function orQuiet<T>(next: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let end = () => {};
  const quiet = new Promise<null>((done) => {
    const over = () => done(null);
    const timer = setTimeout(over, webLimits.quiet_ms);
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

/** All streams are told the same entries. */
const events = new WeakMap<Entry, string>();

function eventOf(entry: Entry): string {
  const known = events.get(entry);
  if (known !== undefined) return known;
  const { seq, at, kind, subject, body } = entry;
  const data = JSON.stringify({ seq, at, kind, subject, words: entrySentence({ kind, body }) });
  const text = `id: ${idOf(entry)}\nevent: entry\ndata: ${data}\n\n`;
  events.set(entry, text);
  return text;
}

/** With a part of its hash, which covers the entry and all that came before: the ledger of a copied project has another one from where they part. */
function idOf(entry: Entry): string {
  return `${entry.seq}.${sealEntry(entry).hash.slice(0, 16)}`;
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

/** A comment where it may hear none of them. */
async function heardOf({ keyturn, caller }: EventsAsked, entries: readonly Entry[]): Promise<string> {
  if (caller.kind !== 'agent') return entries.map(eventOf).join('');
  const proposers = await Promise.all(entries.map((entry) => proposerOf(keyturn, entry)));
  const heard = entries.filter((_, index) => proposers[index] === caller.name);
  return heard.length === 0 ? ':\n\n' : heard.map(eventOf).join('');
}

/** Who proposed the intent that an entry is about. It never changes, so all streams are told the same. */
const proposed = new WeakMap<Entry, Promise<string | null>>();

function proposerOf({ intents }: Keyturn, entry: Entry): Promise<string | null> {
  const { subject } = entry;
  if (!UUID_FORM.test(subject)) return NOBODY;
  const look = () =>
    intents.get({ intent_id: subject }).then(
      ({ proposer }) => proposer,
      (error: unknown) => {
        if (error instanceof Refusal && httpStatusOf(error.code) < 500) return null;
        // The stream is cut, and its reader comes back for this entry: then the store is asked again.
        proposed.delete(entry);
        throw error;
      },
    );
  const found = proposed.get(entry) ?? look();
  proposed.set(entry, found);
  return found;
}

const NOBODY = Promise.resolve(null);
