import { writeSync } from 'node:fs';
import type { ReasonCode, StatusWord } from '../../keyturn.ts';
import { Refusal } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { foldedOn } from '../fold.ts';
import { meantBy, requireId } from '../operand.ts';
import { type Opened, reading } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';

/** Until it is over, run by any process. With --output it stands in the place of the tool: its output, and its exit code. */
export function wait(call: Call): Promise<Answer> {
  const typed = requireId(call);
  return reading(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    if (!call.options.json && process.stderr.isTTY) await sayThatItWaits(keyturn, intent_id);
    const result = await keyturn.intents.waitFor({ intent_id });
    const refusal = refusalOf(result);
    if (!call.options.output || call.options.json)
      return { result, lines: [`${intent_id} ${result.status_word}`], ...(refusal && { refusal }) };
    // A run that failed has an exit code of its own, which says so.
    return printed(keyturn, result, result.status_word === 'failed' ? null : refusal);
  });
}

/** A person at a terminal sees that it has not hung. */
async function sayThatItWaits(keyturn: Opened, intent_id: string): Promise<void> {
  const { status_word } = await keyturn.intents.get({ intent_id });
  if (!GOING.includes(status_word)) return;
  const line = `Waiting: ${intent_id} is ${status_word}. Ctrl-C ends only the waiting.`;
  say(2, foldedOn(process.stderr, [line]));
}

const GOING: readonly StatusWord[] = ['waiting', 'approved', 'approval expired', 'running'];

/** Why it did not come to a good end; null where it did. */
function refusalOf({ status_word, reason, replaced_by }: Result<'wait'>): Refusal | null {
  const code = NOT_DONE[status_word];
  if (code === undefined) return null;
  if (status_word === 'failed') return new Refusal(code);
  const by = replaced_by === null ? '' : ` by ${replaced_by}`;
  return new Refusal(code, `It is ${status_word}${by}.${reason === null ? '' : ` ${reason}`}`);
}

const NOT_DONE: Readonly<Partial<Record<Result<'wait'>['status_word'], ReasonCode>>> = {
  rejected: 'INTENT_REJECTED',
  withdrawn: 'INTENT_WITHDRAWN',
  replaced: 'INTENT_REPLACED',
  expired: 'INTENT_EXPIRED',
  failed: 'RUN_FAILED',
  'IN DOUBT': 'RUN_IN_DOUBT',
  STUCK: 'ROLLBACK_STUCK',
  'rolled back': 'RUN_FAILED',
  undone: 'RUN_FAILED',
};

async function printed(keyturn: Opened, result: Result<'wait'>, refusal: Refusal | null): Promise<Answer> {
  const { run, intent_id } = result;
  if (refusal || run === null)
    return { result, lines: [], refusal: refusal ?? new Refusal('RUN_FAILED'), is_plain: true };
  if ('absent' in run.output)
    return { result, lines: [], refusal: new Refusal('OBJECT_MISSING', 'Its output is no longer kept.') };
  write(1, run.output.stdout);
  write(2, run.output.stderr);
  // Its answer was handed over: who asks for the same again means another run. Only a host has calls that are held.
  if (keyturn.service === undefined) await keyturn.mcp.answered({ intent_id });
  return { result, lines: [], exit_code: run.exit_code ?? 1 };
}

function write(fd: 1 | 2, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}
