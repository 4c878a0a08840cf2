import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { decodeUtf8, guardPlain, parseJson } from '../../canonical/json.ts';
import { limits } from '../../limits.ts';
import { Refusal, refuse } from '../../refusal.ts';
import { type Path, type Placed, type Problems, pointerOf, type Spot } from './problem.ts';

/**
 * Reads a JSON file from outside with the place of every value. What is accepted is decided by `parseJson`; the tree
 * only says where things stand, and finds everything that is wrong instead of the first thing.
 */
export function openJson(input: Uint8Array | string, problems: Problems): Placed | null {
  const text = decoded(input, problems);
  if (text === null) return null;
  try {
    return placed(text, parseJson(text));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    explainJson(text, error, problems);
    return null;
  }
}

function decoded(input: Uint8Array | string, problems: Problems): string | null {
  try {
    const text = typeof input === 'string' ? input : decodeUtf8(input, limits.json_bytes);
    if (Buffer.byteLength(text) > limits.json_bytes) refuse('INPUT_TOO_LARGE');
    return text;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    problems.add({ code: error.code, message: error.message, pointer: '', line: 1, column: 1 });
    return null;
  }
}

/** The tree is built when the first place is asked for: a plan without problems needs none. */
function placed(text: string, value: unknown): Placed {
  let known: { readonly tree: Node | undefined; readonly lines: readonly number[] } | null = null;
  // The text is known to be valid and not deep here: the parser recurses.
  const map = () => (known ??= { tree: parseTree(text), lines: lineStarts(text) });
  return {
    value,
    spotOf: (path) => spotAt(map().lines, nearest(map().tree, path)?.offset ?? 0),
    spotOfKey: (path) => {
      const { tree, lines } = map();
      const node = tree && findNodeAtLocation(tree, [...path]);
      const key = node?.parent?.type === 'property' ? node.parent.children![0] : undefined;
      return spotAt(lines, (key ?? nearest(tree, path))?.offset ?? 0);
    },
  };
}

function nearest(tree: Node | undefined, path: Path): Node | undefined {
  if (tree === undefined) return undefined;
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length) as (string | number)[]);
    if (node !== undefined) return node;
  }
  return tree;
}

/** Finds the places of what `parseJson` refused. Whatever the tree does not show is told without a place. */
function explainJson(text: string, refusal: Refusal, problems: Problems): void {
  const lines = lineStarts(text);
  if (refusal.code !== 'JSON_TOO_DEEP' && !isDeep(text)) {
    const errors: ParseError[] = [];
    const tree = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
    for (const { error, offset } of errors)
      problems.add({ code: 'JSON_MALFORMED', message: said(error), pointer: '', ...spotAt(lines, offset) });
    if (tree !== undefined && errors.length === 0) explainNode(tree, [], lines, problems);
  }
  if (problems.none)
    problems.add({ code: refusal.code, message: refusal.message, pointer: '', line: 1, column: 1 });
}

function explainNode(node: Node, path: Path, lines: readonly number[], problems: Problems): void {
  if (node.type === 'array')
    for (const [i, child] of (node.children ?? []).entries())
      explainNode(child, [...path, i], lines, problems);
  else if (node.type === 'object') explainObject(node, path, lines, problems);
  else explainScalar(node, path, lines, problems);
}

function explainObject(object: Node, path: Path, lines: readonly number[], problems: Problems): void {
  const seen = new Set<string>();
  for (const property of object.children ?? []) {
    const [key, value] = property.children ?? [];
    const name = String(key?.value);
    const inner = [...path, name];
    if (seen.has(name)) {
      const message = `The key ${JSON.stringify(name.slice(0, 80))} appears twice.`;
      const code = 'JSON_DUPLICATE_KEY';
      problems.add({ code, message, pointer: pointerOf(inner), ...spotAt(lines, key!.offset) });
    }
    seen.add(name);
    explainScalar(key!, inner, lines, problems);
    if (value !== undefined) explainNode(value, inner, lines, problems);
  }
}

function explainScalar(node: Node, path: Path, lines: readonly number[], problems: Problems): void {
  try {
    guardPlain(node.value);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, message } = error;
    problems.add({ code, message, pointer: pointerOf(path), ...spotAt(lines, node.offset) });
  }
}

function said(code: ParseErrorCode): string {
  return `Not JSON: ${printParseErrorCode(code)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()}.`;
}

/** In a broken file strings may end elsewhere than `parseJson` saw, so the depth is counted again as the tree sees it. */
function isDeep(text: string): boolean {
  const scanner = createScanner(text, true);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const first = text.charAt(scanner.getTokenOffset());
    if (first === '{' || first === '[') depth += 1;
    if (first === '}' || first === ']') depth -= 1;
    if (depth > limits.json_depth) return true;
  }
  return false;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function spotAt(starts: readonly number[], offset: number): Spot {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - starts[low]! + 1 };
}
