import { isDeepStrictEqual } from 'node:util';
import type { Node } from 'yaml';
import { Refusal, refuse } from '../../refusal.ts';
import type { CheckedEdit } from './json-edit.ts';
import type { YamlUpdate } from './operation.ts';
import { asYamlValue, documentAt, openYamlStream, type YamlSource } from './yaml-document.ts';
import { layPair, layValue } from './yaml-layout.ts';
import { locateYaml, pairsNamed, refuseMarked, type YamlPlace } from './yaml-locate.ts';
import { parseYamlPath } from './yaml-path.ts';
import { yamlStyleAt } from './yaml-style.ts';

/**
 * Changes one value of a YAML document, or with `create` adds one key to a map. Only the text of that value is
 * written; the document as a whole is never rendered.
 */
export function editYaml(text: string, operation: YamlUpdate): CheckedEdit {
  return operation.create ? createKey(text, operation) : changeValue(text, operation);
}

function changeValue(text: string, { path, value, document }: YamlUpdate): CheckedEdit {
  const sources = openYamlStream(text);
  const source = documentAt(sources, document);
  const place = locateYaml(source.document, parseYamlPath(path));
  refuseMarked(place.node);
  const wanted = asYamlValue(value);
  if (isDeepStrictEqual(valueAt(source, place.keys), wanted)) refuse('EDIT_CHANGES_NOTHING');
  return {
    splices: layValue(text, place, value, yamlStyleAt(text, source.document, place)),
    output: `Value at '${path}' updated successfully`,
    check: (result) => checkYaml(result, sources, source, replaced(source.value, place.keys, wanted)),
  };
}

function createKey(text: string, { path, value, document }: YamlUpdate): CheckedEdit {
  const sources = openYamlStream(text);
  const source = documentAt(sources, document);
  const { steps, dotted } = parseYamlPath(path);
  const key = steps.at(-1);
  if (typeof key !== 'string')
    refuse('EDIT_PATH_MALFORMED', 'The last step of a path that creates is a key.');
  const place: YamlPlace = locateYaml(source.document, { steps: steps.slice(0, -1), dotted });
  const map = place.node as Node;
  const style = yamlStyleAt(text, source.document, { ...place, parent: null });
  const splices = layPair(text, map, key, value, style);
  if (pairsNamed(map as Parameters<typeof pairsNamed>[0], key).length > 0)
    refuse('EDIT_KEY_EXISTS', undefined, { key });
  const expected = replaced(source.value, [...place.keys, key], asYamlValue(value));
  return {
    splices,
    output: `Property '${key}' added successfully`,
    check: (result) => checkYaml(result, sources, source, expected),
  };
}

/** The result must read back as the old documents with this one change. Indentation decides meaning here. */
export function checkYaml(
  result: string,
  before: readonly YamlSource[],
  edited: YamlSource,
  expected: unknown,
): void {
  const values = before.map((source) => (source === edited ? expected : source.value));
  if (!isDeepStrictEqual(readBack(result), values)) refuse('EDIT_NOT_EXACT');
}

function readBack(result: string): unknown[] {
  try {
    return openYamlStream(result, false).map(({ value }) => value);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refuse('EDIT_NOT_EXACT', `The result cannot be read: ${error.message}`);
  }
}

function valueAt({ value }: YamlSource, keys: readonly unknown[]): unknown {
  return keys.reduce((inner, key) => childOf(inner, key), value);
}

function childOf(container: unknown, key: unknown): unknown {
  return container instanceof Map ? container.get(key) : (container as unknown[])[key as number];
}

/** The value with another one at this place. What aliases share is copied on the way, so no other place changes. */
function replaced(value: unknown, [key, ...rest]: readonly unknown[], wanted: unknown): unknown {
  if (key === undefined) return wanted;
  const child = replaced(childOf(value, key), rest, wanted);
  if (value instanceof Map) return new Map(value).set(key, child);
  return (value as unknown[]).with(key as number, child);
}
