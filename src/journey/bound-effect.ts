import type { JsonObject } from '../canonical/json.ts';
import { boundTool } from '../tool/effect.ts';
import { toolNamed } from '../tool/select.ts';
import type { EffectBound } from './bound.ts';
import type { Context } from './context.ts';

/** The effect of a simulation as its definition has it. */
export type EffectTemplate =
  | { readonly tool: string }
  | { readonly plan: JsonObject; readonly config?: JsonObject | undefined };

/** What the effect of a simulation is, from the registry and the files as they are now. */
export async function boundEffect(context: Context, template: EffectTemplate): Promise<EffectBound> {
  if ('plan' in template) {
    // The plan executor is large: a tool call does not load it.
    const { boundPlan } = await import('./bound-plan.ts');
    return boundPlan(context, template.plan, template.config ?? null);
  }
  const { root, digests } = context;
  const registry = context.registry();
  return boundTool({ registry, tool: toolNamed(registry, template.tool), root, digests });
}
