import { visible } from '../../canonical/visible.ts';
import type { Result as Verb } from '../../keyturn.ts';
import { jsonLine } from '../../lane/visible.ts';
import { refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { type Paint, painter } from '../paint.ts';
import { type Opened, reading } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';
import { untilStopped } from '../until-stopped.ts';

type Entry = Verb<'ledger.since'>['entries'][number];

/** Follows the ledger until the person, or the program that started it, has seen enough. Writes nothing. */
export function watch(call: Call): Promise<Answer> {
  const from = seqOf(call.options.since);
  const json = call.options.json === true;
  return reading(call, async (keyturn) => {
    const { signal, letGo } = untilStopped();
    try {
      if (!json) say(2, `Watching ${keyturn.service ?? keyturn.config?.store.name}. Ctrl-C ends it.`);
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
  keyturn: Opened,
  from: number | undefined,
  signal: AbortSignal,
  tell: (entry: Entry) => string,
): Promise<number> {
  let next = from ?? (await sizeOf(keyturn));
  while (!signal.aborted) {
    const told = await keyturn.ledger.since({ from: next, signal }).catch((error: unknown) => {
      if (signal.aborted && error === signal.reason) return null;
      throw error;
    });
    for (const entry of told?.entries ?? []) {
      if (signal.aborted) break;
      next = entry.seq + 1;
      say(1, tell(entry));
    }
  }
  return next;
}

async function sizeOf({ ledger }: Opened): Promise<number> {
  const [newest] = (await ledger.entries({ limit: 1 })).entries;
  return newest === undefined ? 0 : newest.seq + 1;
}

function seqOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^(0|[1-9][0-9]{0,14})$/.test(text))
    refuse('USAGE', '--since takes the number of an entry, from 0 on.');
  return Number(text);
}

function jsonOf(entry: Entry): string {
  const result: Result<'watch'> = { entry };
  return jsonLine({ ok: true, command: 'watch', result });
}

/** What asks for a human stands out, and so does what went wrong. */
const STYLES: Readonly<Record<string, Parameters<Paint>[0]>> = {
  'intent.proposed': 'yellow',
  'intent.refused': 'red',
  'approval.denied': 'red',
  'intent.withdrawn': 'red',
  'intent.replaced': 'red',
  'capability.denied': 'red',
  'capability.revoked': 'red',
  'execution.refused': 'red',
  'execution.stopped': 'red',
  'violation.detected': 'alarm',
  'system.frozen': 'alarm',
  'break_glass.used': 'alarm',
  'execution.claimed': 'bold',
  'execution.finished': 'green',
};

const lineOf =
  (paint: Paint) =>
  ({ seq, at, kind, subject, body, words }: Entry): string => {
    const waits = kind === 'intent.proposed' ? '; it waits for a human' : '';
    return `${seq}  ${visible(at)}  ${paint(styleOf(kind, body), visible(kind))}  ${visible(subject)}  ${visible(`${words}${waits}`)}`;
  };

function styleOf(kind: string, { result }: Entry['body']): Parameters<Paint>[0] {
  if (kind === 'execution.finished' && result !== 'success') return 'red';
  return STYLES[kind] ?? 'dim';
}
