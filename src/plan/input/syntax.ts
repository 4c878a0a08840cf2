import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../refusal.ts';
import { type FileFormat, formatOf } from '../edit/format.ts';
import { type JsonVisitor, scanJson } from '../edit/json-scan.ts';
import { openYamlStream } from '../edit/yaml-document.ts';

export interface SyntaxProblem {
  readonly line: number;
  readonly message: string;
}

/** Whether a JSON or YAML file can be read, going by its name unless told. null when it can, or is neither. YAML may have several documents, or none. */
export function syntaxProblem(
  path: string,
  bytes: Uint8Array,
  format: FileFormat = formatOf({ path }),
): SyntaxProblem | null {
  if (format === 'text') return null;
  if (!isUtf8(bytes)) return { line: 1, message: 'it is not UTF-8' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  try {
    if (format !== 'yaml') scanJson(text, format === 'jsonc', SILENT);
    else openYamlStream(text, false);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { line: Number(error.facts.line ?? 1), message: error.message.split('\n', 1)[0]! };
  }
}

const SILENT: JsonVisitor = {
  open() {},
  key() {},
  comma() {},
  scalar() {},
  close() {},
  comment() {},
};
