import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './table.ts';
import { usual } from './timing.ts';

/** What starting a command costs, beside starting node alone. */
export interface Starts {
  readonly node_ms: number;
  readonly command_ms: number;
  /** The same ratio in processor time, of all runs together. */
  readonly cpu_ratio: number;
}

const HASH = 'ab'.repeat(32);

/** A queue in the form that 000 and 001 write, and the one question to ask of it. */
export function writeQueue(folder: string, lines: number): string[] {
  mkdirSync(folder);
  const id = randomUUID();
  const at = new Date().toISOString();
  const approved = Array.from({ length: lines - 1 }, () => approvalOf(randomUUID(), at));
  const executed = Array.from({ length: lines }, (_, i) => recordOf(randomUUID(), at, i));
  writeFileSync(join(folder, 'approved.jsonl'), [...approved, approvalOf(id, at)].join(''));
  writeFileSync(join(folder, 'executed.jsonl'), executed.join(''));
  return ['lane', 'check', id, HASH, '--queue', folder];
}

function approvalOf(id: string, timestamp: string): string {
  return `${JSON.stringify({ id, timestamp, hash: HASH })}\n`;
}

function recordOf(id: string, timestamp: string, i: number): string {
  const outcome = i % 2 === 0 ? 'success' : 'failure';
  return `${JSON.stringify({ id, timestamp, tool: 'deploy', exit_code: i % 2, outcome })}\n`;
}

/** Starts `node -e 0` and each command in turn, so that all meet the same moods of the machine. */
export function measureStarts(
  cli: string,
  commands: readonly (readonly string[])[],
  rounds: number,
): Starts[] {
  const programs = [['-e', '0'], ...commands.map((words) => [cli, ...words])];
  for (const args of programs) requireYes(args);
  const walls = programs.map((): number[] => []);
  const cpus = programs.map(() => 0);
  for (let round = 0; round < rounds; round++) {
    for (const [i, args] of programs.entries()) {
      const cpu = childrenTicks();
      walls[i]!.push(startOnce(args));
      cpus[i]! += childrenTicks() - cpu;
    }
  }
  const [node_ms, ...command_ms] = walls.map(usual) as [number, ...number[]];
  return command_ms.map((ms, i) => ({ node_ms, command_ms: ms, cpu_ratio: cpus[i + 1]! / cpus[0]! }));
}

/** Also the run that keeps the compiled code for those that are measured. */
function requireYes(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')} said: ${stdout}${stderr}`);
}

export function startRow(figure: string, { node_ms, command_ms, cpu_ratio }: Starts, most: number): Row {
  const ratio = command_ms / node_ms;
  return {
    figure,
    measured: `${ratio.toFixed(2)} x node -e 0`,
    asked: `<= ${most}`,
    verdict: ratio <= most ? 'ok' : 'MISSED',
    baseline: `${command_ms.toFixed(0)} ms against ${node_ms.toFixed(0)} ms wall; CPU ${cpu_ratio.toFixed(2)} x`,
  };
}

function startOnce(args: readonly string[]): number {
  const from = process.hrtime.bigint();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/**
 * Processor time of all children that ended, user and system, in clock ticks of 10 ms (fields 16 and 17). The kernel
 * adds up finer than it shows, so over many runs the rounding evens out.
 */
function childrenTicks(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[13]) + Number(fields[14]);
}
