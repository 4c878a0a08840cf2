import type { App, Me } from './app.ts';
import type { SignatureAsked } from './gesture.ts';
import type { Looked, May } from './looked.ts';

/** The same signature approves and orders one run. */
export function turnAsked({ review: { intent, envelope }, sealed }: Looked): SignatureAsked {
  const { intent_id, attempt, actions } = intent;
  const { hash, effect_digest } = sealed;
  const action =
    actions.length === 1 ? actions[0]! : envelope.effect.kind !== 'plan' ? actions[0]! : undefined;
  return {
    verb: 'intents.turn',
    request: { intent_id, hash, shown: { attempt, effect_digest }, ...(action !== undefined && { action }) },
    expected: {
      kind: 'order.given',
      subject: intent_id,
      fixed: {
        attempt,
        hash,
        effect_digest,
        bounds: null,
        holder: null,
        delegation: null,
        ...(action !== undefined && { action }),
      },
      free: [
        'order_id',
        'audience',
        'expires_at',
        'lapses_at',
        'approves_until',
        ...(action === undefined ? ['action'] : []),
      ],
    },
  };
}

export function approveAsked({
  review: { intent },
  sealed: { hash, effect_digest },
}: Looked): SignatureAsked {
  const { intent_id } = intent;
  return {
    verb: 'intents.approve',
    request: { intent_id, hash },
    expected: {
      kind: 'approval.granted',
      subject: intent_id,
      fixed: { hash, effect_digest },
      free: ['expires_at'],
    },
  };
}

export function rejectAsked(
  { review: { intent }, sealed: { hash } }: Looked,
  reason: string,
): SignatureAsked {
  const { intent_id } = intent;
  return {
    verb: 'intents.reject',
    request: { intent_id, hash, reason },
    expected: { kind: 'approval.denied', subject: intent_id, fixed: { hash, reason }, free: [] },
  };
}

/** The proposer takes it back, for good. */
export function withdrawAsked(
  { review: { intent }, sealed: { hash } }: Looked,
  reason: string,
): SignatureAsked {
  const { intent_id } = intent;
  return {
    verb: 'intents.withdraw',
    request: { intent_id, reason },
    expected: { format: 'keyturn-withdrawal/1', fixed: { intent_id, hash, reason }, free: [] },
  };
}

export async function mayI(
  { api }: Pick<App, 'api'>,
  me: Me,
  about: { readonly intent_id: string; readonly hash: string },
): Promise<May> {
  const asked = { ...about, by: me.name };
  const turn = await api.intents.whatIf({ ...asked, act: 'turn' });
  return {
    turn,
    approve: turn.code === null ? turn : await api.intents.whatIf({ ...asked, act: 'approve' }),
  };
}

export function openAll(): void {
  for (const fold of document.querySelectorAll<HTMLDetailsElement>('main details.fold')) fold.open = true;
  for (const more of document.querySelectorAll<HTMLButtonElement>('main button.more')) more.click();
}
