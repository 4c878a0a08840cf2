import { type Document, isScalar, LineCounter, parseAllDocuments, visit, type YAMLMap } from 'yaml';
import type { Json } from '../../canonical/json.ts';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import { refuseCostly } from './yaml-cost.ts';

/** One YAML document with the places of its nodes, and its value with maps as maps and integers exact. */
export interface YamlSource {
  readonly document: Document.Parsed;
  readonly value: unknown;
}

/**
 * Opens YAML for an edit, all its documents. Anchors, aliases and foreign tags may stand elsewhere in it; double keys may not. The places
 * of the nodes count from the beginning of the file.
 */
export function openYamlStream(text: string, with_places = true): YamlSource[] {
  refuseCostly(text);
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.2',
    strict: true,
    // The library compares all pairs of keys, which takes minutes for a large map.
    uniqueKeys: false,
    keepSourceTokens: with_places,
    intAsBigInt: true,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  }) as Document.Parsed[];
  if (documents.length > editLimits.yaml_documents)
    refuse('INPUT_TOO_LARGE', `The file has ${documents.length} documents.`);
  return documents.map((document) => opened(document, lines));
}

/** The one document, or that of several which is named. */
export function documentAt(sources: readonly YamlSource[], index?: number): YamlSource {
  const count = sources.length;
  if (index === undefined && count !== 1)
    refuse(
      'EDIT_SEVERAL_DOCUMENTS',
      count === 0 ? 'The file has no document.' : `The file has ${count} documents: name one with document.`,
    );
  return (
    sources[index ?? 0] ??
    refuse('EDIT_TARGET_MISSING', `The file has ${count} documents, and the first is document 0.`)
  );
}

function opened(document: Document.Parsed, lines: LineCounter): YamlSource {
  const malformed = (what: string, at: number): never => {
    const { line, col } = lines.linePos(at);
    return refuse('YAML_MALFORMED', `Line ${line}, column ${col}: ${what}`, { line, column: col });
  };
  const foreignTag = 'TAG_RESOLVE_FAILED';
  const problem = document.errors[0] ?? document.warnings.find((warning) => warning.code !== foreignTag);
  if (problem !== undefined) malformed(problem.message, problem.pos[0]);
  const { version, explicit } = document.directives.yaml;
  if (explicit === true && version !== '1.2') malformed('only YAML 1.2 is edited', 0);
  visit(document, { Map: (_, map) => refuseDoubleKeys(map, malformed) });
  return { document, value: plainValue(document) };
}

function refuseDoubleKeys(map: YAMLMap, malformed: (what: string, at: number) => never): void {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) malformed('the same key appears twice', key.range?.[0] ?? 0);
    seen.add(key.value);
  }
}

function plainValue(document: Document.Parsed): unknown {
  try {
    return document.toJS({ mapAsMap: true });
  } catch (error) {
    // The library stops aliases that multiply.
    if (!(error instanceof ReferenceError)) throw error;
    return refuse('YAML_MALFORMED', error.message);
  }
}

/** The document as plain JSON values, as a program that knows only those reads it. */
export function readYamlJson(text: string, index?: number): Json {
  const value: unknown = documentAt(openYamlStream(text, false), index).document.toJS();
  return JSON.parse(
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item)),
  ) as Json;
}

/** A JSON value in the form that a YAML document gives its value. */
export function asYamlValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(asYamlValue);
  return new Map(Object.entries(value).map(([key, item]) => [key, asYamlValue(item as Json)]));
}
