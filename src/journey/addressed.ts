import { audienceOf, calledBy, type Executor, isAddressed, type System } from '../gate/system.ts';
import { Refusal, refuse } from '../refusal.ts';
import type { Context } from './context.ts';
import type { Effect } from './derived.ts';
import { executorIn } from './reach.ts';

/** The executor that this host is now; null where it is none. */
function ownExecutor(context: Context, { executors }: System): Executor | null {
  const public_key = ownKey(context);
  return executors.find((one) => one.public_key === public_key && one.revoked_at === null) ?? null;
}

function ownKey({ executor_key }: Context): string | null {
  try {
    return executor_key().public_key;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Whether an order with this address is for this host. */
export function isForThisHost(context: Context, system: System, audience: string): boolean {
  if (audience === context.audience) return true;
  const own = ownExecutor(context, system);
  return own !== null && isAddressed(system, own, audience);
}

/** Refuses, before anything is looked at that only another host has, what the registry binds to that one. */
export function requireBoundHere(executor: Executor, effect: Effect): void {
  const called = executorIn(effect);
  if (called !== null && !calledBy(executor).includes(called))
    refuse('EXECUTOR_ELSEWHERE', `It is for an executor called "${called}".`, { called });
}

/** The executors that could take what is addressed so. */
export function executorsFor(system: System, audience: string): Executor[] {
  return system.executors.filter((one) => one.revoked_at === null && isAddressed(system, one, audience));
}

/**
 * What an order for this effect is addressed to. Refused where the registry binds the effect to another executor, or to one that is not
 * enrolled: such an order would only lapse.
 */
export function orderAudience(context: Context, system: System, effect: Effect, asked?: string): string {
  const called = executorIn(effect);
  if (called === null) return asked ?? context.audience;
  const bound = audienceOf(system.origin, called);
  if (asked !== undefined && asked !== bound)
    refuse('EXECUTOR_ELSEWHERE', `It is for an executor called "${called}", and not for ${asked}.`, {
      called,
    });
  if (executorsFor(system, bound).length === 0)
    refuse('EXECUTOR_ABSENT', `No executor called "${called}" is enrolled.`, { called });
  return bound;
}
