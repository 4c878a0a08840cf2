import {
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { refuse } from '../../refusal.ts';
import type { Step } from './document-path.ts';
import type { YamlPath } from './yaml-path.ts';

/** Where a value stands: after the mark (colon or dash) of its key or item, inside a map or list. */
export interface YamlPlace {
  readonly node: Node | null;
  readonly parent: YAMLMap | YAMLSeq | null;
  /** One past the colon or the dash; -1 for the whole document and inside a flow list. */
  readonly mark_end: number;
  /** Where the key or the dash begins. */
  readonly item_start: number;
  /** The keys and places that lead here, as they are in the value of the document. */
  readonly keys: readonly unknown[];
}

/** Finds the one place of the path. What an anchor shares with other places is refused. */
export function locateYaml(document: Document.Parsed, { steps, dotted }: YamlPath): YamlPlace {
  const shared = sharedAnchors(document);
  let place: YamlPlace = { node: document.contents, parent: null, mark_end: -1, item_start: 0, keys: [] };
  for (const step of steps) {
    refuseShared(place.node, shared);
    place = stepInto(place, step, dotted);
  }
  refuseShared(place.node, shared);
  return place;
}

function stepInto({ node, keys }: YamlPlace, step: Step, dotted: boolean): YamlPlace {
  if (isMap(node)) return memberOf(node, step, dotted, keys);
  const digits = typeof step === 'number' || (dotted && /^(0|[1-9]\d{0,8})$/.test(step));
  if (isSeq(node) && digits) return itemOf(node, Number(step), keys);
  return refuse('EDIT_TARGET_MISSING', `There is nothing at "${step}".`);
}

/** The pairs of a map whose key reads like this. `8080` and `"8080"` are two keys that read the same. */
export function pairsNamed(map: YAMLMap, name: string): Pair[] {
  return map.items.filter(({ key }) => isScalar(key) && String(key.value) === name);
}

function memberOf(map: YAMLMap, step: Step, dotted: boolean, keys: readonly unknown[]): YamlPlace {
  const pairs = typeof step === 'string' || dotted ? pairsNamed(map, String(step)) : [];
  const [pair] = pairs;
  if (pair === undefined) refuse('EDIT_TARGET_MISSING', `There is no key "${step}".`);
  if (pairs.length > 1) refuse('EDIT_TARGET_AMBIGUOUS', `Several keys read "${step}".`);
  const key = pair.key as Node & { value: unknown };
  return {
    node: pair.value as Node | null,
    parent: map,
    mark_end: markEnd(pair.srcToken?.sep, 'map-value-ind'),
    item_start: key.range?.[0] ?? 0,
    keys: [...keys, key.value],
  };
}

function itemOf(list: YAMLSeq, index: number, keys: readonly unknown[]): YamlPlace {
  const item = list.items[index] as Node | undefined;
  if (item === undefined) refuse('EDIT_TARGET_MISSING', `The list has ${list.items.length} items.`);
  // `[a: 1]` holds a pair without braces, which has no place of its own.
  if (isPair(item)) refuse('EDIT_TARGET_UNFIT');
  const token = list.srcToken as CST.BlockSequence | CST.FlowCollection | undefined;
  const end = markEnd(token?.items[index]?.start, 'seq-item-ind');
  return {
    node: item,
    parent: list,
    mark_end: end,
    item_start: Math.max(end - 1, 0),
    keys: [...keys, index],
  };
}

function markEnd(tokens: CST.SourceToken[] | null | undefined, type: string): number {
  const mark = tokens?.find((token) => token.type === type);
  return mark === undefined ? -1 : mark.offset + mark.source.length;
}

/** The anchors that an alias repeats somewhere. */
function sharedAnchors(document: Document.Parsed): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, { Alias: (_, alias) => void names.add(alias.source) });
  return names;
}

function refuseShared(node: Node | null, shared: ReadonlySet<string>): void {
  if (node === null) return;
  if (isAlias(node)) refuse('EDIT_TARGET_SHARED', 'The path leads through an alias.');
  // `!!set` and `!!omap`, for two, are not read as a map and a list.
  if (node.tag !== undefined) refuse('EDIT_TARGET_SHARED', 'The path leads through a tag.');
  if (node.anchor !== undefined && shared.has(node.anchor))
    refuse(
      'EDIT_TARGET_SHARED',
      `The path leads through the anchor "${node.anchor}", which is used elsewhere.`,
    );
}

/** What would be replaced must be plain: a tag gives it another meaning, an anchor may be needed elsewhere. */
export function refuseMarked(node: Node | null): void {
  if (node === null) return;
  visit(node, {
    Node: (_, inner) => {
      const { tag, anchor } = inner as { tag?: string; anchor?: string };
      if (isAlias(inner) || anchor !== undefined || tag !== undefined) refuse('EDIT_TARGET_SHARED');
    },
  });
}
