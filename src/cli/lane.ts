import { isatty } from 'node:tty';
import { decodeUtf8 } from '../canonical/json.ts';
import { type QueueFolder, queueFolder } from '../lane/folder.ts';
import type { IntentLine } from '../lane/form.ts';
import { queueIntent } from '../lane/queue.ts';
import { reasonLine, reasonOf } from '../lane/reason.ts';
import { approveOne, pendingIntents } from '../lane/review.ts';
import { verifyApproval } from '../lane/verify.ts';
import { jsonLine } from '../lane/visible.ts';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Call, Options } from './answer.ts';
import { laneCheck } from './lane-check.ts';
import { laneRun } from './lane-run.ts';
import type { LaneAnswer } from './lane-schema.ts';
import { present } from './present.ts';
import { withTries } from './question.ts';
import { say } from './say.ts';
import { openTerminal } from './terminal.ts';

/** The plain-file lane of 000 and 001. Each command answers with its exit code: 0 for yes, 1 for anything else. */
export const laneQueue = ({ operands: [text = ''], options }: Call) =>
  answer(options, async () => {
    const line = await queueIntent(requireQueue(options), await intentText(text), new Date());
    return { lines: ['[OK] Intent queued', ...idAndHash(line)], json: line };
  });

export const laneReview = ({ options }: Call) => answer(options, () => review(options));

export const laneVerify = ({ operands: [id = '', hash = ''], options }: Call) =>
  answer(options, async () => {
    await verifyApproval(requireQueue(options), { id, hash });
    return { lines: ['[OK] Intent approved'], json: { id, hash } };
  });

/** For help and completion; `cli.ts` sends a real check its own way, and this one joins it. */
export function laneCheckAsked({ operands, options }: Call): Promise<number> {
  const words = [...operands];
  if (options.queue !== undefined) words.push('--queue', options.queue);
  if (options.verifier !== undefined) words.push('--verifier', options.verifier);
  return laneCheck(options.json ? [...words, '--json'] : words);
}

export const laneRunAsked = ({ operands: [id = '', hash = ''], options }: Call) =>
  laneRun({ id, hash }, options);

interface Answer {
  readonly lines: readonly string[];
  readonly json: Said;
}

type Yes<C extends 'queue' | 'review' | 'verify'> = Omit<Extract<LaneAnswer<C>, { ok: true }>, 'ok'>;
type Said = Yes<'queue'> | Yes<'review'> | Yes<'verify'>;

async function answer(options: Options, act: () => Promise<Answer>): Promise<number> {
  try {
    const { lines, json } = await act();
    say(1, options.json ? jsonLine({ ok: true, ...json }) : lines);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const reason = reasonOf(error);
    say(1, options.json ? jsonLine({ ok: false, ...reason }) : `[ERROR] ${reason.message}`);
    if (!options.json) say(2, reasonLine(reason));
    return 1;
  }
}

async function review(options: Options): Promise<Answer> {
  const queue = requireQueue(options);
  const pending = await pendingIntents(queue);
  if (pending.length === 0) return { lines: ['[OK] Nothing to review'], json: { pending, approved: null } };
  const terminal = openTerminal();
  try {
    const list = [`Pending intents: ${pending.length}`, ...pending.map(listed)];
    await present(terminal, list, { json: options.json === true });
    const approved = await withTries(terminal, ['CONFIRMATION_WRONG'], () =>
      approveOne(queue, terminal, TYPE_THE_ID, () => new Date()),
    );
    const lines =
      approved === null ? ['[OK] Nothing approved'] : ['[OK] Intent approved', ...idAndHash(approved)];
    return { lines, json: { pending, approved } };
  } finally {
    terminal.close();
  }
}

const TYPE_THE_ID = 'Type the exact UUID to approve it, or press Enter to approve nothing: ';

function listed({ id, timestamp, hash }: IntentLine): string {
  return `  ${id}  ${timestamp}  ${hash}`;
}

function idAndHash({ id, hash }: IntentLine): string[] {
  return [`ID: ${id}`, `Hash: ${hash}`];
}

function requireQueue(options: Options): QueueFolder {
  return queueFolder(options.queue || refuse('USAGE', 'The lane needs --queue DIR.'));
}

async function intentText(text: string): Promise<string> {
  return text === '-' ? decodeUtf8(await standardInput(), limits.intent_text_bytes) : text;
}

async function standardInput(): Promise<Uint8Array> {
  if (isatty(0))
    refuse('USAGE', 'Standard input is the terminal. Pipe the text in, or pass it as an argument.');
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    total += chunk.length;
    if (total > limits.intent_text_bytes) refuse('INPUT_TOO_LARGE', `The intent has ${total} bytes or more.`);
  }
  return Buffer.concat(chunks);
}
