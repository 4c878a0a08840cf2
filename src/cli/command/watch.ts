import { visible } from '../../canonical/visible.ts';
import { type Entry, type Keyturn, wordsOf } from '../../keyturn.ts';
import { jsonLine } from '../../lane/visible.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { type Paint, painter } from '../paint.ts';
import { reading } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';

/** Follows the ledger until the person, or whoever started it, has seen enough. Writes nothing. */
export function watch(call: Call): Promise<Answer> {
  const from = seqOf(call.options.since);
  const json = call.options.json === true;
  return reading(call, async (keyturn) => {
    const { signal, letGo } = untilStopped();
    try {
      if (!json) say(2, `Watching ${keyturn.config.store.name}. Ctrl-C ends it.`);
      const next = await tellAll(keyturn, from, signal, json ? jsonOf : lineOf(painter(isTerminal())));
      const result: Result<'watch'> = { next };
      return { result, lines: [] };
    } finally {
      letGo();
    }
  });
}

function isTerminal(): boolean {
  return process.stdout.isTTY === true;
}

async function tellAll(
  keyturn: Keyturn,
  from: number | undefined,
  signal: AbortSignal,
  tell: (entry: Entry) => string,
): Promise<number> {
  let next = from ?? (await keyturn.size());
  for await (const entry of keyturn.follow({ from: next, signal })) {
    next = entry.seq + 1;
    say(1, tell(entry));
  }
  return next;
}

function seqOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text))
    refuse('USAGE', '--since takes the number of an entry, from 0 on.');
  return Number(text);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal ends it in order. A second one does not wait for a server that does not answer. */
function untilStopped(): { signal: AbortSignal; letGo: () => void } {
  const stopped = new AbortController();
  const stop = () => {
    if (stopped.signal.aborted) process.exit(1);
    stopped.abort();
  };
  for (const name of SIGNALS) process.on(name, stop);
  return {
    signal: stopped.signal,
    letGo: () => {
      for (const name of SIGNALS) process.off(name, stop);
    },
  };
}

function jsonOf({ seq, at, kind, subject, body }: Entry): string {
  const entry = { seq, at, kind, subject, words: wordsOf({ kind, body }) };
  const result: Result<'watch'> = { entry };
  return jsonLine({ ok: true, command: 'watch', result });
}

/** What asks for a human stands out, and so does what went wrong. */
const STYLES: Readonly<Record<string, Parameters<Paint>[0]>> = {
  'intent.proposed': 'yellow',
  'intent.refused': 'red',
  'approval.denied': 'red',
  'capability.denied': 'red',
  'capability.revoked': 'red',
  'execution.refused': 'red',
  'violation.detected': 'alarm',
  'system.frozen': 'alarm',
  'glass.broken': 'alarm',
  'execution.claimed': 'bold',
  'execution.finished': 'green',
};

const lineOf =
  (paint: Paint) =>
  ({ seq, at, kind, subject, body }: Entry): string => {
    const waits = kind === 'intent.proposed' ? '; it waits for a human' : '';
    const words = `${wordsOf({ kind, body })}${waits}`;
    return `${seq}  ${at}  ${paint(styleOf(kind, body), kind)}  ${visible(subject)}  ${visible(words)}`;
  };

function styleOf(kind: string, { result }: Entry['body']): Parameters<Paint>[0] {
  if (kind === 'execution.finished' && result !== 'success') return 'red';
  return STYLES[kind] ?? 'dim';
}
