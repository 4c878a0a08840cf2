import type { Digest } from '../canonical/digest.ts';
import type { Machine } from '../effect/machine.ts';
import type { Digests } from '../effect/program.ts';
import type { Body, Event } from '../event/event.ts';
import type { IntentState } from '../gate/state.ts';
import { limits } from '../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../refusal.ts';
import type { Store } from '../store/store.ts';
import type { Registry } from '../tool/registry.ts';

/** What every step of the journey needs. Built once, by keyturn.ts. */
export interface Context {
  readonly store: Store;
  /** Names project and tenant; every signature covers it. */
  readonly origin: string;
  readonly clock: () => Date;
  /** The project's folder: relative paths in the registry that a tool sees begin here. */
  readonly root: string;
  readonly registry_path: string;
  /** Reads the registry again each time; one whose bytes did not change is not parsed again. */
  readonly registry: () => Registry;
  /** What was hashed before and has not changed since, so that a large interpreter is not read at every step. */
  readonly digests: Digests;
  /** Entries whose signatures this process has verified, by hash. */
  readonly verified: Set<Digest>;
  /** This process, as its claims name it. */
  readonly process: Body<'execution.claimed'>['executor'];
  /** Looks at the machine again each time; bubblewrap is asked what it can only when it is another one. */
  readonly machine: () => Machine;
  /** Keyturn's own files: no tool sees the first, no tool writes the second. */
  readonly hidden_paths: readonly string[];
  readonly protected_paths: readonly string[];
  /** A lock file for each run without a sandbox: it tells whether the tool outlived the process that started it. */
  readonly runs_folder: string;
  readonly intent_ttl_s: number;
  readonly approval_ttl_s: number;
}

export async function requireIntent(context: Context, intent_id: string): Promise<IntentState> {
  return (await context.store.intent(intent_id)) ?? refuse('INTENT_NOT_FOUND');
}

/** Nothing that expires can be judged by a clock that is behind the ledger. */
export async function requireClock(context: Context): Promise<Date> {
  const now = context.clock();
  const { at } = await context.store.tip();
  if (at !== null && now.getTime() < Date.parse(at) - limits.clock_skew_ms) refuse('CLOCK_BEHIND');
  return now;
}

/** Runs a step whose refusal is a fact: it is recorded once, then thrown on. */
export async function recordingRefusal<T>(
  context: Context,
  refusalEvent: (code: ReasonCode) => Event,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof Refusal && isDecision(error.code)) {
      await context.store.commit({ events: [refusalEvent(error.code)] });
    }
    throw error;
  }
}

/** A broken store cannot record, a run that may have happened is no refusal, and nobody said no where nobody was asked. */
const UNRECORDED: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'RECORDING_FAILED',
  'CONFIRMATION_DECLINED',
  'NO_TERMINAL',
  'STORE_CORRUPT',
  'STORE_READ_ONLY',
  'STORE_BUSY',
  'STORE_NEWER',
  'STORE_MISSING',
  'DISK_FULL',
  'WRITE_FAILED',
  'INTERNAL',
]);

function isDecision(code: ReasonCode): boolean {
  return !UNRECORDED.has(code);
}
