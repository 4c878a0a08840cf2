import { canonicalText, type Json } from '../canonical/json.ts';
import { didYouMean, refuse } from '../refusal.ts';
import type { Arguments } from './arguments.ts';
import type { Registry, Tool } from './registry.ts';

interface Bound {
  readonly tool: Tool;
  readonly arguments: Arguments;
}

export function toolNamed(registry: Registry, name: string): Tool {
  const tool = registry.tools.get(name);
  if (tool) return tool;
  return refuse('TOOL_UNKNOWN', `There is no tool "${name}".${didYouMean(name, registry.tools.keys())}`, {
    tool: name,
  });
}

/** The one tool that the registry binds to an intent, with all its arguments. Nothing is guessed. */
export function toolOfIntent(registry: Registry, intent_id: string): Bound {
  const [binding, ...others] = registry.bindings.get(intent_id) ?? [];
  if (!binding) refuse('BINDING_MISSING', undefined, { intent_id });
  if (others.length > 0) refuse('BINDING_AMBIGUOUS', 'The registry has two bindings for this intent.');
  const names = typeof binding.tool === 'string' ? [binding.tool] : binding.tool;
  const [name, ...more] = names;
  if (name === undefined) refuse('BINDING_EMPTY', undefined, { intent_id });
  if (more.length > 0) refuse('BINDING_AMBIGUOUS', undefined, { tools: names.join(', ') });
  return { tool: toolNamed(registry, name), arguments: binding.arguments as Arguments };
}

/** Where the registry binds this intent id, what is proposed must be exactly that. */
export function requireBindingAgrees(
  registry: Registry,
  intent_id: string,
  tool: string,
  given: { readonly [name: string]: Json },
): void {
  if (!registry.bindings.has(intent_id)) return;
  const bound = toolOfIntent(registry, intent_id);
  if (bound.tool.name !== tool) refuse('BINDING_MISMATCH', `The registry binds "${bound.tool.name}".`);
  if (canonicalText(bound.arguments) !== canonicalText(given)) {
    refuse('BINDING_MISMATCH', 'The registry binds other arguments.');
  }
}
