import { expect } from 'vitest';
import type { IntentState } from '../../src/keyturn.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import type { Finished } from '../support/pty.ts';
import { runs } from '../support/registry.ts';
import { lines, NOTHING } from '../support/transcript.ts';
import { alone, filesOf, lookAt, runOf, type Stage } from './stage.ts';

/** Two lines for every check but the first: the one that it fixes, and why nothing was attempted. */
export const precondition = (reason: string) =>
  lines(`[ERROR] ${reason}`, `[ERROR] Cannot execute: ${reason}`) + NOTHING;

/** Check 1: what the controller of 000 said comes first. */
export const notEligible = (line: string) => lines(line) + precondition('Execution not eligible');

export const NOT_APPROVED = notEligible('[ERROR] Approval verification failed');

/** A precondition that 001 has no line for. */
export const OTHER =
  /^\[ERROR\] (Precondition failed: [^\n]+)\n\[ERROR\] Cannot execute: \1\nNo execution attempted\.\n$/;

/** Check 5, with its reason. */
export const INVALID =
  /^\[ERROR\] (Tool arguments invalid: [^\n]+)\n\[ERROR\] Cannot execute: \1\nNo execution attempted\.\n$/;

export const CANNOT = /^\[ERROR\] Cannot execute: [^\n]+\nNo execution attempted\.\n$/;

export const NOT_ORDERED = notEligible('[ERROR] Not ordered to run');

const ENDS: Readonly<Partial<Record<ReasonCode, string>>> = {
  RUN_FAILED: 'Execution failed',
  RUN_PARTIAL: 'Execution stopped half way',
};

/** An intent that ran, at the time at which its last attempt was claimed. */
export async function executed(set: Stage, code: ReasonCode = 'ALREADY_EXECUTED'): Promise<string> {
  const words = ENDS[code] ?? 'Intent already executed';
  return notEligible(`[ERROR] ${words} at ${(await runOf(set)).claimed_at}`);
}

/** Exact stdout, exit 1, and one line on stderr that begins with the reason code. */
export function expectRefused(answer: Finished, stdout: string | RegExp, code: ReasonCode): void {
  if (typeof stdout === 'string') expect(answer.stdout).toBe(stdout);
  else expect(answer.stdout).toMatch(stdout);
  expect(answer.stderr).toMatch(new RegExp(`^${code}: [^\\n]+\\n$`));
  expect(answer.code).toBe(1);
}

/**
 * Runs without a terminal, which every refusal of a check comes before. One refusal is recorded and nothing else is
 * done: no process, no file, no change of the intent.
 */
export async function refused(
  set: Stage,
  stdout: string | RegExp,
  code: ReasonCode,
  words = set.words,
): Promise<void> {
  const before = await pictureOf(set);
  expectRefused(await alone(set, words), stdout, code);
  const after = await pictureOf(set);
  expect(after).toEqual({ ...before, ledger: expect.anything() });
  expect(after.ledger.slice(0, -1)).toEqual(before.ledger);
  const body = { hash: words[2], reason_code: code };
  expect(after.ledger.at(-1)).toMatchObject({ kind: 'execution.refused', subject: words[1], body });
}

async function pictureOf(set: Stage) {
  const { ledger, state } = await lookAt(set);
  return { ledger, state: state as IntentState, files: filesOf(set), runs: runs(set) };
}
