import { refuse } from '../../refusal.ts';
import { useApp } from '../app.ts';
import type { Looked } from '../looked.ts';
import { DeedOf } from './deed.tsx';
import { HunksContext, type ReadHunks } from './hunks.ts';

/** What a proposal that waits would do. Long diffs are read as they come near. */
export function LookedDeed({
  looked: { review, effect, shown, sealed, diffs },
}: {
  readonly looked: Looked;
}) {
  const { api } = useApp();
  const { intent_id } = review.intent;
  const read: ReadHunks = async (asked) => {
    const { hunks } = await api.intents.hunks({ intent_id, hash: sealed.hash, ...asked });
    const { action_id, path } = asked;
    if (diffs && !hunks.every((one) => diffs.isPart(action_id, path, one)))
      refuse('SEEN_OTHER', 'The service sent other lines than those of the contents that would be signed.');
    return hunks;
  };
  return (
    <HunksContext.Provider value={read}>
      <DeedOf effect={effect} shown={shown} />
    </HunksContext.Provider>
  );
}
