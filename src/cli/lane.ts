import { isatty } from 'node:tty';
import { Command } from 'commander';
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
import { laneCheck } from './lane-check.ts';
import { type LaneRunOptions, laneRun } from './lane-run.ts';
import type { LaneAnswer } from './lane-schema.ts';
import { present } from './present.ts';
import { withTries } from './question.ts';
import { say } from './say.ts';
import { openTerminal } from './terminal.ts';

interface LaneOptions {
  readonly queue?: string;
  readonly json?: boolean;
}

/** The plain-file lane of 000 and 001. Each action sets the exit code: 0 for yes, 1 for anything else. */
export function laneCommand(): Command {
  const lane = new Command('lane')
    .description('the plain-file lane: pending.jsonl, approved.jsonl and executed.jsonl, and no other state')
    .addHelpText('after', EXAMPLES);
  for (const command of [queueCommand(), reviewCommand(), verifyCommand(), checkCommand(), runCommand()])
    lane.addCommand(command);
  return lane;
}

const EXAMPLES = `
Examples:
  keyturn lane queue  --queue ./queue "Back up the photos"
  keyturn lane review --queue ./queue
  keyturn lane check  --queue ./queue ID HASH
  keyturn lane run    --queue ./queue --registry ./tools.yaml ID HASH`;

function laneSubcommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--queue <dir>', 'the folder with the three files', once('--queue'))
    .option('--json', 'one JSON object on standard output');
}

/** The last of two would win in silence, and the caller did not mean both. */
function once(name: string): (value: string, before: string | undefined) => string {
  return (value, before) =>
    before === undefined ? value : refuse('USAGE', `The option ${name} is given twice.`);
}

function queueCommand(): Command {
  return laneSubcommand(
    'queue',
    'record that something is wanted: its id and the hash of its text, never the text',
  )
    .argument('<text>', 'the intent, or - to read it from standard input, every byte of it')
    .action((text: string, options: LaneOptions) =>
      answer(options, async () => {
        const line = await queueIntent(requireQueue(options), await intentText(text), new Date());
        return { lines: ['[OK] Intent queued', ...idAndHash(line)], json: line };
      }),
    );
}

function reviewCommand(): Command {
  return laneSubcommand(
    'review',
    'list what is pending, and approve one intent by typing its exact id',
  ).action((options: LaneOptions) => answer(options, () => review(options)));
}

function verifyCommand(): Command {
  return laneSubcommand('verify', 'is this id approved with this hash?')
    .argument('<id>', 'the id that the review printed')
    .argument('<hash>', 'the hash that the review printed')
    .action((id: string, hash: string, options: LaneOptions) =>
      answer(options, async () => {
        await verifyApproval(requireQueue(options), { id, hash });
        return { lines: ['[OK] Intent approved'], json: { id, hash } };
      }),
    );
}

/** For help and completion; `cli.ts` sends a real check its own way, and this one joins it. */
function checkCommand(): Command {
  return laneSubcommand('check', 'may this intent run now? Reads two files and writes nothing')
    .argument('<id>', 'the id that the review printed')
    .argument('<hash>', 'the hash that the review printed')
    .option('--verifier <command>', 'an external verifier, called with id and hash', once('--verifier'))
    .option('--registry <file>', 'accepted as for run, and never opened', once('--registry'))
    .action(async (id: string, hash: string, options: LaneOptions & { verifier?: string }) => {
      const words = [id, hash];
      if (options.queue !== undefined) words.push('--queue', options.queue);
      if (options.verifier !== undefined) words.push('--verifier', options.verifier);
      process.exitCode = await laneCheck(options.json ? [...words, '--json'] : words);
    });
}

function runCommand(): Command {
  return laneSubcommand('run', 'run the one tool that the registry binds to this intent, once')
    .argument('<id>', 'the id that the review printed')
    .argument('<hash>', 'the hash that the review printed')
    .option('--registry <file>', 'the tool registry; it must not be writable', once('--registry'))
    .option('--dry-run', 'check everything and show it; run nothing and record nothing')
    .action(async (id: string, hash: string, options: LaneOptions & LaneRunOptions) => {
      process.exitCode = await laneRun({ id, hash }, options);
    });
}

interface Answer {
  readonly lines: readonly string[];
  readonly json: Said;
}

type Yes<C extends 'queue' | 'review' | 'verify'> = Omit<Extract<LaneAnswer<C>, { ok: true }>, 'ok'>;
type Said = Yes<'queue'> | Yes<'review'> | Yes<'verify'>;

async function answer(options: LaneOptions, act: () => Promise<Answer>): Promise<void> {
  try {
    const { lines, json } = await act();
    say(1, options.json ? jsonLine({ ok: true, ...json }) : lines);
    process.exitCode = 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const reason = reasonOf(error);
    say(1, options.json ? jsonLine({ ok: false, ...reason }) : `[ERROR] ${reason.message}`);
    if (!options.json) say(2, reasonLine(reason));
    process.exitCode = 1;
  }
}

async function review(options: LaneOptions): Promise<Answer> {
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

function requireQueue(options: LaneOptions): QueueFolder {
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
