import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arguments } from '../../src/tool/arguments.ts';
import { deriveEffect, type ToolEffect } from '../../src/tool/effect.ts';
import { loadRegistry, type Registry } from '../../src/tool/registry.ts';
import { toolNamed } from '../../src/tool/select.ts';

/** An entry that is right; a test changes what it is about. */
export const ENTRY = {
  name: 'say',
  summary: 'Says something.',
  executable: '/bin/echo',
  args: ['{words}'],
  parameters: { words: { type: 'string' } },
  sandbox: 'none',
  undo: 'none',
};

/** Writes a locked registry. JSON is YAML, so objects will do. */
export function writeRegistry(folder: string, content: unknown, mode = 0o444): string {
  const path = join(folder, 'tools.yaml');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 1));
  chmodSync(path, mode);
  return path;
}

export function registryOf(folder: string, ...tools: object[]): Registry {
  return loadRegistry(writeRegistry(folder, { version: 1, tools }));
}

/** Registers one tool and derives what calling it would do. */
export function effectOf(folder: string, entry: object, given: Arguments = {}): ToolEffect {
  const registry = registryOf(folder, { ...ENTRY, args: [], parameters: {}, ...entry });
  return deriveEffect({ registry, tool: toolNamed(registry, 'say'), arguments: given, root: folder });
}

/** An executable shell script that does this. */
export function script(folder: string, body: string, name = 'tool.sh'): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
