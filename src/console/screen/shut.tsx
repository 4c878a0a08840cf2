import type { Shutting } from '../enter.ts';
import { Icon } from '../part/icon.tsx';

/** Without a session there is nothing to see, and one thing to do. */
export function Shut({ refusal: { words, advice } }: { readonly refusal: Shutting }) {
  return (
    <main class="empty">
      <span class="brandmark">
        <Icon name="key" />
      </span>
      <h1>{words}</h1>
      <p>{advice.replaceAll('`', '')}</p>
      <p class="dim">A session only reads. Every decision is signed with your passkey, each time.</p>
    </main>
  );
}
