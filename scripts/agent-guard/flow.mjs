import ts from 'typescript';
import { AGENT, assignmentsOf, bareOf, graphOf, isLiteral, nodesOf, placeOf } from './source.mjs';

/** Conditions 3, 5, 6 and 7, as far as the source shows them: what leads to what. */

const CORE = `${AGENT}/core.ts`;
const EXECUTOR = `${AGENT}/executor.ts`;
const INTENT = `${AGENT}/intent.ts`;
const MATCH = `${AGENT}/match.ts`;
const TURN = `${AGENT}/turn.ts`;
const WEIGH = `${AGENT}/weigh.ts`;

/** Only the registered definition says what runs: no other place makes an effect, an intent or a simulation id. */
export function dispatchesTools(tree) {
  return [
    ...[...tree.values()].flatMap((file) => [
      ...effectsMade(file),
      ...idsMadeUp(file),
      ...idsRewritten(file),
    ]),
    ...undrafted(tree),
  ];
}

function effectsMade(file) {
  if (file.fileName === INTENT) return [];
  return assignmentsOf(file, 'kind')
    .filter(({ initializer }) => /^'(tool|plan)'$/.test(bareOf(initializer).getText()))
    .map((node) => `${placeOf(node)} makes an effect of its own`);
}

function idsMadeUp(file) {
  return assignmentsOf(file, 'simulation_id')
    .filter(({ initializer }) => isLiteral(initializer) || /tool/i.test(initializer.getText()))
    .map((node) => `${placeOf(node)} makes up a simulation id`);
}

/** What is looked up is the id as it came: a name or a member, and nothing that computes another one. */
function idsRewritten(file) {
  const nodes = nodesOf(file);
  const looked = nodes.filter(ts.isCallExpression).flatMap((call) => lookedUp(file, call));
  const given = assignmentsOf(file, 'simulation_id').map(({ initializer }) => initializer);
  const written = nodes.filter(
    (node) => ts.isBinaryExpression(node) && isAssignment(node) && isId(node.left),
  );
  return [...[...looked, ...given].filter((node) => !isAsItCame(node)), ...written].map(
    (node) => `${placeOf(node)} rewrites a simulation id`,
  );
}

/** The argument that names the simulation, of each way to look one up. */
function lookedUp(file, { expression, arguments: given }) {
  const name = expression.getText();
  if (/(^|\.)(find|state)$/.test(name)) return given[0]?.getText() === "'simulation'" ? [given[1]] : [];
  if (/(^|\.)registered(\.get)?$/.test(name) || (name === 'known' && file.fileName === WEIGH))
    return [given[0]];
  if (name === 'read' && file.fileName === MATCH) return [given[0]];
  return name === 'entryOf' ? [given[1]] : [];
}

const isAssignment = ({ operatorToken: { kind } }) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
const isId = (node) => /(^|\.)(id|simulation_id)$/.test(node.getText());

function isAsItCame(node) {
  const bare = node && bareOf(node);
  if (!bare) return false;
  // The shape of an id is none.
  if (/^z\./.test(bare.getText())) return true;
  if (!ts.isIdentifier(bare)) return isMember(bare);
  const within = ts.findAncestor(bare, ts.isFunctionLike) ?? bare.getSourceFile();
  return nodesOf(within)
    .filter((one) => ts.isVariableDeclaration(one) && one.name.getText() === bare.text)
    .every(({ initializer }) => initializer === undefined || isAsItCame(initializer));
}

/** `a.b[0].c`: no call and no choice on the way. */
function isMember(node) {
  const bare = bareOf(node);
  if (ts.isIdentifier(bare)) return true;
  if (ts.isPropertyAccessExpression(bare)) return isMember(bare.expression);
  return (
    ts.isElementAccessExpression(bare) &&
    ts.isNumericLiteral(bare.argumentExpression) &&
    isMember(bare.expression)
  );
}

