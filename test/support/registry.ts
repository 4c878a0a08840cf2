import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** A tool of a registry, without its executable. */
export const TOOL = {
  name: 'create_backup',
  summary: 'Makes a backup.',
  sandbox: 'none',
  undo: 'none',
  timeout_s: 60,
};

/** JSON is YAML; a string or bytes are written as they are. Read-only, as 001 asks, unless told otherwise. */
export function writeRegistry(path: string, content: unknown, mode = 0o444): void {
  rmSync(path, { force: true });
  const as_it_is = typeof content === 'string' || content instanceof Uint8Array;
  writeFileSync(path, as_it_is ? content : JSON.stringify(content));
  chmodSync(path, mode);
}

export function readRegistry(path: string): {
  tools: Record<string, unknown>[];
  bindings: Record<string, unknown>[];
} {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** How many lines the tools have written to their log: how often they ran. */
export function runs({ log }: { readonly log: string }): number {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
}
