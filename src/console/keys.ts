import { useEffect } from 'preact/hooks';

/** Keys do nothing while a field has the focus, or with a modifier. `esc` works everywhere. */
export function useKeys(keys: Readonly<Record<string, (() => void) | undefined | false>>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const field = event.target instanceof HTMLElement && event.target.matches('input, textarea, select');
      if (field && event.key !== 'Escape') return;
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  });
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
