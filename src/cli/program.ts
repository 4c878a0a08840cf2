import { Argument, Command, CommanderError, Option } from 'commander';
import { Refusal, refuse } from '../refusal.ts';
import type { Call, Options } from './answer.ts';
import { GROUPS, WITH_LANE } from './commands.ts';
import { say } from './say.ts';
import type { LaneSpec, Operand, OptionSpec, Spec } from './spec.ts';

export type Serve = (spec: Spec | LaneSpec, call: Call) => Promise<void>;

const INTRODUCTION =
  'The gate between agents and the world: propose, approve the exact effect, run once, prove it.';

const JOURNEY = `
The journey:
  keyturn init                                  make this folder a project
  keyturn propose --tool greet --arg name=Ada   an agent: what is wanted
  keyturn turn                                  a human: one look, one passphrase, and it runs once
  keyturn ledger verify                         an auditor: what happened

What turn does, in steps:
  keyturn review                                a human: look, and approve
  keyturn grant ID                              a human: order one run, within narrow bounds
  keyturn run ID HASH                           once`;

/**
 * The command parser, with no command loaded. Where the first word names a command or a group, only that one is declared: to
 * declare all of them takes longer than to parse the words.
 */
export function buildProgram(serve: Serve, first?: string): Command {
  const program = new Command('keyturn')
    .description(INTRODUCTION)
    .option('-V, --version', 'print the version')
    .addHelpText('after', JOURNEY)
    .enablePositionalOptions();
  addGlobals(program);
  for (const spec of specsFor(first)) parentOf(program, spec).addCommand(commandOf(spec, serve));
  settle(program);
  return program;
}

function specsFor(first: string | undefined): typeof WITH_LANE {
  const named = WITH_LANE.filter(({ name }) => name.split(' ')[0] === first);
  return named.length > 0 ? named : WITH_LANE;
}

function parentOf(program: Command, { name }: Spec | LaneSpec): Command {
  const group = name.split(' ').at(-2);
  if (group === undefined) return program;
  const known = program.commands.find((command) => command.name() === group);
  if (known) return known;
  const created = new Command(group).description(GROUPS[group] ?? '');
  program.addCommand(created);
  return created;
}

function commandOf(spec: Spec | LaneSpec, serve: Serve): Command {
  const command = new Command(spec.name.split(' ').at(-1)).description(spec.about);
  for (const operand of spec.operands ?? []) command.addArgument(argumentOf(operand));
  for (const option of spec.options ?? []) command.addOption(optionOf(option));
  if ('answers' in spec) command.addOption(json());
  else addGlobals(command, spec.host_only);
  command.addHelpText('after', `\nExamples:\n${spec.examples.map((example) => `  ${example}`).join('\n')}`);
  command.action(() => {
    const operands = command.processedArgs.flat().filter((value) => value !== undefined) as string[];
    const options: Options = command.optsWithGlobals();
    return serve(spec, { command: spec.name, operands, options });
  });
  return command;
}

function argumentOf({ name, about, choices }: Operand): Argument {
  const argument = new Argument(name, about);
  return choices ? argument.choices(choices) : argument;
}

function optionOf({ flags, about, required, many, may_be_empty, choices }: OptionSpec): Option {
  const option = new Option(flags, about).makeOptionMandatory(required ?? false);
  if (!option.required) return option;
  if (choices) option.choices(choices);
  const parse = option.parseArg as ((value: string, before: unknown) => string) | undefined;
  return option.argParser((value: string, before: unknown) => {
    // Known now, and not only after the human gave the passphrase to sign it.
    if (value === '' && !may_be_empty) refuse('USAGE', `The option ${option.long} needs a value.`);
    if (many) return [...((before as string[] | undefined) ?? []), value];
    // The last of two would win in silence, and the caller did not mean both.
    if (before !== undefined) refuse('USAGE', `The option ${option.long} is given twice.`);
    return parse ? parse(choiceMeant(choices, value), undefined) : value;
  });
}

/** As a screen shows it or as the help does: in any case, with a space, a hyphen or an underscore. */
function choiceMeant(choices: readonly string[] = [], typed: string): string {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[ _]/g, '-');
  return choices.find((one) => plain(one) === plain(typed)) ?? typed;
}

/** A command that is only for the host takes --service and refuses it with a reason, but does not offer it. */
function addGlobals(command: Command, host_only = false): void {
  command.addOption(
    optionOf({ flags: '--project <dir>', about: 'the project; without it the one you are in' }),
  );
  command.addOption(
    optionOf({
      flags: '--service <url>',
      about: 'a service elsewhere instead; see `keyturn login`',
    }).hideHelp(host_only),
  );
  command.addOption(json());
}

const json = () => optionOf({ flags: '--json', about: 'one JSON object on standard output' });

/** Errors are thrown to the caller that parses; help goes to standard output. For each command, because none inherits it. */
function settle(command: Command): void {
  command
    .exitOverride()
    .showSuggestionAfterError(command.name() !== 'check' && command.name() !== 'run')
    .configureOutput({
      writeOut: (text) => say(1, text.trimEnd()),
      writeErr: () => {},
      outputError: () => {},
    });
  for (const child of command.commands) settle(child);
}

/** `null` when help was asked for and shown; otherwise what is wrong with the command line, in one line. */
export function usageRefusal(error: unknown, command: string): Refusal | null {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return null;
  if (error.code === 'commander.help')
    return new Refusal('USAGE', `${command} has commands of its own: name one.`);
  const text = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1, 300)}`;
  return new Refusal('USAGE', /[.)]$/.test(sentence) ? sentence : `${sentence}.`);
}
