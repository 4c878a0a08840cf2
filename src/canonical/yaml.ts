import { isAlias, isMap, isScalar, Lexer, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { limits } from '../limits.ts';
import { Refusal, refuse } from '../refusal.ts';
import { decodeUtf8, guardPlain, type Json } from './json.ts';

export interface LinePlace {
  readonly line: number;
  readonly column: number;
}

export interface YamlDocument {
  readonly value: Json;
  /** Where the value at this path stands, or the nearest thing around it. */
  place(path: readonly PropertyKey[]): LinePlace;
}

/**
 * Parses YAML that people keep under review: one document of plain values. What makes a file mean something else than
 * it seems to (anchors, aliases, merge keys, tags, directives, double keys) is refused with its place.
 */
export function parseYaml(bytes: Uint8Array, max_bytes: number = limits.yaml_bytes): YamlDocument {
  const text = decodeUtf8(bytes, max_bytes);
  refuseDeepNesting(text);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    strict: true,
    stringKeys: true,
    uniqueKeys: false, // it compares each key with each other; refuseDoubleKeys does not
    prettyErrors: false,
    lineCounter: lines,
  });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) malformed(problem.message, placeAt(lines, problem.pos[0]));
  if (document.directives.yaml.explicit) malformed('directives are not accepted', { line: 1, column: 1 });
  visit(document, {
    Node: (_, node) => refuseAmbiguous(node as Node, lines),
  });
  return {
    value: plainValue(document.toJS({ maxAliasCount: 0 })),
    place: (path) => placeAt(lines, offsetOf(document, path)),
  };
}

function refuseAmbiguous(node: Node, lines: LineCounter): void {
  const place = placeAt(lines, node.range?.[0] ?? 0);
  if (isAlias(node)) malformed('aliases are not accepted', place);
  if ('anchor' in node && node.anchor) malformed('anchors are not accepted', place);
  if (node.tag) malformed('tags are not accepted', place);
  refuseDoubleKeys(node, lines);
}

function refuseDoubleKeys(node: Node, lines: LineCounter): void {
  if (!isMap(node)) return;
  const seen = new Set<unknown>();
  for (const { key } of node.items) {
    const name = isScalar(key) ? key.value : key;
    if (seen.has(name))
      malformed('a key stands here twice', placeAt(lines, (key as Node | null)?.range?.[0] ?? 0));
    seen.add(name);
  }
}

function plainValue(value: unknown): Json {
  try {
    guardPlain(value);
    return value;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('YAML_MALFORMED', `The YAML holds a value that is not plain: ${error.message}`);
  }
}

function refuseDeepNesting(text: string): void {
  let depth = 0;
  let column = 0;
  let is_scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!is_scalar) {
      if (token === '[' || token === '{') depth += 1;
      else if (token === ']' || token === '}') depth -= 1;
      if (depth > limits.yaml_flow_depth)
        refuse(
          'YAML_MALFORMED',
          `The YAML is nested more than ${limits.yaml_flow_depth} deep, or indented by more than ${limits.yaml_block_columns} columns.`,
        );
      if (
        depth === 0 &&
        column > limits.yaml_block_columns &&
        (token === '-' || token === '?' || token === ':')
      ) {
        refuse(
          'YAML_MALFORMED',
          `The YAML is nested more than ${limits.yaml_flow_depth} deep, or indented by more than ${limits.yaml_block_columns} columns.`,
        );
      }
    }
    is_scalar = token === SCALAR;
    if (CONTROL.has(token)) continue;
    const newline = token.lastIndexOf('\n');
    column = newline < 0 ? column + token.length : token.length - newline - 1;
  }
}

// The lexer's own marks, which are no part of the text.
const SCALAR = '\x1f';
const CONTROL: ReadonlySet<string> = new Set(['\x02', '\x18', SCALAR]);

function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined;
    if (node?.range) return node.range[0];
  }
  return 0;
}

function placeAt(lines: LineCounter, offset: number): LinePlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function malformed(what: string, { line, column }: LinePlace): never {
  return refuse('YAML_MALFORMED', `Line ${line}, column ${column}: ${what.split('\n')[0]}`, { line, column });
}
