import { resolve } from 'node:path';
import type { Json } from '../canonical/json.ts';
import type { Digests } from '../effect/program.ts';
import { limits } from '../limits.ts';
import { deriveStart } from '../tool/effect.ts';
import type { Configured, RemoteStart } from './accepted.ts';
import type { RemoteEntry, ServerEntry } from './entry.ts';
import { scriptPaths, scriptsOf } from './script.ts';

/** How a server would be started, from its entry and the files as they are now. Nothing is started. */
export function startedBy(
  server: string,
  entry: ServerEntry,
  { root, digests }: { readonly root: string; readonly digests: Digests },
): Configured {
  const { mode, tools, pass: passed, ...started } = entry;
  const pass = [...new Set(passed)].sort();
  const modes = {
    server: mode,
    tools: Object.fromEntries(Object.entries(tools).map(([name, one]) => [name, one.mode])),
  };
  if ('url' in started) return { start: remoteBy(started), files: [], modes, pass };
  const { args, ...rest } = started;
  const tool = {
    ...rest,
    name: server,
    summary: `The MCP server ${server}`,
    args: [],
    parameters: {},
    stdout_bytes: limits.output_bytes,
    stderr_bytes: limits.output_bytes_default,
    undo: 'none' as const,
    template: [],
    definition: started as unknown as Json,
  };
  const start = deriveStart({ registry: { folder: root }, tool, root, digests }, args);
  const scripts = scriptPaths(resolve(root, started.executable), args, resolve(root, started.cwd));
  return { start, files: scriptsOf(scripts, digests), modes, pass };
}

function remoteBy({ timeout_s, url, ...rest }: Omit<RemoteEntry, 'mode' | 'tools' | 'pass'>): RemoteStart {
  return { kind: 'url', url: new URL(url).href, ...rest, timeout_ms: timeout_s * 1000 };
}
