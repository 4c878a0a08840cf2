import type { IntentState } from '../gate/state.ts';
import { openEnvelope } from '../intent/envelope.ts';
import { compareEffects, deriveEffect, type Effect, openEffect } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
import { requireBindingAgrees, toolNamed } from '../tool/select.ts';
import type { Context } from './context.ts';

export interface Derived {
  readonly registry: Registry;
  readonly effect: Effect;
}

/**
 * Derives the effect again from the world as it is now (registry, arguments, executable bytes) and refuses any
 * difference from what the hash covers. Checks 2 to 5 of 001, in their order.
 */
export async function requireSameEffect(context: Context, state: IntentState): Promise<Derived> {
  const registry = context.registry();
  const envelope = openEnvelope(await context.store.object(state.hash));
  const tool = toolNamed(registry, envelope.effect.tool);
  requireBindingAgrees(registry, state.intent_id, tool.name, envelope.effect.arguments);
  const effect = deriveEffect({
    registry,
    tool,
    arguments: envelope.effect.arguments,
    root: context.root,
    digests: context.digests,
  });
  const approved = openEffect(await context.store.object(state.effect_digest));
  compareEffects(approved, effect);
  return { registry, effect };
}
