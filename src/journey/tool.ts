import { join } from 'node:path';
import type { Json } from '../canonical/json.ts';
import type { ChildOutcome } from '../effect/child.ts';
import type { ReasonCode } from '../refusal.ts';
import { compareEffects, deriveEffect, type ToolEffect } from '../tool/effect.ts';
import { prepareRun } from '../tool/run.ts';
import { requireBindingAgrees, toolNamed } from '../tool/select.ts';
import type { Context } from './context.ts';
import type { Derived, Ended } from './derived.ts';
import { confinedTo } from './reach.ts';

export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, Json>>;
}

/**
 * A tool call: the registry must be locked, the tool in it, the arguments valid, the executable there. Whether its user reaches
 * everything is asked here, or by `prepare` where that follows at once.
 */
export async function deriveToolCall(
  context: Context,
  call: ToolCall,
  intent_id: string | null,
  is_prepared = false,
): Promise<Derived> {
  const registry = context.registry();
  const tool = toolNamed(registry, call.tool);
  if (intent_id !== null) requireBindingAgrees(registry, intent_id, tool.name, call.arguments);
  const { root, digests, userFor } = context;
  const fixed = intent_id !== null && registry.bindings.has(intent_id);
  const asked = { registry, tool, arguments: call.arguments, fixed, root, digests, userFor, is_prepared };
  const effect = deriveEffect(asked);
  return {
    effect,
    registry_digest: registry.digest,
    registry_bytes: registry.bytes,
    name: tool.name,
    contents: [],
    approvals_needed: 1,
    requireSame: (approved) => compareEffects(approved as ToolEffect, effect),
    prepare(scope, secrets) {
      const { hidden_paths: hidden, protected_paths, starter } = context;
      const machine = context.machine();
      const lock = runLock(context, 'next');
      const prepared = prepareRun(confinedTo(effect, scope), {
        hidden,
        protected: protected_paths,
        machine,
        starter,
        digests,
        userFor,
        lock,
        secrets,
      });
      return {
        reports: null,
        run: async ({ execution_id, abort, onOutput }) =>
          ended(
            await prepared.run({ lock: runLock(context, execution_id), onOutput, ...(abort && { abort }) }),
          ),
        close: prepared.close,
      };
    },
  };
}

/** The lock that every process of one run holds, as long as it lives. */
export function runLock({ runs_folder }: Context, execution_id: string): string {
  return join(runs_folder, `${execution_id}.lock`);
}

function ended(outcome: ChildOutcome): Ended {
  const { exit_code, signal, started_at, finished_at, stdout, stderr } = outcome;
  const { result, reason_code } = judge(outcome);
  return { result, reason_code, exit_code, signal, started_at, finished_at, stdout, stderr, reports: {} };
}

/** A tool that was killed may have done half of its work: that is `partial`, and blocks like in doubt. */
function judge(outcome: ChildOutcome): { result: Ended['result']; reason_code: ReasonCode | null } {
  if (!outcome.started) return { result: 'failure', reason_code: 'TOOL_NOT_STARTED' };
  if (outcome.timed_out) return { result: 'partial', reason_code: 'TOOL_TIMED_OUT' };
  if (outcome.signal !== null) return { result: 'partial', reason_code: 'TOOL_KILLED' };
  if (outcome.exit_code !== 0) return { result: 'failure', reason_code: 'TOOL_EXIT_NONZERO' };
  return { result: 'success', reason_code: null };
}
