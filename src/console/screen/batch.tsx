import { useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { useApp, useMe, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { approveAsked, mayI, turnAsked } from '../deciding.ts';
import type { FinishedAct } from '../gesture.ts';
import { useKeys } from '../keys.ts';
import { LookContext, useFreshLook } from '../look.ts';
import { type Looked, lookAt, type May } from '../looked.ts';
import { Dock, type DockProps, SigningDock } from '../part/dock.tsx';
import { Icon } from '../part/icon.tsx';
import { LookedDeed } from '../part/looked-deed.tsx';
import { Fold, Target } from '../part/text.tsx';
import { useSigning } from '../signing.ts';
import { troubleOf } from '../trouble.ts';
import { deedOf, plural, riskOf } from '../words.ts';

interface Member {
  readonly looked: Looked;
  readonly may: May | null;
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
    ({ subject }) => ids.includes(subject),
  );
  async function member(id: string): Promise<Member> {
    const looked = await lookAt(app.api, id);
    return { looked, may: me && (await mayI(app, me, { intent_id: id, hash: looked.sealed.hash })) };
  }
  const members = told.value ?? [];
  const can = members.filter(
    ({ looked, may }) =>
      looked.honest &&
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
          {members.map(({ looked, may }) => {
            const { intent, envelope } = looked.review;
            const id = intent.intent_id;
            const { verb, target } = deedOf(looked.effect);
            const code = may && may.turn.code !== null && may.approve.code !== null ? may.approve : null;
            return (
              <div class="member" key={id}>
                <label class="call">
                  <input
                    type="checkbox"
                    checked={code === null && !left.has(id)}
                    disabled={code !== null}
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
                  {!looked.honest && (
                    <span class="odd">
                      <Icon name="tri" />
                      It is not what its hash says. It is left out.
                    </span>
                  )}
                </label>
                <Fold title="Exactly what runs" note={looked.sealed.code}>
                  <LookedDeed looked={looked} />
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
            buttons={[]}
          />
        ) : (
          <Dock
            state={`ready${can.length}`}
            says={<b>{act}.</b>}
            may={<span>A proposal that changes meanwhile is refused alone.</span>}
            buttons={[{ text: act, key: 'a', icon: 'key', look: 'yes', onPress: begin }]}
          />
        )}
      </div>
    </LookContext.Provider>
  );
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
