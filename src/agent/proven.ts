import { provenAgent, provenSimulations } from '../journey/prove-agent.ts';
import type { AgentContext } from './context.ts';
import type { DispatchEnvelope } from './contracts.ts';
import { requireOrder, type StepInAgentPlan } from './step-in-plan.ts';
import { asked } from './weigh.ts';

/**
 * The current of a step that is to be dispatched, from rows that say what the entries say. The attacker can write to the
 * database file: a yes, a READY or an active simulation in a row is not enough.
 */
export async function requireProvenOrder(
  context: AgentContext,
  order: DispatchEnvelope,
): Promise<StepInAgentPlan> {
  await provenAgent(context.journey, order.correlation_id);
  const current = await requireOrder(context, order);
  const ids = asked(current.plan, current.step).map(({ simulation_id }) => simulation_id);
  await provenSimulations(context.journey, ids);
  return current;
}
