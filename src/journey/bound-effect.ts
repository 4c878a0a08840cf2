import type { EffectTemplate } from '../display/template.ts';
import { boundTool } from '../tool/effect.ts';
import type { Registry } from '../tool/registry.ts';
import { toolNamed } from '../tool/select.ts';
import type { EffectBound } from './bound.ts';
import type { Context } from './context.ts';

/** What the effect of a simulation is, from the registry and the files as they are now. */
export async function boundEffect(
  context: Context,
  template: EffectTemplate,
  registry: Registry,
): Promise<EffectBound> {
  if ('plan' in template) {
    // The plan executor is large: a tool call does not load it.
    const { boundPlan } = await import('./bound-plan.ts');
    return boundPlan(context, template.plan, template.config ?? null);
  }
  const { root, digests, userFor } = context;
  const tool = toolNamed(registry, template.tool);
  return boundTool({ registry, tool, arguments: template.arguments, root, digests, userFor });
}
