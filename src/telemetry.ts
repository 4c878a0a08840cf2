import type { Attributes } from '@opentelemetry/api';
import { Refusal } from './refusal.ts';

/**
 * What an operator may see: which operation, how long, how many, with which code it ended. Never an argument, an output, a
 * goal, a name or a message: whoever reads telemetry is not whoever may read intents.
 */
export interface Telemetry {
  /** A span around an operation, and its time. `facts` are kinds, results and counts. */
  span<T>(operation: Operation, act: () => Promise<T>, facts?: (answer: T) => Facts): Promise<T>;
  count(what: Counted, facts: Facts): void;
}

export type Operation = 'commit' | 'grant' | 'run';
export type Counted = 'decision' | 'entry';
export type Facts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** With no SDK nothing is measured, and nothing is loaded. */
export const SILENT: Telemetry = { span: (_operation, act) => act(), count: () => {} };

/** Where the API package keeps what an SDK registered, for every copy of it in a process. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** The SDK is the user's choice. One that is to see Keyturn is registered before Keyturn is opened. */
export async function openTelemetry(): Promise<Telemetry> {
  if (!(REGISTERED in globalThis)) return SILENT;
  const { metrics, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('keyturn');
  const meter = metrics.getMeter('keyturn');
  const duration = meter.createHistogram('keyturn.duration', { unit: 'ms', description: 'of an operation' });
  const counters = {
    decision: meter.createCounter('keyturn.decisions', { description: 'answers of the policies' }),
    entry: meter.createCounter('keyturn.entries', { description: 'entries that were appended' }),
  };
  return {
    span: (operation, act, facts) =>
      tracer.startActiveSpan(`keyturn.${operation}`, async (span) => {
        const from = performance.now();
        let code = 'OK';
        try {
          const answer = await act();
          if (facts) span.setAttributes(named(facts(answer)));
          return answer;
        } catch (error) {
          code = error instanceof Refusal ? error.code : 'INTERNAL';
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.setAttribute('keyturn.code', code);
          span.end();
          duration.record(performance.now() - from, named({ operation, code }));
        }
      }),
    count: (what, facts) => counters[what].add(1, named(facts)),
  };
}

function named(facts: Facts): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      `keyturn.${name}`,
      typeof value === 'object' ? [...value] : value,
    ]),
  );
}
