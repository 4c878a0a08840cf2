import type { McpEffect } from '../mcp-call/effect.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { ToolEffect } from '../tool/effect.ts';
import type { SeenFiles } from './action.ts';
import { showMcp } from './mcp.ts';
import { showPlan } from './plan.ts';
import type { Shown } from './shown.ts';
import { showTool } from './tool.ts';

/** What a human must see of an effect. `seen` has the diffs of a plan, where the files are still what it was derived from. */
export function showEffect(
  effect: ToolEffect | PlanEffect | McpEffect,
  seen: SeenFiles | null = null,
): Shown {
  if (effect.kind === 'mcp') return showMcp(effect);
  return effect.kind === 'tool' ? showTool(effect) : showPlan(effect, seen);
}
