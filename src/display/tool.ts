import { sha256 } from '../canonical/digest.ts';
import { canonicalBytes, canonicalText } from '../canonical/json.ts';
import type { FixedEffect, ToolBound, ToolEffect } from '../tool/effect.ts';
import { undoCall } from '../tool/undo.ts';
import {
  type Alarm,
  derived,
  element,
  type Line,
  line,
  ordered,
  type Piece,
  registry,
  type Shown,
  spaced,
  valued,
  worded,
  words,
} from './shown.ts';

/** A tool call, also as a step of a pipeline. */
export function showTool(effect: ToolEffect): Shown {
  const chosen = effect.chosen.map((range) => line('Argument', chosenPieces(effect, range)));
  return shownWith(effect, argvPieces(effect), [...chosen, ...otherArguments(effect)]);
}

/** Arguments that no chosen part of argv tells as they are: defaults, switches, and those of a pipeline. */
function otherArguments(effect: ToolEffect): Line[] {
  const names = Object.keys(effect.arguments).sort();
  return names.flatMap((name) => {
    const value = effect.arguments[name]!;
    const parts = effect.chosen
      .filter(({ parameter }) => parameter === name)
      .map((range) => chosenText(effect, range));
    const told = Array.isArray(value) ? value : parts.map(() => String(value));
    if (parts.length > 0 && canonicalText(parts) === canonicalText(told)) return [];
    const from = parts.length > 0 ? 'agent' : 'registry';
    return [line('Argument', [registry(name), derived(' = '), valued(value, from)])];
  });
}

/** A tool before it has arguments: what users will choose stands in braces. */
export function showToolBound({ args, parameters, given, ...fixed }: ToolBound): Shown {
  const called = [worded(fixed.executables[0]!.called, 'registry')];
  const words = args.flatMap((arg) =>
    typeof arg === 'string'
      ? [templatePieces(arg)]
      : [[derived(`[with ${arg.when}:`)], ...arg.args.map(templatePieces), [derived(']')]],
  );
  const takes = Object.entries(parameters).map(([name, parameter]) =>
    line('Parameter', [registry(name), derived(' '), valued(parameter, 'registry')]),
  );
  return shownWith(fixed, spaced([called, ...words]), [...takes, ...givenLines(given)]);
}

/** The arguments that a simulation gives to its tool. */
export function givenLines(given: ToolBound['given']): Line[] {
  return Object.entries(given).map(([name, value]) =>
    line('Argument', [registry(name), derived(' = '), ...markedPieces(valued(value, 'registry').text)]),
  );
}

/** Text of a simulation, harmless already, with the placeholders of its fields marked. */
export function markedPieces(text: string): Piece[] {
  return text
    .split(/(\{[a-z][a-z0-9_]*\})/)
    .map((piece, i) => ({ text: piece, from: i % 2 === 1 ? ('agent' as const) : ('registry' as const) }))
    .filter((piece) => piece.text !== '');
}

function shownWith(fixed: FixedEffect, runs: readonly Piece[], values: readonly Line[]): Shown {
  return {
    kind: 'tool',
    headline: line('Runs', runs),
    alarms: ordered(alarmsOf(fixed)),
    fields: [
      ...FIELDS.tool(fixed),
      ...values,
      ...Object.entries(FIELDS).flatMap(([name, fieldsOf]) => (name === 'tool' ? [] : fieldsOf(fixed))),
    ],
    blocks: [],
    parts: [],
  };
}

/** An element of the template, as the registry writes it, with its placeholders marked. */
function templatePieces(text: string): Piece[] {
  const pieces = text.split(/(?<!\{)(\{[a-z][a-z0-9_]*(?:\.\.\.)?\})/);
  return element(
    pieces.map((piece, i) => ({
      text: piece,
      from: i % 2 === 1 ? ('agent' as const) : ('registry' as const),
    })),
  );
}

/** The command line, with what the proposer chose apart from what the registry says. */
export function argvPieces({ argv, chosen }: Pick<ToolEffect, 'argv' | 'chosen'>): Piece[] {
  return spaced(
    argv.map((text, i) =>
      element(
        cutAt(
          text,
          chosen.filter((range) => range.element === i),
        ),
      ),
    ),
  );
}

type Range = ToolEffect['chosen'][number];

function cutAt(text: string, ranges: readonly Range[]): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (start > at) pieces.push({ text: text.slice(at, start), from: 'registry' });
    if (end > at || start === end) pieces.push({ text: text.slice(Math.max(at, start), end), from: 'agent' });
    at = Math.max(at, end);
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at), from: 'registry' });
  return pieces;
}

function alarmsOf({ sandbox, run_as, secrets, undo }: FixedEffect): Alarm[] {
  const found: Alarm[] = [];
  if (sandbox === 'none') found.push(alarm('no-sandbox', NO_SANDBOX));
  else if (sandbox.network)
    found.push(alarm('network', 'NETWORK: it can reach every host that this machine reaches'));
  if (run_as === 'root') found.push(alarm('root', AS_ROOT));
  const named = Object.values(secrets);
  if (named.length > 0)
    found.push(alarm('secret', 'SECRETS: it gets secrets of the executor', words(named, 'registry')));
  if (undo === 'none') found.push(alarm('no-undo', 'NO UNDO: what it does stays done'));
  return found;
}

const NO_SANDBOX = 'NO SANDBOX: this tool can reach everything that its user can reach';
const AS_ROOT = 'RUNS AS ROOT: what a file grants to root, it grants to this tool';

