import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOOL, writeRegistry } from '../support/registry.ts';
import { scratch } from '../support/scratch.ts';
import { approval, folder, HASH, ID } from './lane.ts';

/** A queue with one approved intent, and a registry that binds it to a script. */
export interface Stage {
  readonly queue: string;
  readonly registry: string;
  readonly script: string;
  /** What the script appends to, to show that it ran. */
  readonly log: string;
  readonly words: string[];
}

export interface Play {
  /** The body of the script. `$LOG` is the log and `$QUEUE` the queue folder. */
  readonly body?: string;
  readonly tool?: Record<string, unknown>;
  readonly arguments?: Record<string, unknown>;
  readonly bindings?: unknown;
  readonly more_tools?: readonly Record<string, unknown>[];
}

export function stage(play: Play = {}): Stage {
  const home = scratch();
  const [queue, log] = [folder({ approved: [approval()] }), join(home, 'log')];
  const script = join(home, 'create_backup.sh');
  const registry = join(home, 'tools.yaml');
  writeFileSync(script, `#!/bin/sh\n${play.body ?? 'echo ran >> "$LOG"; echo Backup created'}\n`, {
    mode: 0o755,
  });
  const tool = { ...TOOL, executable: script, env: { LOG: log, QUEUE: queue }, ...play.tool };
  const bindings = play.bindings ?? [{ intent: ID, tool: 'create_backup', arguments: play.arguments ?? {} }];
  writeRegistry(registry, { version: 1, tools: [tool, ...(play.more_tools ?? [])], bindings });
  const words = ['lane', 'run', ID, HASH, '--queue', queue, '--registry', registry];
  return { queue, registry, script, log, words };
}

/** Everything about a queue folder and its registry that a refused run must leave alone. */
export function picture({ queue, registry }: Stage): unknown[] {
  const files = [...readdirSync(queue).map((name) => join(queue, name)), registry];
  return files.filter(existsSync).map((file) => {
    const status = statSync(file, { bigint: true });
    const { mode, mtimeNs, ino } = status;
    return [file, mode, mtimeNs, ino, status.isDirectory() ? '' : readFileSync(file, 'utf8')];
  });
}
