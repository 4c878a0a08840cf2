import type { Attributes } from '@opentelemetry/api';
import { installLine, isMissing } from './optional.ts';
import { Refusal } from './refusal.ts';

/**
 * What an operator may see: which operation, how long, how many, with which code it ended. Never an argument, an output, a
 * goal, a name or a message: not every reader of telemetry may read intents.
 */
export interface Telemetry {
  /** Around an operation, with its time. */
  span<T>(operation: Operation, act: () => Promise<T>, told?: Told<T>): Promise<T>;
  count(what: Counted, facts: Facts): void;
  /** An error left through an entry point of the public face, or of the service. */
  refused(entry_point: string, error: unknown): void;
  close(): void;
}

export type Operation = 'commit' | 'dispatch' | 'grant' | 'notify' | 'open' | 'request' | 'run';
export type Counted = 'decision' | 'entry';

/** What is known before an operation, and what its answer adds. */
interface Told<T> {
  readonly about?: Facts;
  readonly end?: (answer: T) => Facts;
}

type Shape = (value: unknown) => boolean;
const text =
  (pattern: RegExp): Shape =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const flag: Shape = (value) => typeof value === 'boolean';
const number: Shape = Number.isFinite;
const word = text(/^[a-z][A-Za-z_.]{0,63}$/);
const words: Shape = (value) => Array.isArray(value) && value.every(word);
const code = text(/^[A-Z][A-Z0-9_]{1,63}$/);
const id = text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

/** The whole vocabulary. None of these words is secret. */
const FACTS = {
  allowed: flag,
  bytes: number,
  code,
  entries: number,
  entry_point: word,
  kind: word,
  kinds: words,
  left_out: number,
  objects: number,
  operation: word,
  result: word,
  seq: number,
  status: number,
  took_ms: number,
};

/** Only a log may hold these: each leads to an intent, and there are too many of them for a metric. */
const IDS = { capability_id: id, correlation_id: id, execution_id: id, intent_id: id };

const ALL = { ...FACTS, ...IDS };
type Name = keyof typeof ALL;
export type Facts = { readonly [N in Name]?: string | number | boolean | readonly string[] | undefined };

/**
 * Leaves out every key that is not in the vocabulary and every value that has not its shape. A caller chooses some of
 * what is asked for here, such as the id of an intent that does not exist: it could be a secret.
 */
export function tellable(facts: object): Facts {
  const known = ([name, value]: [string, unknown]) => Object.hasOwn(ALL, name) && ALL[name as Name](value);
  return Object.fromEntries(Object.entries(facts).filter(known));
}

export function errorCode(error: unknown): string {
  return error instanceof Refusal ? error.code : 'INTERNAL';
}

/** With no SDK and no log nothing is measured, and nothing is loaded. */
export const SILENT: Telemetry = {
  span: (_operation, act) => act(),
  count: () => {},
  refused: () => {},
  close: () => {},
};

/** Both are told the same. */
export function both(one: Telemetry, other: Telemetry): Telemetry {
  if (one === SILENT) return other;
  if (other === SILENT) return one;
  return {
    span: (operation, act, told) => one.span(operation, () => other.span(operation, act, told), told),
    count: (what, facts) => {
      one.count(what, facts);
      other.count(what, facts);
    },
    refused: (entry_point, error) => {
      one.refused(entry_point, error);
      other.refused(entry_point, error);
    },
    close: () => {
      one.close();
      other.close();
    },
  };
}

/** An error that leaves through several entry points, such as a verb and the service that asked for it, is told at the first of them. */
export function toldOnce(telemetry: Telemetry): Telemetry {
  if (telemetry === SILENT) return SILENT;
  const told = new WeakSet<object>();
  return {
    ...telemetry,
    refused: (entry_point, error) => {
      const is_object = typeof error === 'object' && error !== null;
      if (is_object && told.has(error)) return;
      if (is_object) told.add(error);
      telemetry.refused(entry_point, error);
    },
  };
}

/** Where the API package keeps what an SDK registered, for every copy of it in a process. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** The SDK is the user's choice. One that is to see Keyturn is registered before Keyturn is opened. */
export async function openTelemetry(): Promise<Telemetry> {
  if (!(REGISTERED in globalThis)) return SILENT;
  const api = await import('@opentelemetry/api').catch(withoutIt);
  if (api === null) return SILENT;
  const { metrics, SpanStatusCode, trace } = api;
  const tracer = trace.getTracer('keyturn');
  const meter = metrics.getMeter('keyturn');
  const duration = meter.createHistogram('keyturn.duration', { unit: 'ms', description: 'of an operation' });
  const counters = {
    decision: meter.createCounter('keyturn.decisions', { description: 'answers of the policies' }),
    entry: meter.createCounter('keyturn.entries', { description: 'entries that were appended' }),
    refusal: meter.createCounter('keyturn.refusals', { description: 'errors that a caller was given' }),
  };
  return {
    span: (operation, act, told = {}) =>
      tracer.startActiveSpan(`keyturn.${operation}`, async (span) => {
        const from = performance.now();
        let code = 'OK';
        span.setAttributes(named(told.about ?? {}));
        try {
          const answer = await act();
          const facts = { code, ...told.end?.(answer) };
          code = String(facts.code);
          span.setAttributes(named(facts));
          return answer;
        } catch (error) {
          code = errorCode(error);
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.setAttributes(named({ code }));
          span.end();
          duration.record(performance.now() - from, named({ operation, code }));
        }
      }),
    count: (what, facts) => counters[what].add(1, named(facts)),
    refused: (entry_point, error) => counters.refusal.add(1, named({ entry_point, code: errorCode(error) })),
    close: () => {},
  };
}

/** Others register SDKs for their own use, so without the package the gate opens, and says what it does not tell. */
function withoutIt(error: unknown): null {
  if (!isMissing('@opentelemetry/api', error)) throw error;
  process.emitWarning(installLine('@opentelemetry/api'), { code: 'PACKAGE_MISSING' });
  return null;
}

/** As attributes of a span or a metric. */
function named(facts: Facts): Attributes {
  return Object.fromEntries(
    Object.entries(tellable(facts))
      .filter(([name]) => !Object.hasOwn(IDS, name))
      .map(([name, value]) => [`keyturn.${name}`, typeof value === 'object' ? [...value] : value]),
  );
}
