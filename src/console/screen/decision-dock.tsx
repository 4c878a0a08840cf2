import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { type Intent, useApp, useMe, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { useNow } from '../clock.ts';
import { approveAsked, mayI, openAll, rejectAsked, turnAsked } from '../deciding.ts';
import { stateOf } from '../dock-state.ts';
import { useKeys } from '../keys.ts';
import type { Look } from '../look.ts';
import type { Looked } from '../looked.ts';
import { nextIn } from '../order.ts';
import { type Button, Dock, type DockProps, ReasonDock, SigningDock } from '../part/dock.tsx';
import { useSigning } from '../signing.ts';
import { clockOf, deedOf, undoOf } from '../words.ts';

interface Props {
  readonly looked: Looked;
  readonly intent: Intent;
  readonly stale: boolean;
  readonly redraw: () => void;
  readonly look: Look;
  readonly began: number;
}

type Wish = 'turn' | 'approve' | 'reject';

export function DecisionDock({ looked, intent, stale, redraw, look, began }: Props) {
  const app = useApp();
  const { me, name } = useMe();
  const live = useCell(app.live);
  const { freezes } = useCell(app.world);
  const { intent_id } = intent;
  const [rejecting, setRejecting] = useState(false);
  const wish = useRef<Wish>('turn');
  const keepLook = () =>
    app.kept.looked(
      Date.now(),
      (Date.now() - began) / 1000,
      look.unopened().length + look.unseen().length === 0,
    );
  const signing = useSigning(intent_id, keepLook);
  const may = useTold(
    () => (me ? mayI(app, me, looked) : Promise.resolve(null)),
    [intent_id, me?.key, looked.sealed.hash],
    ({ subject, kind }) => subject === intent_id || /^(policy|system|key|credential|role)\./.test(kind),
  );
  useEffect(() => setRejecting(false), [intent_id]);
  const next = nextIn(app.queue.get(), intent_id, name);
  const code = looked.sealed.code;
  const { verb, target } = deedOf(looked.effect);
  const does = `${verb}${target !== null && looked.effect.kind === 'plan' ? ` ${visible(target).slice(0, 40)}` : ''} once`;
  const begin = (what: Wish, reason = '') => {
    wish.current = what;
    setRejecting(false);
    signing.begin([
      what === 'turn'
        ? turnAsked(looked)
        : what === 'approve'
          ? approveAsked(looked)
          : rejectAsked(looked, reason),
    ]);
  };
  const reject: Button = { text: 'Reject…', key: 'r', onPress: () => setRejecting(true) };
  const nextButton: Button[] = next
    ? [{ text: 'Next request', key: 'j', href: `#/decide/${next}` }]
    : [{ text: 'Queue', href: '#/' }];

  const now = useNow(1_000);
  const state = stateOf({
    looked,
    intent,
    stale,
    live,
    may: may.value,
    has_passkey: me !== null,
    can_passkey: canPasskey(),
    unopened: look.unopened(),
    now,
  });
  const can = {
    turn: state.kind === 'ready' && signing.phase.is === 'idle',
    approve: state.kind === 'approve' && signing.phase.is === 'idle',
  };
  const may_reject =
    ['ready', 'approve', 'cut', 'denied'].includes(state.kind) && signing.phase.is === 'idle';
  useKeys({
    a: can.turn ? () => begin('turn') : can.approve && (() => begin('approve')),
    r: may_reject && (() => setRejecting(true)),
    Escape: () =>
      rejecting ? setRejecting(false) : signing.phase.is === 'failed' ? signing.reset() : signing.cancel(),
  });

  if (signing.phase.is !== 'idle') {
    const doing =
      wish.current === 'turn' ? does : wish.current === 'approve' ? 'approve this' : 'reject this';
    const done = (): DockProps => ({
      state: 'done',
      mark: ['ok', 'ok'],
      says: (
        <b>
          {wish.current === 'turn'
            ? 'Signed. It runs once, now.'
            : wish.current === 'approve'
              ? 'You approved this.'
              : `You rejected this. ${intent.proposer} was told why.`}
        </b>
      ),
      buttons: [{ text: 'Open story', href: `#/story/${intent_id}` }, ...nextButton],
    });
    return <SigningDock signing={signing} doing={doing} done={done} code={code} />;
  }
  if (rejecting && may_reject)
    return (
      <ReasonDock
        label={
          <>
            Reason. <bdi>{intent.proposer}</bdi> will read it.
          </>
        }
        act="Reject"
        onCancel={() => setRejecting(false)}
        onGive={(reason) => begin('reject', reason)}
      />
    );

  const unseen = look.unseen();
  const not_seen = unseen.length > 0 && (
    <span class="unseen">
      Not seen yet:{' '}
      <bdi>
        {unseen
          .slice(0, 2)
          .map((one) => visible(one).slice(0, 40))
          .join(', ')}
      </bdi>
      {unseen.length > 2 ? ` and ${unseen.length - 2} more` : ''}
    </span>
  );
  const coded = (
    <span>
      Code <span class="short">{code}</span>
    </span>
  );
  const undo = undoOf(looked.effect);
  const runs = (
    <>
      <b>
        {verb[0]!.toUpperCase()}
        {verb.slice(1)} once
      </b>
      . Undo: {undo.value.toLowerCase()}.
    </>
  );
  const frozen = freezes[0];

  switch (state.kind) {
    case 'ready':
      return (
        <Dock
          state="ready"
          says={runs}
          may={
            <>
              {coded}
              {not_seen}
            </>
          }
          buttons={[
            reject,
            {
              text: state.approves ? 'Approve and run once' : 'Run once',
              key: 'a',
              icon: 'key',
              look: 'yes',
              onPress: () => begin('turn'),
            },
          ]}
        />
      );
    case 'approve':
      return (
        <Dock
          state="approve"
          {...(frozen && { mark: ['pause', 'danger'] as const })}
          says={
            frozen ? (
              <>
                <b>Frozen</b> since {clockOf(frozen.at)}, by <bdi>{frozen.by}</bdi>: “
                <bdi>{visible(frozen.reason)}</bdi>”. You can approve; it starts when a human unfreezes and
                orders it.
              </>
            ) : (
              <>
                <b>Your approval alone does not run it.</b> {state.words}
              </>
            )
          }
          may={
            <>
              {coded}
              {not_seen}
              <code>{state.code}</code>
            </>
          }
          buttons={[
            reject,
            {
              text: frozen ? 'Approve, do not run yet' : 'Approve',
              key: 'a',
              icon: 'key',
              look: 'yes',
              onPress: () => begin('approve'),
            },
          ]}
        />
      );
    case 'cut':
      return (
        <Dock
          state="cut"
          mark={['tri', 'warn']}
          says={
            <>
              <b>A long value is cut.</b> Open it before you approve.
            </>
          }
          may={
            <span class="unseen">
              Not opened:{' '}
              <code>
                {state.labels
                  .slice(0, 3)
                  .map((one) => one.slice(0, 40))
                  .join(', ')}
              </code>
            </span>
          }
          buttons={[reject, { text: 'Open it', key: 'o', onPress: openAll }]}
        />
      );
    case 'denied':
      return (
        <Dock
          state="denied"
          tone="no"
          mark={['no', 'danger']}
          says={
            <>
              <b>You cannot approve this.</b> {state.words}
            </>
          }
          may={
            <>
              <span>{state.advice}</span>
              <code>{state.code}</code>
            </>
          }
          buttons={state.reject ? [reject] : []}
        />
      );
    case 'stale':
      return (
        <Dock
          state="stale"
          tone="no"
          mark={['tri', 'warn']}
          says={
            <>
              <b>Something that this page shows has changed.</b> What you see is not what would run.
            </>
          }
          buttons={[{ text: 'Draw it again', onPress: redraw }]}
        />
      );
    case 'ended':
      return (
        <Dock
          state={state.word}
          tone="no"
          mark={[state.word === 'succeeded' ? 'ok' : 'no', 'plain']}
          says={<Ended intent={intent} word={state.word} />}
          buttons={[
            ...(intent.replaced_by
              ? [{ text: 'Compare and decide', href: `#/decide/${intent.replaced_by}` }]
              : []),
            { text: 'Open story', href: `#/story/${intent_id}` },
            ...nextButton,
          ]}
        />
      );
    case 'lost':
      return (
        <Dock
          state="lost"
          tone="no"
          mark={['tri', 'warn']}
          says={
            <>
              <b>No connection since {clockOf(live.since)}.</b> Signing is off until this page is current
              again.
            </>
          }
          may={<span>Trying again</span>}
          buttons={[{ text: 'Try now', onPress: app.again }]}
        />
      );
    case 'over':
      return (
        <Dock
          state="over"
          tone="no"
          mark={['tri', 'warn']}
          says={
            <>
              <b>This session is over.</b> Open the link that <code>keyturn serve</code> prints when it
              starts.
            </>
          }
          buttons={[]}
        />
      );
    case 'dishonest':
      return (
        <Dock
          state="dishonest"
          tone="no"
          mark={['tri', 'danger']}
          says={
            <>
              <b>This is not what its hash says.</b> The service sent another effect than the one that would
              be signed. Decide nothing here; look with <code>keyturn show</code>.
            </>
          }
          may={
            <span>
              Computed here: <span class="short">{code}</span>
            </span>
          }
          buttons={[]}
        />
      );
    case 'no-passkey':
      return (
        <Dock
          state="no-passkey"
          tone="no"
          mark={['tri', 'warn']}
          says={
            state.here ? (
              <>
                <b>You have no passkey for this address yet.</b> Enrol one, or decide at the terminal:
              </>
            ) : (
              <>
                <b>This address cannot use passkeys.</b> Open http://localhost:{location.port}, or decide at
                the terminal:
              </>
            )
          }
          may={
            <>
              <code class="command">keyturn turn {intent_id.slice(0, 8)}</code>
              {coded}
            </>
          }
          buttons={
            state.here
              ? [
                  { text: 'Copy command', onPress: () => copy(`keyturn turn ${intent_id.slice(0, 8)}`) },
                  { text: 'Enrol a passkey', href: '#/people' },
                ]
              : [{ text: 'Copy command', onPress: () => copy(`keyturn turn ${intent_id.slice(0, 8)}`) }]
          }
        />
      );
    default:
      return (
        <Dock
          state="asking"
          says={<span class="dim">Asking whether you may …</span>}
          may={coded}
          buttons={[]}
        />
      );
  }
}

const copy = (text: string) => void navigator.clipboard?.writeText(text);

const canPasskey = () => isSecureContext && 'PublicKeyCredential' in window;

function Ended({ intent, word }: { readonly intent: Intent; readonly word: string }) {
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
  if (word === 'ordered')
    return (
      <>
        <b>It is ordered</b>, and waits for the executor.
      </>
    );
  return (
    <>
      <b>This was decided.</b> It stands: {word.toLowerCase()}.
    </>
  );
}
