import { visible } from '../../canonical/visible.ts';
import { type Intent, useApp, useTold } from '../app.ts';
import { type FinishedAct, reasoned, type SignatureAsked } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { Dock } from '../part/dock.tsx';
import { SignedAct } from '../part/signed-act.tsx';

const UNDOABLE: ReadonlySet<string> = new Set(['succeeded', 'failed', 'STUCK', 'happened']);

/** What a person can still do about something that ended. */
export function StoryDock({ intent }: { readonly intent: Intent }) {
  const run = intent.runs.at(-1);
  const can_undo =
    intent.effect === 'plan' &&
    run !== undefined &&
    UNDOABLE.has(intent.status_word) &&
    run.expired_at === null;
  useKeys({
    u:
      can_undo &&
      (() => {
        location.hash = `/undo/${run.execution_id}`;
      }),
  });
  if (intent.status_word === 'IN DOUBT' && run)
    return <Settle intent={intent} execution_id={run.execution_id} />;
  if (run && (intent.status === 'failed' || intent.status === 'rolled_back'))
    return <Retry intent={intent} after={run.execution_id} can_undo={can_undo} />;
  if (intent.effect === 'tool' && intent.status === 'succeeded') return <UndoCall intent={intent} />;
  if (!can_undo) return null;
  return (
    <Dock
      state="undo"
      says={<b>This run can be undone.</b>}
      may={<span>Shows the change first. Signing comes after.</span>}
      buttons={[{ text: 'Preview undo', key: 'u', icon: 'undo', href: `#/undo/${run.execution_id}` }]}
    />
  );
}

const toDecide = (intent_id: string) => {
  location.hash = `/decide/${intent_id}`;
};

/** One new attempt after a failure. It is ordered on the screen that decides, where everything is drawn again. */
function Retry({
  intent,
  after,
  can_undo,
}: {
  readonly intent: Intent;
  readonly after: string;
  readonly can_undo: boolean;
}) {
  const { intent_id, hash, effect_digest, tool, attempt, status } = intent;
  return (
    <section class="dock" aria-label="Decision">
      <div class="says">
        <b>It failed.</b> You can allow one more attempt; it runs once you order it.
      </div>
      <div class="acts">
        {can_undo && (
          <a class="act" href={`#/undo/${after}`}>
            Preview undo <kbd>u</kbd>
          </a>
        )}
        <SignedAct
          text="Allow another attempt…"
          subject={`retry${after}`}
          command={`keyturn retry ${intent_id.slice(0, 8)}`}
          doing="allow one more attempt"
          done="Allowed. It waits for your order."
          onDone={() => toDecide(intent_id)}
          ask={(reason) =>
            reasoned(
              'runs.retry',
              'retry.authorised',
              intent_id,
              { intent_id, reason },
              {
                leave: ['intent_id'],
                fixed: { attempt: attempt + 1, after, from: status, hash, effect_digest, tool },
              },
            )
          }
        />
      </div>
    </section>
  );
}

/** The call that the tool declared to undo it. It is a proposal like any other, and is decided on like one. */
function UndoCall({ intent: { intent_id, tool } }: { readonly intent: Intent }) {
  const { api } = useApp();
  const { value } = useTold(
    () => api.intents.result({ intent_id }),
    [intent_id],
    ({ subject }) => subject === intent_id,
  );
  const call = value?.undo;
  if (!call) return null;
  const ask = (declared_goal: string): SignatureAsked => ({
    verb: 'intents.undo',
    request: { intent_id, declared_goal },
    // The hash is of an envelope that the service makes: what it asks for is drawn before a human decides on it.
    expected: { format: 'keyturn-proposal/1', fixed: {}, free: ['hash'] },
  });
  const done = ([first]: readonly FinishedAct[]) => {
    const { intent_id: proposed } = (first?.result ?? {}) as { intent_id?: string };
    if (proposed) toDecide(proposed);
  };
  return (
    <section class="dock" aria-label="Decision">
      <div>
        <div class="says">
          <b>
            <bdi>{visible(call.tool)}</bdi> undoes {visible(tool)}.
          </b>{' '}
          It would be called with{' '}
          {Object.entries(call.arguments).map(([name, given], i) => (
            <span>
              {i > 0 && ', '}
              {visible(name)} <bdi class="val mono">{visible(String(given))}</bdi>
            </span>
          ))}
          .
        </div>
        <div class="may">
          <span>Your signature says that you ask for it. It allows nothing yet.</span>
        </div>
      </div>
      <div class="acts">
        <SignedAct
          text="Propose the undo…"
          icon="undo"
          hotkey="u"
          subject={`undo${intent_id}`}
          label="Why. The human who decides on it reads this."
          command={`keyturn undo ${intent_id.slice(0, 8)}`}
          doing="propose the undo"
          done="Proposed."
          ask={ask}
          onDone={done}
        />
      </div>
    </section>
  );
}

/** A human's word for a run whose end is not recorded. */
function Settle({ intent, execution_id }: { readonly intent: Intent; readonly execution_id: string }) {
  const { api } = useApp();
  const { value } = useTold(
    () => api.runs.inDoubt(),
    [execution_id],
    ({ subject }) => subject === intent.intent_id,
  );
  const run = value?.runs.find((one) => one.execution_id === execution_id);
  if (run === undefined) return null;
  const host_is_dead = run.state === 'other-host';
  const ask = (outcome: 'happened' | 'did_not_happen') => (reason: string) =>
    reasoned(
      'runs.resolve',
      'execution.resolved',
      intent.intent_id,
      { execution_id, outcome, reason, ...(host_is_dead && { host_is_dead }) },
      { leave: ['host_is_dead'], fixed: { attempt: intent.attempt, settles: intent.status } },
    );
  return (
    <section class="dock" aria-label="Decision">
      <div class="says">
        <b>It is not known whether this happened.</b> Look, then say what you found.
        {host_is_dead && (
          <>
            {' '}
            It ran on <bdi>{visible(run.host)}</bdi>, which this service cannot look at: your word also says
            that nothing runs there any more.
          </>
        )}
      </div>
      <div class="acts">
        <SignedAct
          text="It did not happen…"
          subject={`no${execution_id}`}
          ask={ask('did_not_happen')}
          doing="say that it did not happen"
          done="Settled: it did not happen."
        />
        <SignedAct
          text="It happened…"
          subject={`yes${execution_id}`}
          ask={ask('happened')}
          doing="say that it happened"
          done="Settled: it happened."
        />
      </div>
    </section>
  );
}
