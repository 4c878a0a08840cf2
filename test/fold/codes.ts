import { posix } from 'node:path';
import ts from 'typescript';
import { isReasonCode, type ReasonCode } from '../../src/refusal.ts';
import { nodesOf, parse, sourcesIn } from '../support/source.ts';

/** Where every judge begins: the shape of an event, its signatures, its decision, its token, and the fold itself. */
const ROOTS = [
  ['src/event/event.ts', 'parseEvent'],
  ['src/fold/ledger.ts', 'verifierOf'],
  ['src/fold/ledger.ts', 'foldEntry'],
  ['src/fold/decided.ts', 'neededDecision'],
  ['src/fold/decided.ts', 'requireDecision'],
  ['src/capability/verify.ts', 'openIssued'],
  ['src/fold/issued.ts', 'requireAsIssued'],
] as const;

/** What stands at the top of one file, and where the names in it come from. */
interface File {
  readonly declared: ReadonlyMap<string, ts.Node>;
  readonly imported: ReadonlyMap<string, readonly [path: string, name: string]>;
}

/**
 * The reason codes that are written down in what a fold can call, as the source has it now. Each is a string in a declaration that is
 * reached from the roots by names alone, so there are rather too many than too few: a table counts with all that stands in it.
 */
export function codesOfFold(): ReasonCode[] {
  const files = new Map(sourcesIn(['src']).map((one) => [one.path, fileOf(one.path, parse(one))]));
  const codes = new Set<ReasonCode>();
  const seen = new Set<string>();
  const visit = (path: string, name: string) => {
    const ref = `${path} ${name}`;
    const file = files.get(path);
    const declared = file?.declared.get(name);
    if (!file || !declared || seen.has(ref) || path.startsWith('src/reason/')) return;
    seen.add(ref);
    for (const node of nodesOf(declared)) {
      if (ts.isStringLiteral(node) && isReasonCode(node.text)) codes.add(node.text);
      if (!ts.isIdentifier(node)) continue;
      visit(path, node.text);
      const from = file.imported.get(node.text);
      if (from) visit(...from);
    }
  };
  for (const [path, name] of ROOTS) {
    if (!files.get(path)?.declared.has(name)) throw new Error(`${path} has no ${name}`);
    visit(path, name);
  }
  return [...codes].sort();
}

function fileOf(path: string, file: ts.SourceFile): File {
  const declared = new Map<string, ts.Node>();
  const imported = new Map<string, readonly [string, string]>();
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      declared.set(statement.name!.text, statement);
    if (ts.isVariableStatement(statement))
      for (const one of statement.declarationList.declarations) declared.set(one.name.getText(file), one);
    if (ts.isImportDeclaration(statement))
      for (const [name, from] of namesIn(path, statement)) imported.set(name, from);
  }
  return { declared, imported };
}

/** Of our own modules, and not of types: a type refuses nothing. */
function namesIn(path: string, statement: ts.ImportDeclaration): [string, readonly [string, string]][] {
  const module = (statement.moduleSpecifier as ts.StringLiteral).text;
  const bindings = statement.importClause?.namedBindings;
  if (!module.startsWith('.') || !bindings || !ts.isNamedImports(bindings)) return [];
  if (statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const from = posix.join(posix.dirname(path), module);
  return bindings.elements
    .filter((one) => !one.isTypeOnly)
    .map((one) => [one.name.text, [from, (one.propertyName ?? one.name).text]]);
}
