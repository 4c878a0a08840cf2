import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Executed, Queue } from '../keyturn.ts';
import { Refusal } from '../refusal.ts';
import { VERSION } from '../version.ts';

/** What a request was, as far as its time can be compared with that of others. */
export type AskedKind = 'read' | 'write' | 'act' | 'wait' | 'stream' | 'other';

type Labels = Readonly<Record<string, string>>;

/** Counts for an operator. No label holds a name, an id or a text that a caller chose. */
export interface Metrics {
  answered(kind: AskedKind, status: number, took_s: number): void;
  refused(error: unknown): void;
  executed(executed: Executed): void;
  notified(kind: string, outcome: string): void;
  /** In the text format of Prometheus, with what is counted elsewhere. */
  text(now: Gauges): string;
  close(): void;
}

export interface Gauges {
  /** Null where the ledger cannot be read. */
  readonly queue: Queue | null;
  readonly ready: boolean;
  readonly connections: number;
  readonly streams: number;
  readonly now_ms: number;
}

const LAG_RESOLUTION_ms = 10;
/** Seconds. A read takes under a millisecond, a durable write some, a run up to an hour. */
const REQUEST_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const RUN_S = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];

export function metricsOf(): Metrics {
  const requests = counter();
  const refusals = counter();
  const runs = counter();
  const notifications = counter();
  const times = histogram(REQUEST_S);
  const run_times = histogram(RUN_S);
  /** Those that were claimed and have not ended. */
  const running = new Map<string, number>();
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_ms });
  lag.enable();
  // The delay holds the interval at which it is looked at.
  const lag_s = (ns: number) => Math.max(0, ns / 1e9 - LAG_RESOLUTION_ms / 1000);
  return {
    answered: (kind, status, took_s) => {
      requests.add({ kind, status: String(status) });
      times.add({ kind }, took_s);
    },
    refused: (error) => refusals.add({ code: error instanceof Refusal ? error.code : 'INTERNAL' }),
    executed: ({ intent_id, outcome }) => {
      const from = running.get(intent_id);
      if (outcome === 'claimed') {
        running.set(intent_id, performance.now());
        return;
      }
      running.delete(intent_id);
      runs.add({ outcome: outcome.replace(' ', '_') });
      if (from !== undefined) run_times.add({}, (performance.now() - from) / 1000);
    },
    notified: (kind, outcome) => notifications.add({ kind, outcome }),
    text: ({ queue, ready, connections, streams, now_ms }) => {
      const oldest_s =
        queue === null || queue.oldest_at === null ? 0 : (now_ms - Date.parse(queue.oldest_at)) / 1000;
      const memory = process.memoryUsage();
      const text = [
        ...family('keyturn_build_info', 'gauge', 'The version that serves.', [[{ version: VERSION }, 1]]),
        ...gauge('keyturn_ready', 'Whether /readyz answers 200.', Number(ready)),
        ...(queue === null ? [] : queueLines(queue, Math.max(0, oldest_s))),
        ...gauge('keyturn_running', 'Runs of this process that go on now.', running.size),
        ...family('keyturn_runs_total', 'counter', 'Orders that this process tried, by outcome.', runs.all()),
        ...run_times.lines('keyturn_run_seconds', 'From the claim of a run to its end.'),
        ...family('keyturn_requests_total', 'counter', 'Requests, by kind and status.', requests.all()),
        ...times.lines('keyturn_request_seconds', 'From a request to its answer; of a stream, to its start.'),
        ...family('keyturn_refusals_total', 'counter', 'Refused requests, by reason code.', refusals.all()),
        ...family(
          'keyturn_notifications_total',
          'counter',
          'Attempts to deliver a notification, by kind of target and outcome.',
          notifications.all(),
        ),
        ...gauge('keyturn_connections', 'Connections that are open.', connections),
        ...gauge('keyturn_streams', 'Event streams that are open.', streams),
        ...family('keyturn_event_loop_lag_seconds', 'gauge', 'How late timers are, since the last look.', [
          [{ quantile: '0.5' }, lag_s(lag.percentile(50))],
          [{ quantile: '0.99' }, lag_s(lag.percentile(99))],
          [{ quantile: '1' }, lag_s(lag.max)],
        ]),
        ...gauge('process_resident_memory_bytes', 'Memory of the process.', memory.rss),
        ...gauge('nodejs_heap_size_used_bytes', 'Memory that objects take.', memory.heapUsed),
      ].join('\n');
      lag.reset();
      return `${text}\n`;
    },
    close: () => lag.disable(),
  };
}

function queueLines(queue: Queue, oldest_s: number): string[] {
  return [
    ...gauge('keyturn_waiting', 'Intents that wait for an approval.', queue.waiting),
    ...gauge('keyturn_waiting_oldest_seconds', 'How long the oldest of them has waited.', oldest_s),
    ...gauge('keyturn_ordered', 'Orders that an executor can claim now.', queue.ordered),
    ...gauge('keyturn_ordered_unserved', 'Orders for which no executor runs.', queue.unserved),
    ...gauge('keyturn_executors', 'Executors that may run what is ordered.', queue.executors.enrolled),
    ...gauge('keyturn_executors_running', 'Those that said lately that they run.', queue.executors.running),
    ...gauge('keyturn_in_doubt', 'Runs whose end is not known.', queue.in_doubt),
    ...gauge('keyturn_freezes', 'What is frozen.', queue.freezes),
    ...gauge('keyturn_ledger_entries', 'Entries of the ledger.', queue.entries),
  ];
}

type Sample = readonly [Labels, number];

function gauge(name: string, help: string, value: number): string[] {
  return family(name, 'gauge', help, [[{}, value]]);
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string[] {
  const lines = samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/** No value has a space. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += ` ${labels[name]}`;
  return key;
}

function counter() {
  const counts = new Map<string, [Labels, number]>();
  return {
    add: (labels: Labels) => {
      const key = keyOf(labels);
      const known = counts.get(key);
      if (known) known[1] += 1;
      else counts.set(key, [labels, 1]);
    },
    all: (): readonly Sample[] => [...counts.values()],
  };
}

function histogram(buckets: readonly number[]) {
  const found = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
  return {
    add: (labels: Labels, value: number) => {
      const key = keyOf(labels);
      let one = found.get(key);
      if (one === undefined) {
        one = { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
        found.set(key, one);
      }
      const at = buckets.findIndex((most) => value <= most);
      if (at >= 0) one.counts[at]! += 1;
      one.sum += value;
      one.count += 1;
    },
    lines: (name: string, help: string): string[] => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} histogram`,
      ...[...found.values()].flatMap(({ labels, counts, sum, count }) => {
        let below = 0;
        const each = buckets.map((le, index) => {
          below += counts[index]!;
          return `${name}_bucket${labelled({ ...labels, le: String(le) })} ${below}`;
        });
        return [
          ...each,
          `${name}_bucket${labelled({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${labelled(labels)} ${sum}`,
          `${name}_count${labelled(labels)} ${count}`,
        ];
      }),
    ],
  };
}
