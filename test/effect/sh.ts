import type { ChildCommand } from '../../src/effect/child.ts';

/** A shell that does this. */
export const sh = (script: string, more: Partial<ChildCommand> = {}): ChildCommand => ({
  argv: ['/bin/sh', '-c', script],
  env: { PATH: '/usr/bin:/bin' },
  cwd: '/',
  timeout_ms: 60_000,
  stdout_bytes: 1000,
  stderr_bytes: 1000,
  ...more,
});
