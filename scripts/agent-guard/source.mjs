import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';

/** The source of the agent core as syntax trees, and what refers to what in it. */

export const AGENT = 'src/agent';
/** What it finds simulations with: held to the same boundary. */
const FINDER = 'src/finder';

/** @returns {Map<string, ts.SourceFile>} by path from the root, with forward slashes. */
export function readTree(root) {
  const names = [AGENT, FINDER].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
      .filter((name) => name.endsWith('.ts')),
  );
  if (names.length === 0) throw new Error(`There is no agent core in ${root}.`);
  return new Map(
    names
      .sort()
      .map((path) => [
        path,
        ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ES2023, true),
      ]),
  );
}

/** Every node below and including this one. */
export function nodesOf(node) {
  const found = [node];
  ts.forEachChild(node, (child) => void found.push(...nodesOf(child)));
  return found;
}

/** Static imports and re-exports: where they lead, what they bring, and whether they are only types. */
export function importsOf(file) {
  return file.statements
    .filter((one) => (ts.isImportDeclaration(one) || ts.isExportDeclaration(one)) && one.moduleSpecifier)
    .map((one) => {
      const specifier = one.moduleSpecifier.text;
      const clause = ts.isImportDeclaration(one) ? one.importClause : one;
      const bindings = ts.isImportDeclaration(one) ? clause?.namedBindings : one.exportClause;
      const elements = bindings && 'elements' in bindings ? [...bindings.elements] : null;
      return {
        path: specifier.startsWith('.') ? posix.join(posix.dirname(file.fileName), specifier) : specifier,
        is_export: ts.isExportDeclaration(one),
        is_type:
          Boolean(clause?.isTypeOnly) || Boolean(elements?.length && elements.every((e) => e.isTypeOnly)),
        /** Null for a namespace, a default or a bare import: everything may come through it. */
        names: elements
          ? elements
              .filter((e) => !e.isTypeOnly)
              .map((e) => ({ local: e.name.text, imported: (e.propertyName ?? e.name).text }))
          : null,
      };
    });
}

/** The declarations at the top of each file, as `path#name`. */
function declarationsOf(file) {
  const found = new Map();
  for (const one of file.statements) {
    if ((ts.isFunctionDeclaration(one) || ts.isClassDeclaration(one)) && one.name)
      found.set(one.name.text, one);
    if (ts.isVariableStatement(one))
      for (const declared of one.declarationList.declarations) found.set(declared.name.getText(), declared);
  }
  return found;
}

/** What a name in a file stands for: a declaration of the tree, or `path#name` of something outside. */
export function graphOf(tree) {
  const declared = new Map([...tree].map(([path, file]) => [path, declarationsOf(file)]));
  const imported = new Map(
    [...tree].map(([path, file]) => [
      path,
      new Map(
        importsOf(file).flatMap((one) =>
          (one.names ?? []).map(({ local, imported: name }) => [local, `${one.path}#${name}`]),
        ),
      ),
    ]),
  );
  const keyOf = (path, name) =>
    declared.get(path)?.has(name) ? `${path}#${name}` : imported.get(path)?.get(name);
  const nodeOf = (key) => {
    const [path, name] = key.split('#');
    return declared.get(path)?.get(name);
  };
  /** Every mention counts: what is passed on may be called. */
  const mentions = (node, path) =>
    new Set(
      nodesOf(node)
        .filter((one) => ts.isIdentifier(one) && !isMemberName(one))
        .map((one) => keyOf(path, one.text))
        .filter((key) => key !== undefined),
    );
  const reach = (keys, seen = new Set()) => {
    for (const key of keys) {
      if (seen.has(key)) continue;
      seen.add(key);
      const node = nodeOf(key);
      if (node) reach(mentions(node, key.split('#')[0]), seen);
    }
    return seen;
  };
  return { keyOf, nodeOf, mentions, reach };
}

/** Whether it only names a member, or a type. */
export function isMemberName(node) {
  const { parent } = node;
  return (
    ts.isTypeReferenceNode(parent) ||
    ts.isPropertySignature(parent) ||
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isBindingElement(parent) && parent.propertyName === node)
  );
}

export function isLiteral(node) {
  const bare = bareOf(node);
  return (
    ts.isStringLiteralLike(bare) ||
    ts.isTemplateExpression(bare) ||
    bare.kind === ts.SyntaxKind.NullKeyword ||
    bare.getText() === 'undefined'
  );
}

/** Without `as const`, `!` and parentheses. */
export function bareOf(node) {
  return ts.isAsExpression(node) || ts.isNonNullExpression(node) || ts.isParenthesizedExpression(node)
    ? bareOf(node.expression)
    : node;
}

export function assignmentsOf(file, name) {
  return nodesOf(file).filter(
    (node) => ts.isPropertyAssignment(node) && node.name.getText().replace(/['"]/g, '') === name,
  );
}

/** Where a node stands, for the person who looks. */
export function placeOf(node) {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
