import { RootCommand, type Command as Suggester } from '@bomb.sh/tab';
import type { Command } from 'commander';
import { visible } from '../canonical/visible.ts';
import { Keyturn, type StatusWord } from '../keyturn.ts';
import { cliLimits } from '../limits.ts';
import type { Answer, Call } from './answer.ts';
import type { Opened } from './project.ts';
import type { Result } from './schema.ts';

/** The script that a shell loads. It asks `keyturn complete -- …` at each TAB. */
export async function completion({ operands: [shell = ''] }: Call): Promise<Answer> {
  const script = printedBy(() => new RootCommand().setup('keyturn', 'keyturn', shell));
  const result: Result<'completion'> = { shell, script };
  return { result, lines: [script] };
}

/** The library prints its scripts. */
function printedBy(act: () => void): string {
  const printed: string[] = [];
  const { log } = console;
  console.log = (text: string) => void printed.push(text);
  try {
    act();
  } finally {
    console.log = log;
  }
  return printed.join('\n');
}

/** Prints what may follow these words: commands, options, and what the project knows. */
export async function suggestions(program: Command, words: readonly string[]): Promise<void> {
  const root = new RootCommand();
  const known = await knowledge(words);
  describe(program, root, known);
  for (const [path, command] of leaves(program, '')) {
    describe(command, root.command(path, command.description()), known);
  }
  root.parse([...words]);
}

function* leaves(command: Command, path: string): Generator<[string, Command]> {
  for (const child of command.commands) {
    const name = path === '' ? child.name() : `${path} ${child.name()}`;
    yield [name, child];
    yield* leaves(child, name);
  }
}

/** Values for an operand or an option, by the name that the help shows: `id`, `hash`, `tool`, `as` … */
type Knowledge = Readonly<Record<string, readonly Known[]>>;
type Known = readonly [value: string, about: string];

function describe(command: Command, suggester: Suggester, known: Knowledge): void {
  for (const option of command.options) {
    const name = option.long?.slice(2);
    if (name === undefined || option.hidden) continue;
    const values = option.argChoices?.map((choice): Known => [choice, '']) ?? known[name] ?? [];
    if (option.required) suggester.option(name, option.description, (complete) => offer(values, complete));
    else suggester.option(name, option.description);
  }
  for (const argument of command.registeredArguments) {
    const values = argument.argChoices?.map((choice): Known => [choice, '']) ?? known[argument.name()] ?? [];
    suggester.argument(argument.name(), (complete) => offer(values, complete));
  }
}

function offer(values: readonly Known[], complete: (value: string, about: string) => void): void {
  for (const [value, about] of values) complete(value, about);
}

/** Which intents make sense after which command. */
const WANTED: Readonly<Record<string, readonly StatusWord[]>> = {
  approve: ['waiting', 'approval expired'],
  reject: ['waiting', 'approved'],
  edit: ['waiting'],
  undo: ['succeeded', 'happened'],
  withdraw: ['waiting', 'approved'],
  submit: ['waiting'],
  grant: ['approved'],
  turn: ['waiting', 'approved'],
  'break-glass': ['waiting', 'approved'],
  check: ['approved'],
  run: ['approved'],
  retry: ['failed'],
  resolve: ['IN DOUBT'],
  stop: ['running', 'IN DOUBT'],
};

/** Looks into the project. Where that is not possible there is nothing to suggest, and no reason to disturb a TAB. */
async function knowledge(words: readonly string[]): Promise<Knowledge> {
  try {
    const at = words[words.indexOf('--project') + 1];
    const keyturn = await Keyturn.open({ at: words.includes('--project') ? (at ?? '.') : '.', mode: 'read' });
    try {
      return await known(keyturn, words);
    } finally {
      await keyturn.close();
    }
  } catch {
    return {};
  }
}

async function known(keyturn: Opened, words: readonly string[]): Promise<Knowledge> {
  const command = words.find((word) => Object.hasOwn(WANTED, word));
  const pages = (command === undefined ? [undefined] : WANTED[command]!).map((status_word) =>
    keyturn.intents.list({ limit: cliLimits.completions, ...(status_word && { status_word }) }),
  );
  const intents = (await Promise.all(pages)).flatMap((page) => page.intents);
  const principals = (await keyturn.people.list()).principals;
  const named = intents.filter(({ intent_id }) => words.includes(intent_id));
  const agents = principals.filter(({ kind }) => kind === 'agent').map(({ name }): Known => [name, 'agent']);
  const delegations = (await keyturn.agents.delegations()).delegations;
  return {
    ...(await agentKnowledge(keyturn, words)),
    user: principals.map(({ name, kind }) => [name, kind]),
    id: intents.map(({ intent_id, tool, status_word }) => [intent_id, `${tool}, ${status_word}`]),
    hash: named.map(({ hash }) => [hash, '']),
    execution: intents.flatMap(({ runs, tool }) =>
      runs.slice(-1).map((run): Known => [run.execution_id, tool]),
    ),
    run: intents.flatMap(({ runs, intent_id, tool }) => runs.slice(-1).map((): Known => [intent_id, tool])),
    tool: (await keyturn.tools.list()).tools.map(({ name, summary }) => [name, visible(summary)]),
    as: principals.filter(({ kind }) => kind === 'human').map(({ name }) => [name, '']),
    by: principals.map(({ name, kind }) => [name, kind]),
    name: principals.map(({ name, kind }) => [name, kind]),
    agent: agents,
    holder: agents,
    role: [...new Set(principals.flatMap(({ roles }) => roles))].map((role) => [role, '']),
    delegation: delegations.map(({ delegation_id, delegate, status }) => [
      delegation_id,
      `${delegate}, ${status}`,
    ]),
    action: named.flatMap(({ actions }) => actions.map((action): Known => [action, ''])),
    alternate: named.flatMap(({ choices }) => choices.map(({ tool }): Known => [tool, ''])),
    replaces: intents.map(({ intent_id, tool, status_word }) => [intent_id, `${tool}, ${status_word}`]),
    'capability-id': intents.flatMap(({ capabilities, tool }) =>
      capabilities
        .filter(({ status }) => status === 'issued')
        .map(({ capability_id }): Known => [capability_id, tool]),
    ),
  };
}

/** The agent core is large: it is asked only when the words are about it. */
async function agentKnowledge(keyturn: Opened, words: readonly string[]): Promise<Knowledge> {
  if (!words.includes('agent') && !words.includes('simulation')) return {};
  const { simulations } = await keyturn.simulations.list();
  const { conversations } = await keyturn.conversations.list({ limit: cliLimits.completions });
  return {
    correlation: conversations.map(
      ({ correlation_id, user_id, status }): Known => [correlation_id, `${user_id}, ${status}`],
    ),
    simulation: simulations.map(({ id, status, summary }): Known => [id, visible(`${status}: ${summary}`)]),
  };
}
