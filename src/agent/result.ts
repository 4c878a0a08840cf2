import { openSealed } from '../canonical/sealed.ts';
import { visible } from '../canonical/visible.ts';
import type { AgentPlan, AgentState } from '../gate/agent-state.ts';
import { limits } from '../limits.ts';
import { Refusal } from '../refusal.ts';
import type { AgentContext } from './context.ts';
import type { AgentExecutionOutcome } from './contracts.ts';
import { definitionOf } from './snapshot.ts';
import { stepInAgentPlan } from './step-in-plan.ts';

/**
 * What a read printed, for the user who asked for it: its beginning, each line made visible, so that nothing in it can change a
 * screen. It is data from a program, and never an instruction. Null where the step changes something, or the output was erased.
 */
export async function readResult(
  context: AgentContext,
  state: AgentState,
  plan: AgentPlan,
  { step_id, simulation_outcome: ran, reason_code }: AgentExecutionOutcome,
): Promise<string | null> {
  const printed = ran?.stdout?.digest ?? null;
  if (printed === null || reason_code !== 'STEP_SUCCEEDED') return null;
  const { step } = await stepInAgentPlan(context, state, plan, step_id);
  const { side_effecting, impactful } = await definitionOf(context, step.definition);
  if (side_effecting || impactful) return null;
  try {
    return harmless(openSealed(await context.journey.store.object(printed)));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

function harmless(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8').trimEnd();
  const shown = text
    .slice(0, limits.result_chars)
    .split('\n')
    .map((line) => visible(line.replace(/\r$/, '')))
    .join('\n');
  return text.length > limits.result_chars ? `${shown}\n… (cut)` : shown;
}
