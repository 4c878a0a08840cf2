import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useApp, useMe } from './app.ts';
import { drawUp, type FinishedAct, finish, type Gesture, type SignatureAsked, touched } from './gesture.ts';
import { type Trouble, troubleOf } from './trouble.ts';

export type Phase =
  | { readonly is: 'idle' }
  | { readonly is: 'drawing' }
  | { readonly is: 'armed'; readonly gesture: Gesture }
  | { readonly is: 'sending'; readonly gesture: Gesture }
  | { readonly is: 'done'; readonly finished: readonly FinishedAct[] }
  | { readonly is: 'failed'; readonly trouble: Trouble };

const IDLE: Phase = { is: 'idle' };

export interface SigningAct {
  readonly phase: Phase;
  begin(asks: readonly SignatureAsked[]): void;
  cancel(): void;
  reset(): void;
}

/** From the first press to the proof: draw up, compare, touch, finish. `subject` is what the dock is about; another one begins anew. */
export function useSigning(subject: string, onDone?: (finished: readonly FinishedAct[]) => void): SigningAct {
  const app = useApp();
  const { me } = useMe();
  const [phase, setPhase] = useState<Phase>(IDLE);
  const running = useRef<AbortController | null>(null);
  const cancel = useCallback(() => {
    running.current?.abort();
    running.current = null;
    setPhase(IDLE);
  }, []);
  useEffect(() => cancel, [subject]);
  const begin = (asks: readonly SignatureAsked[]) => {
    if (running.current || me === null) return;
    const mine = new AbortController();
    running.current = mine;
    const become = (next: Phase) => {
      if (running.current === mine) setPhase(next);
    };
    become({ is: 'drawing' });
    (async () => {
      const gesture = await drawUp(app, me, asks);
      become({ is: 'armed', gesture });
      const proof = await touched(me, gesture, mine.signal);
      become({ is: 'sending', gesture });
      const finished = await finish(app, gesture, proof);
      const all = [...finished, ...gesture.refused.map(({ asked, error }) => ({ asked, error }))];
      if (all.length === 1 && all[0]!.error) throw all[0]!.error;
      onDone?.(all);
      become({ is: 'done', finished: all });
    })()
      .catch((error: unknown) => become({ is: 'failed', trouble: troubleOf(error) }))
      .finally(() => {
        if (running.current === mine) running.current = null;
      });
  };
  const reset = () => setPhase(IDLE);
  return { phase, begin, cancel, reset };
}
