import { refuse } from '../../refusal.ts';

/** How a file is read. `jsonc` is JSON with comments and trailing commas. */
export type FileFormat = 'json' | 'jsonc' | 'yaml' | 'text';

/** What the caller knows about the file. Its name decides, unless the format is given. */
export interface FormatHints {
  readonly path?: string;
  readonly format?: FileFormat;
}

/** Names that end in `.json` and hold comments by custom. Only their own programs read them. */
const COMMENTED =
  /(^|\/)(tsconfig|jsconfig)(\.[^/]*)?\.json$|(^|\/)\.vscode\/[^/]*\.json$|(^|\/)devcontainer\.json$/;
const JSONC = /\.(jsonc|code-workspace)$/;
const YAML = /\.ya?ml$/;
const JSON_NAME = /\.(json|geojson|webmanifest|ipynb)$/;

export function formatOf(hints: FormatHints): FileFormat {
  if (hints.format !== undefined) return hints.format;
  const path = (hints.path ?? '').toLowerCase();
  if (JSONC.test(path) || COMMENTED.test(path)) return 'jsonc';
  if (JSON_NAME.test(path)) return 'json';
  return YAML.test(path) ? 'yaml' : 'text';
}

/** Whether comments are accepted in a JSON edit. A file of unknown kind must be strict JSON. */
export function acceptsComments(format: FileFormat): boolean {
  if (format === 'yaml') refuse('EDIT_FORMAT_MISMATCH', 'A YAML file is edited with yaml_update.');
  return format === 'jsonc';
}

/** A YAML edit could write what no JSON reader takes. */
export function requireYaml(format: FileFormat): void {
  if (format === 'json' || format === 'jsonc')
    refuse('EDIT_FORMAT_MISMATCH', 'A JSON file is edited with the json_ edits.');
}
