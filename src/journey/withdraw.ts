import type { Event } from '../event/event.ts';
import { type Signer, signWithdrawal } from '../identity/act.ts';
import { Refusal, refuse } from '../refusal.ts';
import { type Context, requireIntent } from './context.ts';
import { isAtWork, openWork } from './life.ts';

export interface WithdrawRequest {
  readonly intent_id: string;
  readonly reason: string;
  /** What `propose` returned, unless the proposal was signed. */
  readonly receipt?: string | null;
  /** The key of the proposer, in place of the receipt. */
  readonly signer?: Signer;
  /** The entry point found out, by a token or a key, that the caller is the proposer: the receipt of this host stands for that. */
  readonly is_proposer?: boolean;
}

/** Its proposer takes an intent back, for good: it cannot be approved, ordered or run any more. A run that began goes on. */
export async function withdraw(
  context: Context,
  { intent_id, reason, signer, is_proposer = false, receipt: shown = null }: WithdrawRequest,
): Promise<Event<'intent.withdrawn'>> {
  const { origin, store } = context;
  const { hash, proposer } = await requireIntent(context, intent_id);
  const receipt = shown ?? (is_proposer && !signer ? context.own_receipt(intent_id) : null);
  if (receipt === null && signer === undefined) refuse('RECEIPT_INVALID');
  if (receipt !== null && signer !== undefined)
    refuse('RECEIPT_INVALID', 'A receipt was shown and a key was used: one of them is enough.');
  if (signer && signer.name !== proposer)
    refuse('RECEIPT_INVALID', `It is "${proposer}" who proposed it, not "${signer.name}".`);
  const proof = signer
    ? {
        proposer_signature: await signWithdrawal({ origin, intent_id, hash, reason }, signer),
        proposer_key: signer.public_key,
      }
    : { proposer_signature: null, proposer_key: null };
  const event: Event<'intent.withdrawn'> = {
    kind: 'intent.withdrawn',
    subject: intent_id,
    body: { hash, by: proposer, reason, receipt, ...proof },
  };
  try {
    await store.commit({ events: [event] });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RUN_IN_DOUBT') await refuseGoing(context, intent_id);
    throw error;
  }
  return event;
}

/** What a process works on is not in doubt, which is all that the ledger can say of it. */
async function refuseGoing(context: Context, intent_id: string): Promise<void> {
  const work = openWork(await requireIntent(context, intent_id));
  if (work === null || !(await isAtWork(context, work))) return;
  const { execution_id } = work;
  const why = 'It runs by now, so it can no longer be taken back. A human can stop the run.';
  refuse('RUN_STILL_ALIVE', why, { execution_id });
}
