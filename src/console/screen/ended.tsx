import { visible } from '../../canonical/visible.ts';
import { hasNoExecutor, isUnserved } from '../../display/unserved.ts';
import { type Intent, useApp, useTold } from '../app.ts';
import { clockOf } from '../words.ts';

/** How a proposal ended, in the place of its buttons. */
export function EndedWords({ intent, word }: { readonly intent: Intent; readonly word: string }) {
  const told = useTold(() => resultOf(intent.intent_id), [intent.intent_id, word]);
  const { api } = useApp();
  function resultOf(intent_id: string) {
    return api.intents.result({ intent_id });
  }
  const reason = told.value?.reason ? (
    <>
      : “<bdi>{visible(told.value.reason)}</bdi>”
    </>
  ) : (
    '.'
  );
  if (word === 'withdrawn')
    return (
      <>
        <b>
          <bdi>{intent.proposer}</bdi> withdrew this
        </b>
        {reason} Nothing ran.
      </>
    );
  if (word === 'rejected')
    return (
      <>
        <b>This was rejected</b>
        {reason}
      </>
    );
  if (word === 'replaced') return <b>Another proposal stands in the place of this one.</b>;
  if (word === 'expired')
    return (
      <>
        <b>Expired at {clockOf(intent.expires_at)}.</b> Nothing ran.
      </>
    );
  if (word === 'ordered') return <Ordered intent_id={intent.intent_id} />;
  return (
    <>
      <b>This was decided.</b> It stands: {word.toLowerCase()}.
    </>
  );
}

function Ordered({ intent_id }: { readonly intent_id: string }) {
  const { api } = useApp();
  const waits_for = useTold(() => api.intents.story({ intent_id }), [intent_id]).value?.waits_for ?? null;
  return (
    <>
      <b>It is ordered</b>
      {hasNoExecutor(waits_for) || isUnserved(waits_for) ? (
        <>
          , and no executor called <bdi>{visible(waits_for.executor)}</bdi> is running: the order will lapse.
        </>
      ) : (
        ', and waits for the executor.'
      )}
    </>
  );
}
