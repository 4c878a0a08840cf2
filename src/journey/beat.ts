import { setTimeout as pause } from 'node:timers/promises';
import type { WaitsFor } from '../display/unserved.ts';
import { limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { Beat } from '../store/store.ts';
import { executorsFor, isForThisHost } from './addressed.ts';
import type { Context } from './context.ts';

/** Says now and then that this executor runs, until the signal; then that it stopped, if it did. Nothing is decided by it, so what cannot be said is passed over. */
export async function keepBeating(
  { beats, executor_key, process: { instance = '' } }: Context,
  signal: AbortSignal,
  hasStopped: () => boolean,
): Promise<void> {
  const say = async (is_running: boolean) => {
    try {
      await beats.beat({ executor: executor_key().public_key, instance, is_running });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  };
  while (!signal.aborted) {
    await say(true);
    await pause(limits.beat_ms, null, { signal }).catch(() => {});
  }
  if (hasStopped()) await say(false);
}

/** What each executor said last, by its key; nothing where that cannot be read. */
export async function heardNow({ beats }: Context): Promise<ReadonlyMap<string, Beat>> {
  try {
    return new Map((await beats.heard()).map((one) => [one.executor, one]));
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}

export async function waitsFor(context: Context, audience: string): Promise<WaitsFor> {
  const system = await context.store.system();
  const addressed = executorsFor(system, audience);
  const heard = await heardNow(context);
  const own = `${system.origin}/`;
  return {
    executor: audience.startsWith(own) ? audience.slice(own.length) : audience,
    enrolled: addressed.length,
    running: addressed.filter(({ public_key }) => heard.get(public_key)?.is_running).length,
    is_here: isForThisHost(context, system, audience),
  };
}

/** How many executors may run, and how many of them said lately that they do. */
export async function executorsNow(
  context: Context,
): Promise<{ readonly enrolled: number; readonly running: number }> {
  const enrolled = (await context.store.system()).executors.filter(({ revoked_at }) => revoked_at === null);
  const heard = await heardNow(context);
  return {
    enrolled: enrolled.length,
    running: enrolled.filter(({ public_key }) => heard.get(public_key)?.is_running).length,
  };
}
