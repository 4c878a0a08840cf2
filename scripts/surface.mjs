/** The second half of docs/api.md: what each entry of the package exports, as the TypeScript compiler reads it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './setup.mjs';

/** `keyturn`, `keyturn/client`, …: each with the source of its types. */
function entries() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([, to]) => typeof to === 'object')
    .map(([entry, { types }]) => [
      entry.replace(/^\./, name),
      join(root, types.replace('./dist/types', 'src').replace(/\.d\.ts$/, '.ts')),
    ]);
}

/** Everything beside the verbs that a program can import. */
export function surfacePage() {
  const found = entries();
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram(
    found.map(([, path]) => path),
    { ...options, noEmit: true, incremental: false },
  );
  const checker = program.getTypeChecker();
  const parts = found.map(([entry, path]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path));
    const exports = checker.getExportsOfModule(module);
    const named = reachedFrom(checker, exports).filter(
      (one) => !exports.some(({ name }) => name === one.name),
    );
    return `## import from '${entry}'\n\n${told(checker, exports)}\n\nWhat these name, which has no import of its own:\n\n${told(checker, named)}`;
  });
  return `\n${parts.join('\n\n')}\n`;
}

const told = (checker, symbols) =>
  block(
    symbols
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((one) => exported(checker, one))
      .sort(byKind)
      .map(({ text }) => text)
      .join('\n'),
  );

/** What these name is told as well, and what that names. Further away everything is inside, and the compiler can say it. */
const FAR = 2;

function reachedFrom(checker, symbols) {
  const reached = new Map();
  let from = symbols;
  for (let far = 0; far < FAR; far++) {
    from = from.flatMap((one) => namedBy(checker, one)).filter(({ name }) => !reached.has(name));
    for (const one of from) reached.set(one.name, one);
  }
  return [...reached.values()];
}

/** The interfaces and types of src/ that one names. */
function namedBy(checker, symbol) {
  const [node] = meantBy(checker, symbol).declarations;
  const text = exported(checker, symbol).text.replace(/"[^"]*"|'[^']*'|\/\*.*?\*\//g, '');
  const names = [...new Set(text.match(/\b[A-Z]\w*[a-z]\w*\b/g))];
  return names
    .map((name) => checker.resolveName(name, node, ts.SymbolFlags.Type, false))
    .filter((found) => found !== undefined)
    .map((found) => meantBy(checker, found))
    .filter(({ declarations }) => declarations?.every(isOurs));
}

const isOurs = (node) =>
  node.getSourceFile().fileName.startsWith(join(root, 'src/')) &&
  (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node));

const KINDS = ['class', 'function', 'const', 'interface', 'type'];
const byKind = (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);

const block = (text) => `\`\`\`ts\n${text}\n\`\`\``;

const meantBy = (checker, symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;

function exported(checker, symbol) {
  const [node] = meantBy(checker, symbol).declarations;
  const { name } = symbol;
  const typed = () => typeText(checker, node);
  if (ts.isClassDeclaration(node)) return { kind: 'class', text: classText(checker, name, node) };
  if (ts.isInterfaceDeclaration(node))
    return { kind: 'interface', text: `interface ${name} ${written(node)}` };
  if (ts.isTypeAliasDeclaration(node) && isMadeOfCode(node))
    return { kind: 'interface', text: `interface ${name} ${members(checker, node)}` };
  if (ts.isTypeAliasDeclaration(node)) return { kind: 'type', text: `type ${name} ${written(node)}` };
  if (ts.isFunctionDeclaration(node))
    return { kind: 'function', text: `function ${name}${signature(node)};` };
  return { kind: 'const', text: `const ${name}: ${typed()};` };
}

/** `ReturnType<typeof f>` says nothing to a reader. */
const isMadeOfCode = ({ type }) => type.getText().startsWith('ReturnType<typeof');

/** Each member of a type that is only in the code, with what is said of it there. */
function members(checker, node) {
  const all = checker
    .getTypeAtLocation(node)
    .getProperties()
    .map((one) => {
      const about = ts.displayPartsToString(one.getDocumentationComment(checker)).replace(/\s+/g, ' ');
      const text = checker.typeToString(checker.getTypeOfSymbolAtLocation(one, node), undefined, FLAGS);
      return `${about && `  /** ${about} */\n`}  ${one.name}: ${text};`;
    });
  return `{\n${all.join('\n')}\n}`;
}

const FLAGS =
  ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope |
  ts.TypeFormatFlags.WriteArrowStyleSignature;

/** What was written down says more than what the compiler makes of it. */
function typeText(checker, node) {
  if (node.type && !ts.isFunctionLike(node)) return oneLine(node.type.getText());
  const made = node.initializer ?? node;
  if (ts.isFunctionLike(made) && made.type && !ts.isGetAccessor(made)) return signature(made, ' => ');
  return checker.typeToString(checker.getTypeAtLocation(node), undefined, FLAGS);
}

function signature({ typeParameters, parameters, type }, to = ': ') {
  const generic = typeParameters ? `<${typeParameters.map((one) => one.getText()).join(', ')}>` : '';
  const taken = parameters.map(parameter).join(', ');
  return `${generic}(${taken})${to}${type ? oneLine(type.getText()) : 'unknown'}`;
}

/** What is taken apart at once has no name of its own, and its type says what it has. */
function parameter(one) {
  const { name, type, initializer } = one;
  if (!ts.isObjectBindingPattern(name)) return oneLine(one.getText());
  return `asked${initializer ? '?' : ''}: ${oneLine(type.getText())}`;
}

const oneLine = (text) =>
  text
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s+/g, ' ')
    .trim();

/** As the source has it behind the name, without comments, in one line. */
function written(node) {
  const text = printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile());
  const from = text.indexOf(node.name.text) + node.name.text.length;
  return text.slice(from).replace(/\s+/g, ' ').trim();
}

const printer = ts.createPrinter({ removeComments: true });

function classText(checker, name, node) {
  const members = node.members.filter(isPublic).map((member) => {
    const is_static = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static;
    const [told] = ts
      .getJSDocCommentsAndTags(member)
      .map(({ comment }) => comment)
      .filter(Boolean);
    const about = told === undefined ? [] : [`  /** ${String(told).replace(/\s+/g, ' ')} */`];
    return [
      ...about,
      `  ${is_static ? 'static ' : ''}${member.name.getText()}: ${typeText(checker, member)};`,
    ].join('\n');
  });
  return `class ${name} {\n${members.join('\n')}\n}`;
}

function isPublic(member) {
  const is_hidden = ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private;
  return member.name !== undefined && !ts.isPrivateIdentifier(member.name) && !is_hidden;
}
