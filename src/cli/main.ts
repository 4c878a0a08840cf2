import { visible } from '../canonical/visible.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Answer, type Call, denied } from './answer.ts';
import { COMMANDS } from './commands.ts';
import { buildProgram, usageRefusal } from './program.ts';
import { isUnread, say } from './say.ts';
import type { LaneSpec, Spec } from './spec.ts';
import { tell, tellError } from './tell.ts';

/** Every command but `lane check`, and the help of each. Returns the exit code: 0 or 1, or that of the tool for `wait --output`. */
export async function main(words: readonly string[]): Promise<number> {
  if (words.length === 0) return home();
  if (words[0] === 'complete') return suggest(words);
  let code: number | null = null;
  const program = buildProgram(async (spec, call) => {
    code = await serve(spec, call).catch((error: unknown) => unread(spec.name, error));
  }, words[0]);
  try {
    // Node puts U+FFFD where a word was not UTF-8: what was typed is then not what would be signed.
    if (words.some((word) => word.includes('\ufffd'))) refuse('INPUT_NOT_UTF8', 'A word is not valid UTF-8.');
    await program.parseAsync([...words], { from: 'user' });
    return code ?? 1;
  } catch (error) {
    return misunderstood(words, error);
  }
}

async function serve(spec: Spec | LaneSpec, call: Call): Promise<number> {
  if ('answers' in spec) return (await spec.answers())(call);
  const json = call.options.json === true;
  let answer: Answer;
  try {
    answer = await answerOf(spec, call);
  } catch (error) {
    if (isUnread(error)) throw error;
    return tellError(spec.name, error, json);
  }
  if (answer.is_long && !json) {
    const { pageThrough } = await import('./pager.ts');
    if (await pageThrough(answer.lines)) return tell(spec.name, { ...answer, lines: [] }, json);
  }
  return tell(spec.name, answer, json);
}

async function answerOf(spec: Pick<Spec, 'load'>, call: Call): Promise<Answer> {
  const { interpretSchemas } = await import('./schemas.ts');
  interpretSchemas();
  const act = await spec.load();
  return act(call);
}

/** Who watches ends it by looking away. Any other answer that is not read is no yes. */
function unread(command: string, error: unknown): number {
  if (isUnread(error) && command === 'watch') return 0;
  throw error;
}

/** A decision answers on standard output even when it was not understood: silence there could be taken for a yes. */
function misunderstood(words: readonly string[], error: unknown): number {
  const command = commandNamed(words);
  const refusal = error instanceof Refusal ? error : usageRefusal(error, command);
  if (refusal === null) return 0;
  const json = words.includes('--json');
  if (!DECISIONS.has(command)) return tellError(command, refusal, json);
  return tell(command, denied(refusal, usageLines(command, refusal.message)), json);
}

const DECISIONS: ReadonlySet<string> = new Set(['check', 'run', 'lane check', 'lane run', 'lane verify']);

function usageLines(command: string, problem: string): string[] {
  if (!command.endsWith('run')) return [visible(`[ERROR] ${problem}`)];
  return [visible(`[ERROR] Cannot execute: ${problem}`), 'No execution attempted.'];
}

function commandNamed(words: readonly string[]): string {
  const [first = '', second = ''] = words.filter((word) => !word.startsWith('-'));
  const pair = `${first} ${second}`;
  const known = first === 'lane' || COMMANDS.some(({ name }) => name === pair);
  return (known ? pair : first).slice(0, 60);
}

/** Without words: what needs this human, then any human, or how to begin where there is no project. */
async function home(): Promise<number> {
  const load = async () => (await import('./command/status.ts')).home;
  try {
    return tell('status', await answerOf({ load }, { command: 'status', operands: [], options: {} }), false);
  } catch (error) {
    if (isUnread(error)) throw error;
    if (!(error instanceof Refusal && error.code === 'PROJECT_MISSING'))
      return tellError('status', error, false);
    say(1, BEGINNING);
    return 0;
  }
}

const BEGINNING = `Keyturn is the gate between agents and the world. This folder is in no project yet.

  keyturn init          make this folder a project, with you as its first human
  keyturn doctor        look at what this machine offers
  keyturn --help        all commands`;

async function suggest(words: readonly string[]): Promise<number> {
  const { suggestions } = await import('./completion.ts');
  const program = buildProgram(async () => {});
  await suggestions(program, words.slice(words[1] === '--' ? 2 : 1));
  return 0;
}
