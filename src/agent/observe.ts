import type { Facts } from '../telemetry.ts';
import type { Dispatched } from './answer-shape.ts';
import type { AgentContext } from './context.ts';
import type { DispatchEnvelope } from './contracts.ts';
import { dispatch } from './executor.ts';

/** The executor, with a span around each dispatch: codes and ids. What the user is told is the user's. */
export async function observedDispatch(context: AgentContext, given: unknown): Promise<Dispatched> {
  return context.journey.telemetry.span('dispatch', () => dispatch(context, given), {
    about: { correlation_id: (given as Partial<DispatchEnvelope> | null)?.correlation_id },
    end: factsOf,
  });
}

function factsOf(done: Dispatched): Facts {
  if (done.kind === 'AWAITS_APPROVER') return { result: 'awaits_approver', intent_id: done.intent_id };
  const { simulation_outcome, reason_code } = done.outcome;
  if (simulation_outcome === null) return { code: reason_code };
  const { result, intent_id, execution_id, capability_id } = simulation_outcome;
  return { result, code: result === 'success' ? 'OK' : reason_code, intent_id, execution_id, capability_id };
}
