import { useEffect, useRef } from 'preact/hooks';

/**
 * Keys do nothing while a field has the focus, or with a modifier. `esc` works everywhere. What a key does belongs to what is drawn: an effect
 * runs a moment after that, and a second key pressed in between would do what the first one did.
 */
export function useKeys(keys: Readonly<Record<string, (() => void) | undefined | false>>): void {
  const drawn = useRef(keys);
  drawn.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const field = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (field && event.key !== 'Escape') return;
      const act = drawn.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

export const KEYS: readonly (readonly [string, string])[] = [
  ['j', 'next'],
  ['k', 'previous'],
  ['a', 'begin the gesture; your passkey ends it'],
  ['r', 'reject, with a reason'],
  ['w', 'withdraw what you proposed'],
  ['x', 'tick for a batch'],
  ['o', 'open everything that is folded'],
  ['u', 'preview the undo'],
  ['s', 'stop this run'],
  ['f', 'freeze everything'],
  ['/', 'search the history'],
  ['?', 'these keys'],
  ['Esc', 'back'],
];
