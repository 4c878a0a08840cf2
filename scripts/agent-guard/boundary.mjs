import ts from 'typescript';
import { AGENT, bareOf, graphOf, importsOf, isMemberName, nodesOf, placeOf } from './source.mjs';

/** Conditions 1 and 2: what the agent core may touch. Whatever is not named here is refused. */

const EXECUTOR = `${AGENT}/executor.ts`;

/** The modules that lead to an effect, and the one file that may import each. */
const EFFECT_PATHS = {
  'src/journey/run.ts': [EXECUTOR],
  'src/journey/delegate-turn.ts': [EXECUTOR],
  // A human enrols the key of the agent core when activating something.
  'src/journey/enrol.ts': [`${AGENT}/register.ts`],
};

/** They read and judge. None of them starts, writes or signs anything. */
const READS = [
  'src/display/shown.ts',
  'src/display/template.ts',
  'src/journey/approvals.ts',
  'src/journey/bound.ts',
  'src/journey/bound-effect.ts',
  'src/journey/bound-shown.ts',
  'src/journey/context.ts',
  'src/journey/folded.ts',
  'src/journey/page.ts',
  'src/journey/prove-agent.ts',
  'src/journey/reach.ts',
  'src/journey/resource.ts',
  'src/journey/rules.ts',
  'src/journey/sealed-effect.ts',
  'src/journey/standing.ts',
  'src/journey/terms.ts',
  'src/journey/undo.ts',
  'src/tool/select.ts',
  'src/store/agent-tables.ts',
  'src/limits.ts',
  'src/refusal.ts',
  'src/turns.ts',
];
const LAYERS = /^src\/(agent|finder|canonical|event|fold|gate|identity|intent|ledger|policy)\//;
const PACKAGES = ['zod', 're2js', 'minisearch', 'node:crypto', 'node:path', 'node:util'];

export function bypasses(tree) {
  return [
    ...strangeImports(tree, isRoad),
    ...loadedLater(tree),
    ...otherRoads(tree),
    ...disorder(tree),
    ...unheeded(tree),
  ];
}

const WRITING =
  /^(node:)?(fs|sqlite|http|https|net|tls|dgram)(\/|$)|sqlite|^pg$|postgres|^src\/(store|durable|project)\//;
const isRoad = (path) => !WRITING.test(path);

function strangeImports(tree, concerns) {
  return [...tree.values()].flatMap((file) =>
    importsOf(file)
      .filter(({ path, is_type }) => !is_type && concerns(path) && !mayImport(file.fileName, path))
      .map(({ path }) => `${file.fileName} imports ${path}`),
  );
}

function mayImport(from, path) {
  if (Object.hasOwn(EFFECT_PATHS, path)) return EFFECT_PATHS[path].includes(from);
  return (
    LAYERS.test(path) ||
    READS.includes(path) ||
    PACKAGES.includes(path) ||
    path.startsWith('@orama/stemmers/')
  );
}

/** Names through which code is loaded, or the world reached, past every import. */
const OUTSIDE = [
  ...['process', 'globalThis', 'global', 'require', 'eval', 'Function', 'module'],
  ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Worker', 'BroadcastChannel'],
];

/** What is loaded while it runs cannot be seen here, so nothing is, under whatever name. */
function loadedLater(tree) {
  return [...tree.values()].flatMap((file) =>
    nodesOf(file)
      .filter(
        (node) =>
          (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) ||
          ts.isMetaProperty(node) ||
          (ts.isIdentifier(node) && OUTSIDE.includes(node.text) && !isMemberName(node)),
      )
      .map((node) => `${placeOf(node)} loads code while it runs`),
  );
}

/** Only `runOnce` runs, only `dispatch` calls it, and the executor exports neither. */
function otherRoads(tree) {
  const { mentions } = graphOf(tree);
  const file = tree.get(EXECUTOR);
  if (!file) return [`there is no ${EXECUTOR}`];
  const callers = (key) =>
    file.statements
      .filter((one) => ts.isFunctionDeclaration(one) && mentions(one.body, EXECUTOR).has(key))
      .map((one) => one.name.text);
  const handed = importsOf(file)
    .filter(({ is_export }) => is_export)
    .map(({ path }) => path);
  const exported = file.statements
    .filter(
      (one) =>
        ts.canHaveModifiers(one) && ts.getModifiers(one)?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword),
    )
    .filter((one) => !ts.isInterfaceDeclaration(one) && !ts.isTypeAliasDeclaration(one))
    .map((one) => one.name?.text ?? one.declarationList?.declarations[0]?.name.getText() ?? one.getText())
    .filter((name) => name !== 'dispatch' && name !== 'settle');
  return [
    ...expected(callers('src/journey/run.ts#run'), ['runOnce'], 'journey/run.ts is called by'),
    ...expected(callers(`${EXECUTOR}#runOnce`), ['dispatch'], 'runOnce is called by'),
    ...handed.map((path) => `${EXECUTOR} exports ${path}`),
    ...exported.map((name) => `${EXECUTOR} exports ${name}`),
  ];
}

function expected(found, wanted, words) {
  return found.join() === wanted.join() ? [] : [`${words} ${found.join(', ') || 'nobody'}`];
}

/** The envelope, then all checks again and the durable dispatch, then the run. */
const ORDER = {
  dispatch: ['check', 'startOnce', 'runOnce', 'endOnce'],
  startOnce: ['requireProvenOrder', 'weigh', 'turnOf', 'startStep'],
};

