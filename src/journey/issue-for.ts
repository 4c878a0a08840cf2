import { isOfPolicies } from '../fold/decided.ts';
import { currentCapability } from '../gate/capability.ts';
import { isAddressed, requireExecutor } from '../gate/system.ts';
import { Refusal, refuse } from '../refusal.ts';
import { requireFormats } from './check.ts';
import type { Context, Kept } from './context.ts';
import type { IssueAnswer, IssueAsked } from './control-plane.ts';
import { issueNow, type Noted } from './issue.ts';
import { askedToRun } from './ready.ts';

/**
 * Decides for an executor on a host without a control key whether what was ordered is issued, and signs that. It writes nothing: the executor
 * writes it together with its claim, and the store looks again at what it rests on. A denial is written by the executor, too.
 */
export async function issueFor(
  context: Context,
  executor: string,
  { intent_id, hash, order_id }: IssueAsked,
): Promise<IssueAnswer> {
  requireFormats(intent_id, hash);
  const about = await askedToRun(context, { intent_id, hash }, executor);
  const { system, now } = about;
  const order = currentCapability(about.standing.state, now);
  if (order.capability_id !== order_id || order.status !== 'ordered' || order.holder !== null)
    refuse('ORDER_MISSING', 'This order is not open.');
  if (!isAddressed(system, requireExecutor(system, executor), order.audience))
    refuse('EXECUTOR_ELSEWHERE', `It is ordered for ${order.audience}.`);
  const denial: { decision: Kept | null } = { decision: null };
  const noted: Noted = { denied_order: null };
  try {
    const keep = (ruling: Kept) => {
      denial.decision = ruling;
    };
    const { issued, token, objects } = await issueNow(context, about, order, { keep, noted });
    return { issued: issued.body, token, decision: Buffer.from(objects[1]!).toString('base64') };
  } catch (error) {
    const { decision } = denial;
    if (!(error instanceof Refusal) || decision === null || !isOfPolicies(error.code)) throw error;
    const denied = error.code as Extract<IssueAnswer, { denied: unknown }>['denied'];
    return { denied, words: error.message, decision: Buffer.from(decision.bytes).toString('base64') };
  }
}
