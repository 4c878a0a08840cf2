import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import { askToStop, isAskedToStop, saidGoing, sayGoing, unsayGoing } from '../effect/spool.ts';
import { limits } from '../limits.ts';
import type { Context } from './context.ts';

/** How far a call has come, as its server says. */
export const liveProgress = z.strictObject({ progress: z.number(), total: z.number().nullable() }).readonly();
export type LiveProgress = z.output<typeof liveProgress>;

/** Why a call is aborted: its caller cancelled it. What was ended half way for it is recorded as RUN_CANCELLED. */
export class Cancelled extends Error {}

type Hosts = Pick<Context, 'service_state' | 'runs_folder'>;

const GOING = 'run-going';
const STOP = 'run-stop';
const PROGRESS = 'run-progress';

/** Says now and then that the run goes on, to hosts that cannot look at its process. One that is over sooner says nothing. */
export async function sayingThatItGoesOn<T>(
  { service_state, runs_folder }: Hosts,
  execution_id: string,
  act: () => Promise<T>,
): Promise<T> {
  const { beat_ms, beat_missed_ms: ttl_ms, run_words: most } = limits;
  const say = () =>
    service_state?.put(GOING, { key: execution_id, value: '', ttl_ms }, most) ??
    sayGoing(runs_folder, execution_id);
  let said: Promise<void> | null = null;
  // Where it cannot be said the run goes on without it.
  const saying = setInterval(() => {
    said = say().catch(() => {});
  }, beat_ms).unref();
  try {
    return await act();
  } finally {
    clearInterval(saying);
    // What stands in the shared state ends by itself; and a store that does not answer keeps no run waiting.
    if (said !== null && service_state === null) {
      await said;
      await unsayGoing(runs_folder, execution_id);
    }
  }
}

export async function isSaidToGoOn(
  { service_state, runs_folder }: Hosts,
  execution_id: string,
): Promise<boolean> {
  if (service_state !== null) return (await service_state.get(GOING, execution_id)) !== null;
  const age_ms = await saidGoing(runs_folder, execution_id);
  return age_ms !== null && age_ms < limits.beat_missed_ms;
}

/** Its proposer wants the run to end. Hosts that share a ledger ask beside it; processes of one host by a file. */
export async function askRunToStop(
  { service_state, runs_folder }: Hosts,
  execution_id: string,
): Promise<void> {
  if (service_state === null) return askToStop(runs_folder, execution_id);
  const { run_words_ms: ttl_ms, run_words: most } = limits;
  await service_state.put(STOP, { key: execution_id, value: '', ttl_ms }, most);
}

/** Once: what asked for it is taken away. */
export async function isRunAskedToStop(
  { service_state, runs_folder }: Hosts,
  execution_id: string,
): Promise<boolean> {
  if (service_state === null) return isAskedToStop(runs_folder, execution_id);
  return (await service_state.take(STOP, execution_id)) !== null;
}

export interface ProgressTold {
  /** Waits for nothing. Where it cannot be told the run goes on without it. */
  tell(progress: LiveProgress): void;
  /** The record has it now. */
  end(): Promise<void>;
}

/** Tells other hosts how far a run has come: the newest, as often as a person could follow. */
export function progressTold({ service_state }: Hosts, execution_id: string): ProgressTold {
  if (service_state === null) return { tell: () => {}, end: async () => {} };
  const { run_words_ms: ttl_ms, run_words: most, run_told_ms } = limits;
  const ended = new AbortController();
  let newest: LiveProgress | null = null;
  let telling: Promise<void> | null = null;
  let was_told = false;
  const tellAll = async () => {
    while (newest !== null && !ended.signal.aborted) {
      const value = JSON.stringify(newest);
      newest = null;
      await service_state.put(PROGRESS, { key: execution_id, value, ttl_ms }, most);
      await pause(run_told_ms, null, { signal: ended.signal, ref: false });
    }
  };
  return {
    tell: (progress) => {
      newest = progress;
      was_told = true;
      telling ??= tellAll()
        .catch(() => {})
        .finally(() => {
          telling = null;
        });
    },
    end: async () => {
      ended.abort();
      await telling;
      if (was_told) await service_state.take(PROGRESS, execution_id).catch(() => {});
    },
  };
}

/** What the run said last; null where it said nothing, or only to its own host. */
export async function progressElsewhere(
  { service_state }: Hosts,
  execution_id: string,
): Promise<LiveProgress | null> {
  const text = (await service_state?.get(PROGRESS, execution_id)) ?? null;
  return text === null ? null : (liveProgress.safeParse(JSON.parse(text)).data ?? null);
}
