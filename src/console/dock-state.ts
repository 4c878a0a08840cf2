import type { Looked, May } from './looked.ts';
import { isOpenWord, isOrdered } from './order.ts';
import type { Intent } from './types.ts';

interface Given {
  readonly looked: Looked;
  readonly intent: Intent;
  readonly stale: boolean;
  readonly live: { readonly state: 'live' | 'lost' | 'over' };
  readonly may: May | null;
  readonly has_passkey: boolean;
  readonly can_passkey: boolean;
  readonly unopened: readonly string[];
  readonly now: number;
}

export type DockState =
  | { readonly kind: 'asking' | 'stale' | 'lost' | 'over' | 'dishonest' }
  | { readonly kind: 'ready'; readonly approves: boolean }
  | { readonly kind: 'approve'; readonly words: string; readonly code: string }
  | { readonly kind: 'cut'; readonly labels: readonly string[] }
  | {
      readonly kind: 'denied';
      readonly words: string;
      readonly advice: string;
      readonly code: string;
      readonly reject: boolean;
    }
  | { readonly kind: 'ended'; readonly word: string }
  | { readonly kind: 'no-passkey'; readonly here: boolean };

/** What the dock says. Whatever makes a signature wrong comes before what would allow it. */
export function dockStateOf({
  looked,
  intent,
  stale,
  live,
  may,
  has_passkey,
  can_passkey,
  unopened,
  now,
}: Given): DockState {
  if (live.state !== 'live') return { kind: live.state };
  if (!looked.honest) return { kind: 'dishonest' };
  if (!isOpenWord(intent.status_word)) return { kind: 'ended', word: intent.status_word };
  if (Date.parse(intent.expires_at) <= now) return { kind: 'ended', word: 'expired' };
  if (isOrdered(intent, now)) return { kind: 'ended', word: 'ordered' };
  if (stale) return { kind: 'stale' };
  if (!can_passkey || !has_passkey) return { kind: 'no-passkey', here: can_passkey };
  if (may === null) return { kind: 'asking' };
  if (may.turn.code !== null && may.approve.code !== null) {
    const { code, words, advice } = may.approve;
    return {
      kind: 'denied',
      code,
      words: words ?? '',
      advice: advice ?? '',
      reject: intent.status_word === 'waiting',
    };
  }
  if (unopened.length > 0) return { kind: 'cut', labels: unopened };
  if (may.turn.code === null) return { kind: 'ready', approves: may.turn.approves };
  return { kind: 'approve', words: may.turn.words ?? '', code: may.turn.code };
}
