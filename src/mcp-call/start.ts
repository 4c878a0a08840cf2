import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { sha256 } from '../canonical/digest.ts';
import type { Json } from '../canonical/json.ts';
import { readRegularFile } from '../durable/beneath.ts';
import type { Digests } from '../effect/program.ts';
import { limits } from '../limits.ts';
import { deriveStart } from '../tool/effect.ts';
import type { Configured, RemoteStart, Started } from './accepted.ts';
import type { RemoteEntry, ServerEntry } from './entry.ts';

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
  return { start, files: filesIn(args, resolve(root, started.cwd)), modes, pass };
}

function remoteBy({ timeout_s, url, ...rest }: Omit<RemoteEntry, 'mode' | 'tools' | 'pass'>): RemoteStart {
  return { kind: 'url', url: new URL(url).href, ...rest, timeout_ms: timeout_s * 1000 };
}

/** A script that an interpreter runs is what the server is. Other files in a command line, such as a database, change as they are used. */
export const SCRIPT: RegExp = /\.(?:[cm]?[jt]s|py|pyz|rb|sh|pl|php|jar|lua|exs|wasm)$/;

function filesIn(args: readonly string[], cwd: string): Started['files'] {
  const found = args.flatMap((arg) => {
    if (!SCRIPT.test(arg)) return [];
    const path = realFile(isAbsolute(arg) ? arg : resolve(cwd, arg));
    return path === null ? [] : [path];
  });
  return [...new Set(found)].sort().map((path) => ({
    path,
    sha256: sha256(readRegularFile(path, limits.condition_file_bytes).bytes),
  }));
}

function realFile(path: string): string | null {
  try {
    const real = realpathSync.native(path);
    const stats = statSync(real);
    return stats.isFile() && stats.size <= limits.condition_file_bytes ? real : null;
  } catch {
    return null;
  }
}
