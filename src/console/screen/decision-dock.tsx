import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { type Intent, useApp, useMe, useOrder, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { useNow, whenIdle } from '../clock.ts';
import { approveAsked, rejectAsked, turnAsked, withdrawAsked } from '../deciding.ts';
import { dockStateOf } from '../dock-state.ts';
import { useKeys } from '../keys.ts';
import type { ScreenLook } from '../look.ts';
import type { Looked } from '../looked.ts';
import { nextIn } from '../order.ts';
import { type Button, Dock, type DockProps, ReasonDock, SigningDock } from '../part/dock.tsx';
import { prefetch, takeMay } from '../prefetch.ts';
import { useSigning } from '../signing.ts';
import { deedOf } from '../words.ts';
import { dockIn } from './dock-words.tsx';

interface Props {
  readonly looked: Looked;
  readonly intent: Intent;
  readonly stale: boolean;
  readonly redraw: () => void;
  readonly look: ScreenLook;
  readonly began: number;
}

type Wish = 'turn' | 'approve' | 'reject' | 'withdraw';
const ASKED = { turn: turnAsked, approve: approveAsked, reject: rejectAsked, withdraw: withdrawAsked };
const DOING = { approve: 'approve this', reject: 'reject this', withdraw: 'withdraw this' };

export function DecisionDock({ looked, intent, stale, redraw, look, began }: Props) {
  const app = useApp();
  const { me } = useMe();
  const live = useCell(app.live);
  useCell(app.world);
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
    () => (me ? takeMay(app, me, intent_id, looked.sealed.hash) : Promise.resolve(null)),
    [intent_id, me?.key, looked.sealed.hash],
    ({ subject, kind }) => subject === intent_id || /^(policy|system|key|credential|role)\./.test(kind),
  );
  useEffect(() => setRejecting(false), [intent_id]);
  const order = useOrder();
  const next = nextIn(order, intent_id);
  // Once this one can be decided on: what comes next must not make it wait.
  useEffect(() => {
    if (may.value === null) return;
    return whenIdle(() => {
      for (const step of [1, -1]) {
        const near = nextIn(order, intent_id, step);
        if (near) prefetch(app, me, near);
      }
    });
  }, [intent_id, may.value === null]);
  const code = looked.sealed.code;
  const { verb, target } = deedOf(looked.effect);
  const does = `${verb}${target !== null && looked.effect.kind === 'plan' ? ` ${visible(target).slice(0, 40)}` : ''} once`;
  const begin = (what: Wish, reason = '') => {
    wish.current = what;
    setRejecting(false);
    signing.begin([ASKED[what](looked, reason)]);
  };
  const refuse = () => setRejecting(true);
  // Who asked for it takes it back; others say no.
  const is_mine = me !== null && intent.proposer === me.name && intent.proposer_verified;
  const refusing: Button = is_mine
    ? { text: 'Withdraw…', key: 'w', onPress: refuse }
    : { text: 'Reject…', key: 'r', onPress: refuse };
  const nextButton: Button[] = next
    ? [{ text: 'Next request', key: 'j', href: `#/decide/${next.intent_id}` }]
    : [{ text: 'Queue', href: '#/' }];

  const now = useNow(1_000);
  const state = dockStateOf({
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
    [refusing.key!]: may_reject && refuse,
    Escape: () =>
      rejecting ? setRejecting(false) : signing.phase.is === 'failed' ? signing.reset() : signing.cancel(),
  });

  if (signing.phase.is !== 'idle') {
    const doing = wish.current === 'turn' ? does : DOING[wish.current];
    const done = (): DockProps => ({
      state: 'done',
      mark: ['ok', 'ok'],
      says: (
        <b>
          {wish.current === 'turn'
            ? 'Signed. It runs once, now.'
            : wish.current === 'approve'
              ? 'You approved this.'
              : wish.current === 'withdraw'
                ? 'You withdrew this. Nothing runs.'
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
          is_mine ? (
            'Reason. It is kept in the ledger.'
          ) : (
            <>
              Reason. <bdi>{intent.proposer}</bdi> will read it.
            </>
          )
        }
        act={is_mine ? 'Withdraw' : 'Reject'}
        onCancel={() => setRejecting(false)}
        onGive={(reason) => begin(is_mine ? 'withdraw' : 'reject', reason)}
      />
    );

  return <Dock {...dockIn(state, { app, looked, intent, look, refusing, nextButton, redraw, begin })} />;
}

const canPasskey = () => isSecureContext && 'PublicKeyCredential' in window;
