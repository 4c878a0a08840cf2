import { type Document, isMap, isScalar, isSeq, type Node, Scalar, visit } from 'yaml';
import type { YamlPlace } from './yaml-locate.ts';
import type { YamlStyle } from './yaml-render.ts';

const DEFAULT_UNIT = 2;

export function yamlStyleAt(text: string, document: Document.Parsed, { node, parent }: YamlPlace): YamlStyle {
  const flow = [node, parent].find((near) => isFlow(near));
  return {
    ...indentationOf(text, document),
    quote: quoteOf(node),
    padding: flow != null && text.startsWith('{ ', flow.range![0]) ? ' ' : '',
  };
}

export function isFlow(node: Node | null): boolean {
  return (isMap(node) || isSeq(node)) && node.flow === true;
}

export function isBlockCollection(node: Node | null): boolean {
  return (isMap(node) || isSeq(node)) && node.flow !== true;
}

/** The column of a place, counted from 0. */
export function columnOf(text: string, at: number): number {
  return at === 0 ? 0 : at - (text.lastIndexOf('\n', at - 1) + 1);
}

function quoteOf(node: Node | null): YamlStyle['quote'] {
  if (!isScalar(node)) return 'plain';
  if (node.type === Scalar.QUOTE_SINGLE) return 'single';
  return node.type === Scalar.QUOTE_DOUBLE ? 'double' : 'plain';
}

/** As the first map under a key and the first list under a key have it. */
function indentationOf(text: string, document: Document.Parsed): Pick<YamlStyle, 'unit' | 'indentless'> {
  let unit: number | null = null;
  let indentless: boolean | null = null;
  visit(document, {
    Pair: (_, pair) => {
      const [key, value] = [pair.key as Node | null, pair.value as Node | null];
      if (!isBlockCollection(value) || key?.range == null || value?.range == null) return undefined;
      const further = columnOf(text, value.range[0]) - columnOf(text, key.range[0]);
      if (isSeq(value)) indentless ??= further === 0;
      if (further > 0) unit ??= further;
      return unit !== null && indentless !== null ? visit.BREAK : undefined;
    },
  });
  return { unit: unit ?? DEFAULT_UNIT, indentless: indentless ?? false };
}
