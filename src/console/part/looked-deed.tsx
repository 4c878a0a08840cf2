import { useApp } from '../app.ts';
import type { Looked } from '../looked.ts';
import { DeedOf } from './deed.tsx';
import { HunksContext, type ReadHunks } from './hunks.ts';

/** What a proposal that waits would do. Long diffs are read as they come near. */
export function LookedDeed({ looked: { review, effect, shown, sealed } }: { readonly looked: Looked }) {
  const { api } = useApp();
  const { intent_id } = review.intent;
  const read: ReadHunks = async (asked) =>
    (await api.intents.hunks({ intent_id, hash: sealed.hash, ...asked })).hunks;
  return (
    <HunksContext.Provider value={read}>
      <DeedOf effect={effect} shown={shown} />
    </HunksContext.Provider>
  );
}