function disorder(tree) {
  const { nodeOf } = graphOf(tree);
  return Object.entries(ORDER).flatMap(([name, order]) => {
    const node = nodeOf(`${EXECUTOR}#${name}`);
    if (!node) return [`${EXECUTOR} has no ${name}`];
    const calls = nodesOf(node).filter(ts.isCallExpression);
    const found = order.map((one) =>
      calls.find(({ expression }) => expression.getText().split('.').at(-1) === one),
    );
    const right = found.every((call, i) => call && (i === 0 || call.pos > (found[i - 1]?.pos ?? call.pos)));
    const loose = found.filter((call) => call && !/^check$/.test(nameOf(call)) && !isAwaited(call));
    return [
      ...(right ? [] : [`${name} does not do, in this order: ${order.join(', ')}`]),
      ...loose.map((call) => `${name} does not wait for ${nameOf(call)}`),
    ];
  });
}

/** What each of these says about the decision, word by word: a condition more is a step that runs against its decision. */
const HEEDED = {
  isDispatched: ["return decided.reason_code === 'STEP_DISPATCHED';"],
  startOnce: [
    'if (turned === null || turned.refusal) return await stepRefused(context, current, weighed, turned);',
    'if (!isDispatched(weighed)) return await awaitApprover(context, current, weighed, turned);',
  ],
  turnOf: [
    'const is_ordered = isDispatched(weighed);',
    "if (!is_ordered && weighed.decided.reason_code !== 'ACCESS_AP_REQUIRED') return null;",
  ],
};

function unheeded(tree) {
  const { nodeOf } = graphOf(tree);
  return Object.entries(HEEDED).flatMap(([name, wanted]) => {
    const node = nodeOf(`${EXECUTOR}#${name}`);
    const statements = node ? nodesOf(node).filter(ts.isStatement) : [];
    const places = wanted.map((words) =>
      statements.findIndex((one) => one.getText().replace(/\s+/g, ' ') === words),
    );
    const starts = node
      ? nodesOf(node).filter((one) => ts.isCallExpression(one) && nameOf(one) === 'startStep')
      : [];
    const heeds =
      places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1])) &&
      starts.length <= 1 &&
      starts.every(({ pos }) => pos > statements[places.at(-1)].pos);
    return heeds ? [] : [`${EXECUTOR}: ${name} does not do what the decision says`];
  });
}

const nameOf = ({ expression }) => expression.getText().split('.').at(-1);
const isAwaited = ({ parent }) => ts.isAwaitExpression(parent) || ts.isReturnStatement(parent);

/** What may be asked of the store. `commit` appends; everything else reads. */
const STORE = [
  'agentCurrent',
  'agentLedger',
  'all',
  'commit',
  'entriesOf',
  'find',
  'object',
  'page',
  'system',
  'tenant',
];

/** The entries that the agent core appends itself. Everything else is the journey's, or a human's. */
const APPENDS = /^(agent\.(received|planned|confirmed|access|moved)|intake\.(recorded|told))$/;
/** What a human signs through it. */
const SIGNED = {
  'simulation.changed': `${AGENT}/register.ts`,
  'delegation.granted': `${AGENT}/register.ts`,
  'delegation.revoked': `${AGENT}/register.ts`,
  'slo.waived': `${AGENT}/slo.ts`,
};

export function writesDirectly(tree) {
  return [
    ...strangeImports(tree, (path) => WRITING.test(path)),
    ...[...tree.values()].flatMap((file) => [...storeUses(file), ...sqlIn(file), ...strangeEntries(file)]),
  ];
}

function storeUses(file) {
  const isStore = (node) => /(^|\.)store$/.test(bareOf(node).getText());
  return nodesOf(file).flatMap((node) => {
    if (ts.isPropertyAccessExpression(node) && isStore(node.expression))
      return STORE.includes(node.name.text) ? [] : [`${placeOf(node)} uses store.${node.name.text}`];
    if (ts.isElementAccessExpression(node) && isStore(node.expression))
      return [`${placeOf(node)} reaches into the store`];
    if (ts.isVariableDeclaration(node) && node.initializer && isStore(node.initializer))
      return unpacked(node.name);
    const nested = ts.isBindingElement(node) && node.propertyName?.getText() === 'store';
    return nested ? unpacked(node.name) : [];
  });
}

/** `const { tenant } = store` is fine; `const other = store` is a store under a name that this check does not follow. */
function unpacked(name) {
  if (!ts.isObjectBindingPattern(name)) return [`${placeOf(name)} gives the store another name`];
  return name.elements
    .filter((one) => one.dotDotDotToken || !STORE.includes((one.propertyName ?? one.name).getText()))
    .map((one) => `${placeOf(one)} takes ${one.getText()} from the store`);
}

const SQL =
  /\b(INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|(CREATE|DROP|ALTER)\s+TABLE|REPLACE\s+INTO)\b/i;

function sqlIn(file) {
  return nodesOf(file)
    .filter((node) => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
    .filter((node) => SQL.test(node.getText()))
    .map((node) => `${placeOf(node)} has SQL in it`);
}

/** Every event that is made here says in a literal which it is. */
function strangeEntries(file) {
  return nodesOf(file).flatMap((node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'signAct')
      return strange(node.arguments[1], (kind) => SIGNED[kind] === file.fileName);
    if (!ts.isObjectLiteralExpression(node)) return [];
    const has = (name) => node.properties.find((one) => one.name?.getText() === name);
    if (!has('subject') || !has('body')) return [];
    const kind = has('kind');
    return strange(kind && ts.isPropertyAssignment(kind) ? kind.initializer : node, (name) =>
      APPENDS.test(name),
    );
  });
}

function strange(node, allowed) {
  const kind = bareOf(node);
  if (!ts.isStringLiteralLike(kind)) return [`${placeOf(node)} makes an entry of a kind that cannot be seen`];
  return allowed(kind.text) ? [] : [`${placeOf(node)} appends ${kind.text}`];
}
