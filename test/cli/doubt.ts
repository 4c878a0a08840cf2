import { appendFileSync, chmodSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { ReasonCode } from '../../src/refusal.ts';
import { processesWith } from '../support/processes.ts';
import type { Finished } from '../support/pty.ts';
import { readRegistry, runs, writeRegistry } from '../support/registry.ts';
import { failureReport, preScreen } from '../support/transcript.ts';
import { executed, expectRefused, refused } from './refused.ts';
import { alone, inside, ledgerOf, type Play, play, runOf, type Stage } from './stage.ts';

/** What can happen between the question and the y, and why the run is then refused. */
export const MEANWHILE: readonly [ReasonCode, (set: Stage) => unknown][] = [
  ['EXECUTABLE_CHANGED', ({ script }) => appendFileSync(script, 'echo more\n')],
  ['EXECUTABLE_MISSING', ({ script }) => rmSync(script)],
  ['REGISTRY_WRITABLE', ({ registry }) => chmodSync(registry, 0o644)],
  ['TOOL_UNKNOWN', ({ registry }) => writeRegistry(registry, { version: 1, tools: [] })],
  ['EFFECT_CHANGED', (set) => changeTool(set, { args: ['--all'] })],
  ['INTENT_REJECTED', rejectNow],
  ['ALREADY_EXECUTED', play],
];

/** Writes another definition of the stage's tool. */
export function changeTool({ registry }: Stage, change: object): void {
  const { tools, ...rest } = readRegistry(registry);
  writeRegistry(registry, { ...rest, tools: [{ ...tools[0], ...change }, ...tools.slice(1)] });
}

function rejectNow(set: Stage): Promise<unknown> {
  const { id: intent_id, hash, signer } = set;
  return inside(set, ({ intents }) => intents.reject({ intent_id, hash, reason: 'No.', signer }));
}

/** A tool that waits at its end until the file is there. */
export const WAITING = 'echo ran >> "$LOG"; while [ ! -e "$LOG.go" ]; do sleep 0.02; done; echo done';

/** A tool with children. In a sandbox one of them tries to leave its session, and must not get away either. */
export function family(sandbox: unknown, timeout_s: number): Play {
  const leave = sandbox === 'none' ? '' : 'setsid';
  return {
    body: `sleep 300 & ${leave} sleep 300 & echo half way >&2; echo ran >> "$LOG"; wait`,
    tool: { sandbox, timeout_s, secrets: ['MARK'] },
  };
}

/** The effect may have happened: nothing starts it again, and `status` says so first. */
export async function expectInDoubt(set: Stage, code: ReasonCode = 'RUN_IN_DOUBT'): Promise<void> {
  const { execution_id } = await runOf(set);
  await refused(set, await executed(set, code), code);
  const { stdout } = await alone(set, ['status']);
  expect(
    stdout.startsWith(`!!! IN DOUBT ${execution_id.slice(0, 8)}: the effect may have happened !!!\n`),
  ).toBe(true);
  expect(runs(set)).toBe(1);
}

/** The failure report of a tool that was killed, and what it leaves behind: nothing but a run that blocks. */
export async function expectKilled(
  set: Stage,
  seen: Finished,
  code: ReasonCode,
  mark: string,
): Promise<void> {
  const report = failureReport(await runOf(set), 'none', ['  half way'], 'partial');
  expectRefused(seen, `${preScreen(set)}${report}`, code);
  expect(processesWith(mark)).toEqual([]);
  const body = { result: 'partial', reason_code: code, exit_code: null };
  expect((await ledgerOf(set)).at(-1)).toMatchObject({ kind: 'execution.finished', body });
  await expectInDoubt(set, 'RUN_PARTIAL');
}
