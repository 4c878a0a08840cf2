import type { ToolEffect } from '../../src/tool/effect.ts';

/** A tool call with every alarm. */
export const TOOL_EFFECT: ToolEffect = {
  kind: 'tool',
  tool: 'copy',
  action: 'tool:copy',
  category: null,
  arguments: { file: 'Ada Lovelace.txt' },
  argv: ['/bin/cp', '--', 'Ada Lovelace.txt', 'out/copy'],
  chosen: [{ parameter: 'file', element: 2, start: 0, end: 12 }],
  executables: [{ called: '/bin/cp', path: '/usr/bin/cp', sha256: 'a'.repeat(64) }],
  covers: null,
  run_as: 'root',
  executor: 'database',
  env: { LANG: 'C' },
  secrets: { TOKEN: 'backup.token' },
  cwd: '/srv/project',
  timeout_ms: 60_000,
  stdout_bytes: 1024,
  stderr_bytes: 1024,
  sandbox: 'none',
  limits: null,
  undo: 'none',
  undone_by: { tool: 'remove', arguments: { file: '{file}' } },
  definition_digest: 'b'.repeat(64),
};
