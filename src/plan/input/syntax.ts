import { isUtf8 } from 'node:buffer';
import { LineCounter, parseAllDocuments } from 'yaml';
import { Refusal } from '../../refusal.ts';
import { type FileFormat, formatOf } from '../edit/format.ts';
import { type JsonVisitor, scanJson } from '../edit/json-scan.ts';
import { openYaml } from '../edit/yaml-document.ts';

export interface SyntaxProblem {
  readonly line: number;
  readonly message: string;
}

/** Whether a JSON or YAML file can be read, going by its name unless told. null when it can, or is neither. */
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
    else openYaml(text);
    return null;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Several documents in one YAML file, or none, are fine here. By now the nesting is known not to be deep.
    if (error.code === 'EDIT_SEVERAL_DOCUMENTS') return problemInDocuments(text);
    return { line: Number(error.details.line ?? 1), message: error.message.split('\n', 1)[0]! };
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

function problemInDocuments(text: string): SyntaxProblem | null {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.2',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: lines,
  });
  if (!Array.isArray(documents)) return null;
  const problem = documents.flatMap((document) => document.errors)[0];
  return problem ? { line: lines.linePos(problem.pos[0]).line, message: problem.message } : null;
}
