import { useMemo, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { useApp, useMe, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { approveAsked, mayI, turnAsked } from '../deciding.ts';
import type { FinishedAct } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { LookContext, type ScreenLook, useFreshLook } from '../look.ts';
import { isStale, type Looked, lookAt, type May } from '../looked.ts';
import { type Button, Dock, type DockProps, SigningDock } from '../part/dock.tsx';
import { Icon } from '../part/icon.tsx';
import { LookedDeed } from '../part/looked-deed.tsx';
import { Fold, Target } from '../part/text.tsx';
import { useSigning } from '../signing.ts';
import { troubleOf } from '../trouble.ts';
import { deedOf, plural, riskOf } from '../words.ts';

interface Member {
  /** As it was drawn first: what was drawn stays until the person wants the newer. */
  readonly looked: Looked;
  readonly may: May | null;
  /** It is another thing now. */
  readonly stale: boolean;
  /** What was seen of it. */
  readonly look: ScreenLook;
}

/** Several proposals, one touch. Each is signed by its own digest, and one that changed meanwhile is refused alone. */
function Batch({ id }: { readonly id: string }) {
  const ids = id === '' ? [] : id.split(',');
  const app = useApp();
  const { me } = useMe();
  const live = useCell(app.live);
  const key = ids.join();
  const look = useFreshLook(key);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const signing = useSigning(key);
  const told = useTold(
    () => Promise.all(ids.map((id) => member(id))),
    [key, me?.key],
    ({ subject, kind }) => ids.includes(subject) || /^(policy|system)\./.test(kind),
  );
  async function member(id: string): Promise<Pick<Member, 'looked' | 'may'>> {
    const looked = await lookAt(app.api, id);
    return { looked, may: me && (await mayI(app, me, { intent_id: id, hash: looked.sealed.hash })) };
  }
  const [times, setTimes] = useState(0);
  const drawn = useMemo(() => new Map<string, Looked>(), [key, times]);
  const members = useMemo(
    () =>
      (told.value ?? []).map(({ looked: now, may }): Member => {
        const { intent_id } = now.review.intent;
        const looked = drawn.get(intent_id) ?? now;
        drawn.set(intent_id, looked);
        return { looked, may, stale: isStale(looked, now), look: lookAs(look, looked) };
      }),
    [told.value, drawn, look],
  );
  const stale = members.filter((one) => one.stale).length;
  const unseen = look.unseen();
  const can = members.filter(
    ({ looked, may, stale }) =>
      looked.honest &&
      !stale &&
      may !== null &&
      (may.turn.code === null || may.approve.code === null) &&
      !left.has(looked.review.intent.intent_id),
  );
  const begin = () => {
    if (can.length > 0 && live.state === 'live')
      signing.begin(
        can.map(({ looked, may }) => (may!.turn.code === null ? turnAsked(looked) : approveAsked(looked))),
      );
  };
  const runs = can.filter(({ may }) => may!.turn.code === null).length;
  const unopened = look.unopened();
  useKeys({
    a: signing.phase.is === 'idle' && unopened.length === 0 && begin,
    Escape: () => signing.cancel(),
  });
  const toggle = (id: string) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
  };
  const tools = new Set(members.map(({ looked }) => deedOf(looked.effect).verb));
  const odd = oddOf(members);
  const again: readonly Button[] =
    stale === 0 ? [] : [{ text: 'Draw them again', onPress: () => setTimes(times + 1) }];
  const act = runs === can.length ? `Approve ${can.length}, run each once` : `Approve ${can.length}`;
  const done = (finished: unknown): DockProps => {
    const all = finished as readonly FinishedAct[];
    const failed = all.filter(({ error }) => error !== undefined);
    return {
      state: 'done',
      mark: [failed.length === 0 ? 'ok' : 'tri', failed.length === 0 ? 'ok' : 'warn'],
      says: (
        <>
          <b>{plural(all.length - failed.length, 'proposal')} signed with one touch.</b>{' '}
          {failed.map(({ asked, error }) => (
            <span>
              {String(asked.request.intent_id).slice(0, 8)} was refused alone: {troubleOf(error).words}{' '}
              <code>{troubleOf(error).code}</code>
            </span>
          ))}
        </>
      ),
      buttons: [
        {
          text: 'Back to the queue',
          onPress: () => {
            app.ticked.set(new Set());
            location.hash = '/';
          },
        },
      ],
    };
  };
  return (
    <LookContext.Provider value={look}>
      <div class="bar">
        <a class="back" href="#/">
          <Icon name="left" />
          Queue
        </a>
        <span>{plural(ids.length, 'proposal')} together</span>
      </div>
      <div class="page">
        <header class="ask">
          <h1>
            {tools.size === 1 ? (
              <>
                {plural(members.length, 'proposal')} to {[...tools][0]}
              </>
            ) : (
              plural(ids.length, 'different proposal')
            )}
          </h1>
          <div class="who">
            <span>One touch signs the list of their digests. Each is still used once.</span>
          </div>
        </header>
        <section class="calls" aria-label="Proposals">
          {members.map(({ looked, may, stale, look }) => {
            const { intent, envelope } = looked.review;
            const id = intent.intent_id;
            const { verb, target } = deedOf(looked.effect);
            const code = may && may.turn.code !== null && may.approve.code !== null ? may.approve : null;
            return (
              <div class="member" key={id}>
                <label class="call">
                  <input
                    type="checkbox"
                    checked={code === null && !stale && !left.has(id)}
                    disabled={code !== null || stale}
                    onChange={() => toggle(id)}
                  />
                  <span class={`v ${odd.has(id) ? 'diff' : ''}`}>
                    {verb}
                    {target !== null && (
                      <>
                        {' '}
                        <Target text={target} />
                      </>
                    )}
                  </span>
                  <span class="risk">{riskOf(looked.shown).value}</span>
                  <bdi class="goal" dir="auto">
                    {visible(envelope.declared_goal.replaceAll('\n', ' ')).slice(0, 200)}
                  </bdi>
                  <span class="short soft">{looked.sealed.code}</span>
                  {odd.has(id) && (
                    <span class="odd">
                      <Icon name="tri" />
                      The only one of its kind in this list.
                    </span>
                  )}
                  {code && (
                    <span class="odd">
                      <Icon name="no" />
                      {code.words} <code>{code.code}</code>
                    </span>
                  )}
                  {stale && (
                    <span class="odd">
                      <Icon name="tri" />
                      It is another thing now than what is drawn. It is left out.
                    </span>
                  )}
                  {!looked.honest && (
                    <span class="odd">
                      <Icon name="tri" />
                      It is not what its hash says. It is left out.
                    </span>
                  )}
                </label>
                <Fold title="Exactly what runs" note={looked.sealed.code}>
                  <LookContext.Provider value={look}>
                    <LookedDeed looked={looked} />
                  </LookContext.Provider>
                </Fold>
              </div>
            );
          })}
        </section>
        {signing.phase.is !== 'idle' ? (
          <SigningDock signing={signing} doing={`sign ${plural(can.length, 'act')}`} done={done} />
        ) : unopened.length > 0 ? (
          <Dock
            state="cut"
            mark={['tri', 'warn']}
            says={
              <>
                <b>A long value is cut.</b> Open it before you approve.
              </>
            }
            buttons={[
              {
                text: 'Open them',
                onPress: () => {
                  for (const more of document.querySelectorAll<HTMLButtonElement>('main button.more'))
                    more.click();
                },
              },
            ]}
          />
        ) : live.state !== 'live' ? (
          <Dock
            state={live.state}
            tone="no"
            mark={['tri', 'warn']}
            says={<b>No connection. Signing is off.</b>}
            buttons={[]}
          />
        ) : can.length === 0 ? (
          <Dock
            state="none"
            says={
              <>
                <b>Nothing is ticked.</b> {me === null ? 'You have no passkey at this address.' : ''}
              </>
            }
            may={<span>A proposal that changes meanwhile is refused alone.</span>}
            buttons={again}
          />
        ) : (
          <Dock
            state={`ready${can.length}`}
            says={
              <>
                <b>{act}.</b>
                {stale === 1 && ' 1 changed since it was drawn, and is left out.'}
                {stale > 1 && ` ${stale} changed since they were drawn, and are left out.`}
              </>
            }
            may={
              <>
                <span>A proposal that changes meanwhile is refused alone.</span>
                {unseen.length > 0 && (
                  <span class="unseen">
                    Not opened: what runs in <bdi>{unseen.slice(0, 2).map(visible).join(', ')}</bdi>
                    {unseen.length > 2 ? ` and ${unseen.length - 2} more` : ''}
                  </span>
                )}
              </>
            }
            buttons={[...again, { text: act, key: 'a', icon: 'key', look: 'yes', onPress: begin }]}
          />
        )}
      </div>
    </LookContext.Provider>
  );
}

/** What was seen is told apart by the proposal that it belongs to. */
function lookAs(look: ScreenLook, { review, sealed }: Looked): ScreenLook {
  const { intent_id } = review.intent;
  const name = `${intent_id.slice(0, 8)}, code ${sealed.code.slice(0, 4)}`;
  return {
    ...look,
    needs: (label, is_cut) => look.needs(`${intent_id} ${label}`, is_cut),
    open: (label) => look.open(`${intent_id} ${label}`),
    isOpen: (label) => look.isOpen(`${intent_id} ${label}`),
    seen: (label, place = '') => look.seen(name, `${label} ${place}`),
    expect: (label, place = '') => look.expect(name, `${label} ${place}`),
  };
}

/** The one that does something else, where all others do the same. */
function oddOf(members: readonly Member[]): ReadonlySet<string> {
  const kinds = new Map<string, string[]>();
  for (const { looked } of members) {
    const { verb } = deedOf(looked.effect);
    kinds.set(verb, [...(kinds.get(verb) ?? []), looked.review.intent.intent_id]);
  }
  if (kinds.size < 2 || members.length < 3) return new Set();
  return new Set([...kinds.values()].filter((ids) => ids.length === 1).flat());
}

export const screens = { batch: Batch };