/** What is proposed is the draft of a definition, and it requests the simulation beside the effect. */
function undrafted(tree) {
  const { nodeOf } = graphOf(tree);
  const draft = nodeOf(`${INTENT}#draftOf`);
  const actions = draft && assignmentsOf(draft, 'requested_actions')[0];
  const effect = draft && assignmentsOf(draft, 'effect')[0];
  const proposals = nodesOf(tree.get(EXECUTOR)).filter(
    (node) => ts.isCallExpression(node) && node.expression.getText() === 'draftTurn',
  );
  return [
    ...(actions && /\bsimulationAction\(/.test(actions.getText())
      ? []
      : ['an intent does not name its simulation']),
    ...(effect && /^effectOf\(definition,/.test(effect.initializer.getText())
      ? []
      : ['the effect of an intent is not that of the registered definition']),
    ...(proposals.length === 0 ? ['nothing is proposed by the executor'] : []),
    ...proposals
      .filter((call) => !isDraft(call.arguments[1]))
      .map((call) => `${placeOf(call)} gives no draft to ${call.expression.getText()}`),
  ];
}

function isDraft(node) {
  if (!node || !ts.isIdentifier(node)) return false;
  const within = ts.findAncestor(node, ts.isFunctionDeclaration) ?? node.getSourceFile();
  const around = nodesOf(within).filter(
    (one) => ts.isVariableDeclaration(one) && one.name.getText() === node.text,
  );
  return around.length === 1 && /^draftOf\(/.test(around[0].initializer?.getText() ?? '');
}

/** Nothing but a match leads to the executor, however many functions lie between. */
export function dispatchesMissing(tree) {
  const { mentions, reach, nodeOf } = graphOf(tree);
  const runs = (node, path) => [...reach(mentions(node, path))].some((key) => key.startsWith(`${EXECUTOR}#`));
  const take = nodeOf(`${CORE}#take`);
  const behave = nodeOf(`${CORE}#behave`);
  if (!take || !behave) return [`${CORE} has no take or no behave`];
  const branches = [...tree].flatMap(([path, file]) => branchesOf(file).map((node) => ({ node, path })));
  const clauses = nodesOf(behave).filter(ts.isCaseOrDefaultClause);
  const matching = clauses.filter((clause) => labelOf(clause) === 'SIMULATION_MATCH');
  const others = clauses.filter((clause) => !matching.includes(clause));
  return [
    ...(others.some((clause) => labelOf(clause) === 'MISSING_SIMULATION')
      ? []
      : ['behave has no case for a missing simulation']),
    ...(matching.length === 1 && matching[0].statements.length > 0
      ? []
      : ['behave does not have one case for a match']),
    ...others
      .filter(({ statements }) => !/^(return|throw)\b/.test(statements.at(-1)?.getText() ?? ''))
      .map((clause) => `${placeOf(clause)} falls through`),
    ...[...branches, ...others.map((node) => ({ node, path: CORE }))]
      .filter(({ node, path }) => runs(node, path))
      .map(({ node }) => `${placeOf(node)} reaches the executor`),
    ...outside(take, behave, matching, runs),
  ];
}

const labelOf = (clause) => (ts.isCaseClause(clause) ? bareOf(clause.expression).text : 'default');

/** What is done whenever the kind of a packet is that of a missing simulation. */
function branchesOf(file) {
  return nodesOf(file).flatMap((node) => {
    if (ts.isIfStatement(node) && says(node.expression)) return [node.thenStatement];
    return ts.isConditionalExpression(node) && says(node.condition) ? [node.whenTrue] : [];
  });
}

const says = (condition) => /=== 'MISSING_SIMULATION'/.test(condition.getText());

/** Around the cases: neither the turn nor the choice between the kinds goes to the executor by itself. */
function outside(take, behave, matching, runs) {
  const loose = (node) =>
    nodesOf(node)
      .filter((one) => ts.isCallExpression(one) && one.expression.getText() !== 'behave')
      .filter((call) => !matching.some((clause) => clause.pos <= call.pos && call.end <= clause.end))
      .filter((call) => runs(call.expression, CORE));
  return [...loose(take), ...loose(behave)].map((call) => `${placeOf(call)} runs before the kind is known`);
}

/** Whatever a finder says is read strictly, and compared with the turn, before anything is made of it. */
export function takesUnreadPackets(tree) {
  const { nodeOf } = graphOf(tree);
  const hear = nodeOf(`${TURN}#hear`);
  if (!hear) return [`${TURN} has no hear`];
  const text = hear.getText();
  const order = ['find(', 'parsePacket(found.packet)', 'requireOurs(packet', 'goals.seal(', 'receivedEvent('];
  const places = order.map((words) => text.indexOf(words));
  const right = places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1]));
  const loose = [...text.matchAll(/found\.packet/g)].length;
  return [
    ...(right ? [] : ['hear does not parse and compare a packet before it uses it']),
    ...(loose === 1 ? [] : ['hear uses a packet that was not parsed']),
  ];
}

/** These come from a snapshot or from a definition, never from a line of code. */
export function literalRefs(tree, names) {
  return [...tree.values()].flatMap((file) =>
    names.flatMap((name) =>
      assignmentsOf(file, name)
        .filter(
          ({ initializer }) => isLiteral(initializer) || nodesOf(initializer).some(ts.isStringLiteralLike),
        )
        .map((node) => `${placeOf(node)} makes up a ${name}`),
    ),
  );
}
