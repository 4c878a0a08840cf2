import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A source file as the checks see it. A check never reads the disk, so that planted examples can be given to it. */
export interface Source {
  /** From the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The files under the folders with one of these endings. A folder that does not exist holds none. */
export function sourcesIn(folders: readonly string[], ...endings: string[]): Source[] {
  const wanted = endings.length === 0 ? ['.ts', '.tsx'] : endings;
  return folders.flatMap((folder) =>
    filesUnder(folder)
      .filter((path) => wanted.some((ending) => path.endsWith(ending)))
      .map(source),
  );
}

export function source(path: string): Source {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

function filesUnder(folder: string): string[] {
  try {
    const all = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
    return all
      .filter((entry) => entry.isFile())
      .map((entry) => posix.join(entry.parentPath.slice(ROOT.length), entry.name))
      .filter((path) => !/\/(fixtures|node_modules)\//.test(path))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Many checks look at each file; it is parsed for the first of them. */
export const parse = once(({ path, text }: Source) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true),
);

/** Every node of the file, parents before children. */
export function nodesOf(node: ts.Node): ts.Node[] {
  return ts.isSourceFile(node) ? nodesOfFile(node) : nodesUnder(node);
}

const nodesOfFile = once((file: ts.SourceFile) => nodesUnder(file));

function nodesUnder(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (one: ts.Node) => {
    found.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return found;
}

export function once<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

/** Every module that the file names: static, dynamic, re-exported, or as a type only. */
export const importsOf = once((file: Source): string[] => {
  const found = new Set<string>();
  for (const node of nodesOf(parse(file))) {
    const name = importedBy(node);
    if (name !== undefined) found.add(name);
  }
  return [...found];
});

function importedBy(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier);
  if (ts.isExternalModuleReference(node)) return literal(node.expression);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return literal(node.argument.literal);
  if (!ts.isCallExpression(node)) return undefined;
  const dynamic =
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    /^(require|require\.resolve)$/.test(node.expression.getText());
  return dynamic ? literal(node.arguments[0]) : undefined;
}

function literal(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}

/** The project path that a relative import leads to. */
export function resolved(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** A test's title with the titles around it, outermost first. */
export type Title = readonly string[];

/** The titles of all tests that are written as literals: `describe`, `it` and `test`, with or without modifiers. */
export function titlesOf(file: Source): Title[] {
  return titlesUnder(parse(file), []);
}

function titlesUnder(node: ts.Node, around: Title): Title[] {
  const title = ts.isCallExpression(node) ? titleOf(node) : undefined;
  if (title === undefined) return childrenOf(node).flatMap((child) => titlesUnder(child, around));
  const path = [...around, title.text];
  if (title.kind !== 'describe') return [path];
  return (node as ts.CallExpression).arguments.flatMap((argument) => titlesUnder(argument, path));
}

function titleOf(call: ts.CallExpression): { kind: string; text: string } | undefined {
  const kind = /^(describe|it|test)\b/.exec(call.expression.getText())?.[1];
  const text = literal(call.arguments[0]);
  return kind === undefined || text === undefined ? undefined : { kind, text };
}