export function alarm(kind: Alarm['alarm'], text: string, about: readonly Piece[] = []): Alarm {
  return { alarm: kind, weight: 'alarm', words: text, about };
}

/**
 * Every field of a tool but its command line has its lines here, in the order of the screen: a new field does not compile
 * without one.
 */
const FIELDS: { readonly [K in keyof FixedEffect]: (effect: FixedEffect) => Line[] } = {
  kind: () => [],
  tool: ({ tool, action, category }) => [
    line('Tool', [
      registry(tool),
      ...(action === `tool:${tool}` ? [] : [derived(', action '), registry(action)]),
      ...(category === null ? [] : [derived(', category '), worded(category, 'registry')]),
    ]),
  ],
  action: () => [],
  category: () => [],
  sandbox: ({ sandbox }) => [line('Sandbox', sandboxPieces(sandbox), sandbox === 'none' ? 'alarm' : 'plain')],
  secrets: ({ secrets }) =>
    Object.entries(secrets).map(([variable, name]) =>
      line(
        'Secret',
        [registry(name), ...(variable === name ? [] : [derived(' as '), registry(variable)])],
        'warn',
      ),
    ),
  env: ({ env }) =>
    Object.entries(env).map(([name, value]) =>
      line('Environment', [registry(`${name}=`), worded(value, 'registry')]),
    ),
  cwd: ({ cwd }) => [line('Folder', [worded(cwd, 'derived')])],
  run_as: ({ run_as }) => [
    run_as === null
      ? line('Runs as', [derived('the user of Keyturn, or nobody where that is root')])
      : line('Runs as', [worded(run_as, 'registry')], run_as === 'root' ? 'alarm' : 'plain'),
  ],
  executor: ({ executor }) =>
    executor === null ? [] : [line('Executor', [derived('only one called '), registry(executor)])],
  undo: ({ undo }) => [line('Undo', [registry(undo)], undo === 'none' ? 'alarm' : 'plain')],
  undone_by: (effect) => {
    // What a simulation is bound to has no arguments yet: there the declaration is shown.
    const call = 'arguments' in effect ? undoCall(effect as ToolEffect) : effect.undone_by;
    if (call === null) return [];
    const given = Object.entries(call.arguments).flatMap(([name, value]) => {
      const is_fixed = JSON.stringify(value) === JSON.stringify(effect.undone_by?.arguments[name]);
      return [derived(' '), registry(name), derived(' = '), valued(value, is_fixed ? 'registry' : 'agent')];
    });
    return [line('Undone by', [registry(call.tool), ...given])];
  },
  timeout_ms: (effect) => [line('Limits', [registry(limitWords(effect))])],
  limits: () => [],
  stdout_bytes: ({ stdout_bytes, stderr_bytes }) => [
    line('Output kept', [registry(`${stdout_bytes} bytes, errors ${stderr_bytes} bytes`)], 'dim'),
  ],
  stderr_bytes: () => [],
  executables: ({ executables }) =>
    executables.flatMap(({ called, path, sha256: digest }, i) => [
      line(i === 0 ? 'Executable' : 'Interpreter', [
        worded(path, 'derived'),
        ...(called === path ? [] : [derived(', called '), worded(called, 'registry')]),
      ]),
      line('SHA-256', [derived(digest)], 'dim'),
    ]),
  covers: ({ covers }) => {
    if (covers === null) return [];
    const { files, root } = covers;
    const named = files.slice(0, COVERED_NAMES).map(([path]) => path);
    const more = files.length > named.length ? `, … (${files.length} files)` : '';
    return [
      line('Covers', [...words(named, 'derived'), derived(`${more} in `), worded(root, 'derived')]),
      // One digest over all of them: any other file, name or content is another digest.
      line('SHA-256', [derived(sha256(canonicalBytes(files)))], 'dim'),
    ];
  },
  definition_digest: ({ definition_digest }) => [line('Definition', [derived(definition_digest)], 'dim')],
};

const COVERED_NAMES = 3;

function chosenPieces(effect: ToolEffect, range: Range): Piece[] {
  return [registry(range.parameter), derived(' = '), worded(chosenText(effect, range), 'agent')];
}

function chosenText({ argv }: ToolEffect, { element: at, start, end }: Range): string {
  return (argv[at] ?? '').slice(start, end);
}

function sandboxPieces(sandbox: ToolEffect['sandbox']): Piece[] {
  if (sandbox === 'none') return [registry('NONE')];
  const { network, read, write } = sandbox;
  return [
    registry(network ? 'NETWORK' : 'no network'),
    ...(read.length > 0
      ? [derived(', reads '), ...words(read, 'registry')]
      : [derived(', reads only the system')]),
    ...(write.length > 0
      ? [derived(', WRITES '), ...words(write, 'registry')]
      : [derived(', writes nothing')]),
  ];
}

function limitWords({ timeout_ms, limits }: FixedEffect): string {
  const time = `${timeout_ms / 1000} s`;
  if (limits === null) return time;
  const { cpu_s, file_mb, open_files, processes, memory_mb, tmp_mb } = limits;
  return [
    time,
    `${cpu_s} s CPU`,
    `files of ${file_mb} MB`,
    `${open_files} open files`,
    ...(processes === null ? [] : [`${processes} processes`]),
    ...(memory_mb === null ? [] : [`${memory_mb} MB memory`]),
    ...(tmp_mb === null ? [] : [`/tmp of ${tmp_mb} MB`]),
  ].join(', ');
}
