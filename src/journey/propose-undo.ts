import type { Signer } from '../identity/act.ts';
import { parseDraft } from '../intent/envelope.ts';
import { type Context, requireIntent } from './context.ts';
import { type Proposal, propose } from './propose.ts';
import { undoDue } from './undo.ts';

export interface UndoRequest {
  /** The intent whose run is undone. */
  readonly intent_id: string;
  readonly issuer?: string | undefined;
  readonly declared_goal?: string | undefined;
  readonly nonce?: string | undefined;
}

/** Proposes the call that the registry declared to undo a tool. It is an intent like any other: a human decides on it. */
export async function proposeUndo(
  context: Context,
  request: UndoRequest,
  signer?: Signer,
): Promise<Proposal> {
  const { intent_id, issuer, declared_goal, nonce } = request;
  const state = await requireIntent(context, intent_id);
  const call = await undoDue(context, state);
  const draft = parseDraft({
    declared_goal: declared_goal ?? `Undo ${state.tool} of ${intent_id}.`,
    effect: { kind: 'tool', ...call },
    undoes: intent_id,
    ...(issuer !== undefined && { issuer }),
    ...(nonce !== undefined && { nonce }),
  });
  return propose(context, draft, signer);
}
