import { visible } from '../../canonical/visible.ts';
import type { App, Intent } from '../app.ts';
import { openAll } from '../deciding.ts';
import type { DockState } from '../dock-state.ts';
import type { ScreenLook } from '../look.ts';
import type { Looked } from '../looked.ts';
import type { Button, DockProps } from '../part/dock.tsx';
import { Target } from '../part/text.tsx';
import { clockOf, cut, deedOf, undoFact } from '../words.ts';
import { EndedWords } from './ended.tsx';

interface AnswerState {
  readonly app: App;
  readonly looked: Looked;
  readonly intent: Intent;
  readonly look: ScreenLook;
  /** Withdraw where the person proposed it, reject where not. */
  readonly refusing: Button;
  readonly nextButton: readonly Button[];
  readonly redraw: () => void;
  readonly begin: (what: 'turn' | 'approve') => void;
}

/** What the dock says in each state, and which buttons it has. */
export function dockIn(
  state: DockState,
  { app, looked, intent, look, refusing, nextButton, redraw, begin }: AnswerState,
): DockProps {
  const { intent_id } = intent;
  const { code } = looked.sealed;
  const { verb, target } = deedOf(looked.effect);
  const live = app.live.get();
  const { freezes } = app.world.get();
  const unseen = look.unseen();
  const not_seen = unseen.length > 0 && (
    <span class="unseen">
      Not seen yet:{' '}
      <bdi>
        {unseen
          .slice(0, 2)
          .map((one) => cut(visible(one)))
          .join('; ')}
      </bdi>
      {unseen.length > 2 ? ` and ${unseen.length - 2} more` : ''}
    </span>
  );
  const unchecked = looked.diffs?.unchecked ?? [];
  const coded = (
    <>
      <span>
        Code <span class="short">{code}</span>
      </span>
      {unchecked.length > 0 && (
        <span class="unseen">
          Too large to be compared with {unchecked.length === 1 ? 'its digest' : 'their digests'} here: the
          lines of <bdi>{unchecked.slice(0, 2).join(', ')}</bdi>
          {unchecked.length > 2 ? ` and ${unchecked.length - 2} more` : ''} are the service’s.
        </span>
      )}
    </>
  );
  const undo = undoFact(looked.effect);
  const runs = (
    <>
      <b>
        {verb[0]!.toUpperCase()}
        {verb.slice(1)}
        {looked.effect.kind === 'plan' && target !== null && (
          <>
            {' '}
            <Target text={target} />
          </>
        )}{' '}
        once
      </b>
      . Undo: {undo.value.toLowerCase()}.
    </>
  );
  const frozen = freezes[0];

  switch (state.kind) {
    case 'ready':
      return {
        state: 'ready',
        says: runs,
        may: (
          <>
            {coded}
            {not_seen}
          </>
        ),
        buttons: [
          refusing,
          {
            text: state.approves ? 'Approve and run once' : 'Run once',
            key: 'a',
            icon: 'key',
            look: 'yes',
            onPress: () => begin('turn'),
          },
        ],
      };
    case 'approve':
      return {
        state: 'approve',
        ...(frozen && { mark: ['pause', 'danger'] as const }),
        says: frozen ? (
          <>
            <b>Frozen</b> since {clockOf(frozen.at)}, by <bdi>{frozen.by}</bdi>: “
            <bdi>{visible(frozen.reason)}</bdi>” You can approve; it starts when a human unfreezes and orders
            it.
          </>
        ) : (
          <>
            <b>Your approval alone does not run it.</b> {state.words}
          </>
        ),
        may: (
          <>
            {coded}
            {not_seen}
            <code>{state.code}</code>
          </>
        ),
        buttons: [
          refusing,
          {
            text: frozen ? 'Approve, do not run yet' : 'Approve',
            key: 'a',
            icon: 'key',
            look: 'yes',
            onPress: () => begin('approve'),
          },
        ],
      };
    case 'cut':
      return {
        state: 'cut',
        mark: ['tri', 'warn'],
        says: (
          <>
            <b>A long value is cut.</b> Open it before you approve.
          </>
        ),
        may: (
          <span class="unseen">
            Not opened:{' '}
            <code>
              {state.labels
                .slice(0, 3)
                .map((one) => one.slice(0, 40))
                .join(', ')}
            </code>
          </span>
        ),
        buttons: [refusing, { text: 'Open it', key: 'o', onPress: openAll }],
      };
    case 'denied':
      return {
        state: 'denied',
        tone: 'no',
        mark: ['no', 'danger'],
        says: (
          <>
            <b>You cannot approve this.</b> {state.words}
          </>
        ),
        may: (
          <>
            <span>{state.advice}</span>
            <code>{state.code}</code>
          </>
        ),
        buttons: state.reject ? [refusing] : [],
      };
    case 'stale':
      return {
        state: 'stale',
        tone: 'no',
        mark: ['tri', 'warn'],
        says: (
          <>
            <b>Something that this page shows has changed.</b> What you see is not what would run.
          </>
        ),
        buttons: [{ text: 'Draw it again', onPress: redraw }],
      };
    case 'ended':
      return {
        state: state.word,
        tone: 'no',
        mark: [state.word === 'succeeded' ? 'ok' : 'no', 'plain'],
        says: <EndedWords intent={intent} word={state.word} />,
        buttons: [
          ...(intent.replaced_by
            ? [{ text: 'Compare and decide', href: `#/decide/${intent.replaced_by}` }]
            : []),
          { text: 'Open story', href: `#/story/${intent_id}` },
          ...nextButton,
        ],
      };
    case 'lost':
      return {
        state: 'lost',
        tone: 'no',
        mark: ['tri', 'warn'],
        says: (
          <>
            <b>No connection since {clockOf(live.since)}.</b> Signing is off until this page is current again.
          </>
        ),
        may: <span>Trying again</span>,
        buttons: [{ text: 'Try now', onPress: app.again }],
      };
    case 'over':
      return {
        state: 'over',
        tone: 'no',
        mark: ['tri', 'warn'],
        says: (
          <>
            <b>This session is over.</b> Open the link that <code>keyturn serve</code> prints when it starts.
          </>
        ),
        buttons: [],
      };
    case 'dishonest':
      return {
        state: 'dishonest',
        tone: 'no',
        mark: ['tri', 'danger'],
        says: (
          <>
            <b>This is not what its hash says.</b> The service sent another effect than the one that would be
            signed. Decide nothing here; look with <code>keyturn show</code>.
          </>
        ),
        may: (
          <span>
            Computed here: <span class="short">{code}</span>
          </span>
        ),
        buttons: [],
      };
    case 'no-passkey':
      return {
        state: 'no-passkey',
        tone: 'no',
        mark: ['tri', 'warn'],
        says: state.here ? (
          <>
            <b>You have no passkey for this address yet.</b> Enrol one, or decide at the terminal:
          </>
        ) : (
          <>
            <b>This address cannot use passkeys.</b> Browsers allow them on https and on http://localhost
            alone. Open http://localhost:{location.port}, or decide at the terminal:
          </>
        ),
        may: (
          <>
            <code class="command">keyturn turn {intent_id.slice(0, 8)}</code>
            {coded}
          </>
        ),
        buttons: state.here
          ? [
              { text: 'Copy command', onPress: () => copy(`keyturn turn ${intent_id.slice(0, 8)}`) },
              { text: 'Enrol a passkey', href: '#/people' },
            ]
          : [{ text: 'Copy command', onPress: () => copy(`keyturn turn ${intent_id.slice(0, 8)}`) }],
      };
    default:
      return {
        state: 'asking',
        says: <span class="dim">Asking whether you may …</span>,
        may: coded,
        buttons: [],
      };
  }
}

const copy = (text: string) => void navigator.clipboard?.writeText(text);
