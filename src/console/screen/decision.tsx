import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { type Intent, type Me, useApp, useMe, useOrder, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { useNow } from '../clock.ts';
import { openAll } from '../deciding.ts';
import { useKeys } from '../keys.ts';
import { LookContext, useFreshLook } from '../look.ts';
import { isStale, type Looked } from '../looked.ts';
import { positionInQueue } from '../order.ts';
import { MoreOf } from '../part/deed.tsx';
import { Icon, Tag } from '../part/icon.tsx';
import { LookedDeed } from '../part/looked-deed.tsx';
import { Dig, Fold, PrintedText, Target, Val, Words } from '../part/text.tsx';
import { takeLooked } from '../prefetch.ts';
import {
  approvalOf,
  calledExecutor,
  capital,
  changesFact,
  clockOf,
  deedOf,
  type Fact,
  riskOf,
  span,
  undoFact,
} from '../words.ts';
import { DecisionDock } from './decision-dock.tsx';

/** The proposal as it is now, and as it was when it was drawn: what was drawn stays until the person wants the newer. */
function useLooked(intent_id: string, me: Me | null) {
  const app = useApp();
  const about = useTold(
    () => takeLooked(app, me, intent_id),
    [intent_id],
    ({ subject, kind }) => subject === intent_id || /^(policy|system)\./.test(kind),
  );
  const [drawn, setDrawn] = useState<Looked | null>(null);
  const now = about.value;
  useEffect(() => {
    if (now && (drawn === null || drawn.review.intent.intent_id !== intent_id || !isStale(drawn, now)))
      setDrawn(now);
  }, [now, intent_id]);
  const mine = drawn?.review.intent.intent_id === intent_id ? drawn : now;
  const stale = useMemo(() => mine !== null && now !== null && isStale(mine, now), [mine, now]);
  return {
    trouble: about.trouble,
    drawn: mine,
    now,
    stale,
    redraw: () => now && setDrawn(now),
  };
}

export function DecisionScreen({ intent_id }: { readonly intent_id: string }) {
  const look = useFreshLook(intent_id);
  const { me, name } = useMe();
  const { trouble, drawn, now, stale, redraw } = useLooked(intent_id, me);
  const began = useRef(Date.now());
  useEffect(() => {
    began.current = Date.now();
    scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [intent_id]);
  useKeys({ o: () => openAll() });
  const fixed = useMemo(
    () =>
      drawn ? [riskOf(drawn.shown), undoFact(drawn.effect), changesFact(drawn.effect, drawn.shown)] : [],
    [drawn],
  );
  if (trouble)
    return (
      <div class="page">
        <header class="ask">
          <h1>{trouble.words}</h1>
          <p class="dim">
            {trouble.advice} <code>{trouble.code}</code>
          </p>
        </header>
      </div>
    );
  if (!drawn || !now)
    return (
      <div class="page" aria-busy="true">
        <header class="ask">
          <h1 class="vh">One proposal</h1>
          <p class="dim">Asking …</p>
        </header>
      </div>
    );
  const { review } = drawn;
  const intent = now.review.intent;
  return (
    <LookContext.Provider value={look}>
      <Bar intent={intent} />
      <div class="page" key={intent_id} data-intent={intent_id}>
        <Ask looked={drawn} intent={intent} />
        <Words who={intent.proposer} text={review.envelope.declared_goal} />
        <Replaces intent={intent} />
        <FactList facts={[...fixed, approvalOf(intent, name)]} />
        <LookedDeed looked={drawn} />
        <DecisionDock
          looked={drawn}
          intent={intent}
          stale={stale}
          redraw={redraw}
          look={look}
          began={began.current}
        />
        <Below looked={drawn} intent={intent} />
      </div>
    </LookContext.Provider>
  );
}

/** State, end, and place in the queue. */
function Bar({ intent }: { readonly intent: Intent }) {
  const now = useNow(10_000);
  const { at, of } = positionInQueue(useOrder(), intent.intent_id);
  const { name } = useMe();
  const others = intent.reviewers && !intent.reviewers.includes(name ?? '') ? intent.reviewers : null;
  const left = Date.parse(intent.expires_at) - now;
  return (
    <div class="bar">
      <a class={intent.effect === 'plan' ? 'back' : 'back only-narrow'} href="#/queue">
        <Icon name="left" />
        Queue
      </a>
      <span class="not-narrow">
        {intent.status_word !== 'waiting' && capital(intent.status_word)}
        {intent.status_word === 'waiting' &&
          (others ? `Waits for ${others.map(visible).join(', ')}` : 'Waiting for you')}
      </span>
      <span class="end">
        {intent.status_word === 'waiting' && (
          <span>
            Expires <time dateTime={intent.expires_at}>in {span(left)}</time>
          </span>
        )}
        {at > 0 && (
          <span class="step">
            {at} of {of} <kbd>k</kbd>
            <kbd>j</kbd>
          </span>
        )}
      </span>
    </div>
  );
}

/** One sentence, made from the effect; then who asked, proven or not. */
function Ask({ looked: { effect, review }, intent }: { readonly looked: Looked; readonly intent: Intent }) {
  const { executors } = useCell(useApp().world);
  const { verb, target } = deedOf(effect);
  const here = executors.find(({ is_this_host, revoked_at }) => is_this_host && revoked_at === null);
  const on = calledExecutor(effect) ?? here?.name ?? null;
  return (
    <header class="ask">
      <h1>
        <bdi>{intent.proposer}</bdi> wants to {verb}
        {target !== null && (
          <>
            {' '}
            {effect.kind === 'plan' ? '' : 'on '}
            <Target text={target} />
          </>
        )}
      </h1>
      <div class="who">
        {intent.proposer_verified ? (
          <Tag tone="ok">Proven: signed with its key</Tag>
        ) : (
          <Tag tone="warn" icon="ring">
            <span>
              Says it is <bdi>{intent.proposer}</bdi>: not proven
            </span>
          </Tag>
        )}
        <span>
          Asked {span(Date.now() - Date.parse(intent.proposed_at))} ago
          {intent.account?.host.startsWith('token:') ? ', with its token' : ''}
        </span>
        {effect.kind === 'plan' && (
          <span>
            Plan <Val text={visible(effect.plan_id)} />,{' '}
            {effect.actions.length === 1 ? '1 action' : `${effect.actions.length} actions`}
          </span>
        )}
        <span>
          Runs once
          {on !== null && on !== 'executor' && (
            <>
              , on <bdi>{visible(on)}</bdi>
            </>
          )}
        </span>
        {intent.on_behalf_of && (
          <span>
            for <bdi>{visible(intent.on_behalf_of)}</bdi>
          </span>
        )}
        {review.envelope.undoes && (
          <span>
            Undoes <a href={`#/story/${review.envelope.undoes}`}>an earlier run</a>
          </span>
        )}
      </div>
    </header>
  );
}

export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  const icons = { danger: 'tri', warn: 'tri', ok: 'ok', plain: null } as const;
  return (
    <dl class="facts">
      {facts.map(({ label, value, tone, why }) => {
        const icon =
          label === 'Undo' && tone === 'ok'
            ? 'undo'
            : label === 'Undo' && tone === 'danger'
              ? 'no'
              : icons[tone];
        return (
          <div>
            <dt>{label}</dt>
            <dd>
              <span class={`v t-${tone}`}>
                {icon && <Icon name={icon} />}
                {value}
              </span>
              <p class="r">{why}</p>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** In what it differs from the proposal that it replaces. */
function Replaces({ intent }: { readonly intent: Intent }) {
  const { api } = useApp();
  const { value } = useTold(
    () => (intent.replaces ? api.intents.changes({ intent_id: intent.intent_id }) : Promise.resolve(null)),
    [intent.intent_id],
  );
  if (!value) return null;
  return (
    <section class="deed">
      <header>
        <h2>
          In place of <a href={`#/story/${value.intent_id}`}>an earlier proposal</a>
        </h2>
      </header>
      <Differences found={value.differences} />
    </section>
  );
}

type Found =
  | readonly { readonly what: string; readonly before: string | null; readonly now: string | null }[]
  | null;

function Differences({ found }: { readonly found: Found }) {
  if (found === null)
    return <p class="inset dim">The earlier one was erased, so the two cannot be compared.</p>;
  if (found.length === 0) return <p class="inset">It asks for exactly the same.</p>;
  return (
    <dl class="rows">
      {found.map(({ what, before, now }) => (
        <div>
          <dt>
            <bdi>{visible(what)}</bdi>
          </dt>
          <dd>
            was {before === null ? 'not there' : <code class="val">{visible(before)}</code>}, is{' '}
            {now === null ? 'not there' : <code class="val">{visible(now)}</code>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Environment, policies, story, what came before, raw bytes. */
function Below({ looked, intent }: { readonly looked: Looked; readonly intent: Intent }) {
  const { api } = useApp();
  const { intent_id } = intent;
  const { effect, shown, review, sealed } = looked;
  const told = useTold(
    () => api.intents.story({ intent_id }),
    [intent_id],
    ({ subject }) => subject === intent_id,
    'when idle',
  );
  const earlier = useTold(
    () => api.intents.earlier({ intent_id, name: intent.tool }).catch(() => null),
    [intent_id],
    undefined,
    'when idle',
  );
  const story = told.value?.story ?? [];
  const decisions = story.flatMap(({ decision }) =>
    decision ? decision.policies.map((policy) => ({ ...policy, allowed: decision.allowed })) : [],
  );
  return (
    <div class="below">
      <MoreOf effect={effect} shown={shown} />
      {review.alternates.length > 0 && (
        <Fold title="If it fails" note={`${review.alternates.length} other calls that this yes covers`}>
          {review.alternates.map((one) => (
            <p class="mono">{one.headline.value.map(({ text }) => text).join('')}</p>
          ))}
        </Fold>
      )}
      <Fold
        title="Policies"
        note={decisions.length === 0 ? 'asked when you decide' : `${decisions.length} decided so far`}
      >
        {decisions.length === 0 ? (
          <p class="dim">
            The policies are asked when a human decides; what they would say now stands beside the buttons.
          </p>
        ) : (
          <ul class="verdicts">
            {decisions.map(({ id, version, rationale, allowed }) => (
              <li>
                <span class={allowed ? 't-ok' : 't-danger'}>
                  <Icon name={allowed ? 'ok' : 'no'} />
                </span>
                <div>
                  <b>
                    {id}, version {version}
                    {!allowed && ', denied it'}
                  </b>
                  <p>{rationale}</p>
                </div>
              </li>
            ))}
          </ul>
        )}
      </Fold>
      <Fold title="Story so far" note={story.length === 1 ? '1 entry' : `${story.length} entries`}>
        <ul class="plain">
          {story.map(({ seq, at, words }) => (
            <li>
              <time dateTime={at}>{clockOf(at)}</time> {visible(words)} <span class="dim">{seq}</span>
            </li>
          ))}
        </ul>
      </Fold>
      {earlier.value && (
        <Fold
          title="Approved before"
          note={`the same, ${span(Date.now() - Date.parse(earlier.value.approved_at))} ago`}
        >
          <p>
            <a href={`#/story/${earlier.value.intent_id}`}>The last one that a human approved</a>
          </p>
          <Differences found={earlier.value.differences} />
        </Fold>
      )}
      <Fold
        title="Raw JSON"
        note="what the digests cover"
        later={() => (
          <>
            <p class="dim">
              Hash <Dig digest={sealed.hash} /> Effect <Dig digest={sealed.effect_digest} />
            </p>
            <PrintedText
              title="What the digests cover"
              text={JSON.stringify({ envelope: review.envelope, effect }, null, 2)}
              note="verbatim"
            />
          </>
        )}
      />
    </div>
  );
}
