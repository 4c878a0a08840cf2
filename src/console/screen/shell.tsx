import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { useApp, useMe, useOrder } from '../app.ts';
import { useCell } from '../cell.ts';
import { KEYS, useKeys } from '../keys.ts';
import { isNarrow, nextIn, screenOf } from '../order.ts';
import { Icon } from '../part/icon.tsx';
import { clockOf, grouped, shadowWords } from '../words.ts';
import { DecisionScreen } from './decision.tsx';
import { Empty } from './empty.tsx';
import { FreezeDialog } from './freeze.tsx';
import { QueuePane } from './queue.tsx';

/** Loaded when they are opened: the first screen needs none of them. */
const LATER: Readonly<
  Record<
    string,
    () => Promise<{ readonly screens: Readonly<Record<string, ComponentType<{ readonly id: string }>>> }>
  >
> = {
  batch: () => import('./batch.tsx'),
  running: () => import('./runs.tsx'),
  history: () => import('./history.tsx'),
  story: () => import('./story.tsx'),
  undo: () => import('./undo.tsx'),
  conversations: () => import('./conversations.tsx'),
  policies: () => import('./policies.tsx'),
  tools: () => import('./tools.tsx'),
  grants: () => import('./grants.tsx'),
  people: () => import('./people.tsx'),
  agents: () => import('./agents.tsx'),
  ledger: () => import('./ledger.tsx'),
  health: () => import('./health.tsx'),
  figures: () => import('./figures.tsx'),
};

const NAV: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['', 'Queue'],
    ['running', 'Running'],
    ['history', 'History'],
    ['conversations', 'Conversations'],
  ],
  [
    ['policies', 'Policies'],
    ['tools', 'Tools'],
    ['grants', 'Grants'],
  ],
  [
    ['people', 'People'],
    ['agents', 'Agents'],
  ],
  [
    ['ledger', 'Ledger'],
    ['health', 'Health'],
    ['figures', 'Figures'],
  ],
];

export function Shell() {
  const app = useApp();
  const order = useOrder();
  const route = useCell(app.route);
  const queue = useCell(app.queue);
  const ticked = useCell(app.ticked);
  const [freezing, setFreezing] = useState(false);
  const [help, setHelp] = useState(false);
  const { screen, id, current, deciding } = screenOf(route, order, isNarrow());
  const [first] = order.all;
  useEffect(() => {
    document.title =
      screen === '' || screen === 'decide'
        ? `Queue (${order.mine.length}) · Keyturn`
        : `${titleOf(screen)} · Keyturn`;
  }, [screen, queue]);
  // What is drawn stays drawn: after a decision nothing else comes in its place by itself.
  useEffect(() => {
    if (screen === '' && first && !isNarrow() && ticked.size < 2)
      location.replace(`#/decide/${first.intent_id}`);
  }, [screen, first?.intent_id]);
  const go = (to: string | null) => {
    if (to !== null) location.hash = to;
  };
  const step = (by: number) => {
    const next = nextIn(order, current ?? '', by);
    if (next) go(`/decide/${next.intent_id}`);
  };
  useKeys({
    j: deciding && (() => step(1)),
    k: deciding && (() => step(-1)),
    x: deciding && current !== null && (() => app.ticked.set(toggled(ticked, current))),
    f: () => setFreezing(true),
    '/': () => go('/history'),
    '?': () => setHelp(!help),
    Escape: () => (help ? setHelp(false) : setFreezing(false)),
  });
  const main =
    screen === 'batch' || (deciding && ticked.size > 1 && screen !== 'decide') ? (
      <Later key="batch" screen="batch" id={[...ticked].join()} />
    ) : current !== null ? (
      <DecisionScreen intent_id={current} />
    ) : (
      <Empty />
    );
  // A diff needs the room of the queue to stand side by side.
  const is_roomy =
    current !== null && queue?.get(current)?.effect === 'plan' && !matchMedia('(min-width: 1720px)').matches;
  const list_only = (screen === '' || screen === 'queue') && isNarrow() && (queue?.size ?? 0) > 0;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <div class={`app ${deciding && !is_roomy ? '' : 'wide'} ${list_only ? 'list-only' : ''}`}>
        <Rail
          screen={deciding ? '' : screen === 'story' || screen === 'undo' ? 'history' : screen}
          onFreeze={() => setFreezing(true)}
        />
        {deciding && !is_roomy && <QueuePane current={current} as={list_only ? 'main' : 'aside'} />}
        {!list_only && (
          <main id="main" tabIndex={-1} class="pane">
            <Frozen />
            <Shadow />
            {ticked.size > 0 && screen !== 'batch' && deciding && (
              <div class="banner accent">
                <p>{ticked.size} ticked for one touch.</p>
                <a class="act small" href="#/batch">
                  Decide on them together
                </a>
                <button type="button" class="act small" onClick={() => app.ticked.set(new Set())}>
                  Untick
                </button>
              </div>
            )}
            {deciding ? main : <Later key={screen} screen={screen} id={id} />}
          </main>
        )}
      </div>
      {freezing && <FreezeDialog onClose={() => setFreezing(false)} />}
      {help && <Keys onClose={() => setHelp(false)} />}
    </>
  );
}

function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}

const titleOf = (screen: string) => NAV.flat().find(([path]) => path === screen)?.[1] ?? 'Story';

function Later({ screen, id }: { readonly screen: string; readonly id: string }) {
  const [Screen, setScreen] = useState<ComponentType<{ readonly id: string }> | null>(null);
  useEffect(() => {
    let is_here = true;
    const load = LATER[screen];
    if (load) void load().then(({ screens }) => is_here && setScreen(() => screens[screen] ?? null));
    scrollTo(0, 0);
    return () => {
      is_here = false;
    };
  }, [screen]);
  if (!LATER[screen])
    return (
      <div class="page">
        <h1>There is no such page.</h1>
      </div>
    );
  return Screen ? (
    <Screen id={id} />
  ) : (
    <div class="page" aria-busy="true">
      <h1 class="vh">{titleOf(screen)}</h1>
    </div>
  );
}

function Nav({ screen, label }: { readonly screen: string; readonly label: string }) {
  const count = useOrder().mine.length;
  return (
    <nav class="nav" aria-label={label}>
      {NAV.map((group) => (
        <ul>
          {group.map(([path, text]) => (
            <li>
              <a href={`#/${path}`} aria-current={path === screen ? 'page' : undefined}>
                {text}
                {path === '' && count > 0 && <span class="n">{count}</span>}
              </a>
            </li>
          ))}
        </ul>
      ))}
    </nav>
  );
}

function Rail({ screen, onFreeze }: { readonly screen: string; readonly onFreeze: () => void }) {
  const app = useApp();
  const { me, all, name } = useMe();
  const live = useCell(app.live);
  const choose = (key: string) => {
    app.kept.set('me', key);
    app.chosen.set(key);
  };
  const turn = () => {
    const { dataset } = document.documentElement;
    const dark = dataset.theme
      ? dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    dataset.theme = dark ? 'light' : 'dark';
    app.kept.set('theme', dataset.theme);
  };
  return (
    <header class="rail">
      <button type="button" class="menu-button" popovertarget="menu" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <a class="brand" href="#/">
        <Icon name="key" />
        <span>Keyturn</span>
      </a>
      <Nav screen={screen} label="Main" />
      <div class="rail-foot">
        <button type="button" class="freeze" onClick={onFreeze}>
          <Icon name="pause" />
          <span>
            Freeze<span class="long"> everything</span>
          </span>
          <kbd>f</kbd>
        </button>
        <div class="me">
          {all.length > 1 ? (
            <label class="choose">
              <span class="vh">You sign as</span>
              <select value={me?.key ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
                {all.map((one) => (
                  <option value={one.key}>
                    {one.name}, “{one.label}”
                  </option>
                ))}
              </select>
            </label>
          ) : me ? (
            <span>
              <b>{me.name}</b>, passkey “{visible(me.label)}”
            </span>
          ) : (
            <span>
              {name && <b>{name}</b>}
              {name && ', '}
              <a href="#/people">no passkey here</a>
            </span>
          )}
          <span class={`live ${live.state}`}>
            {live.state === 'live'
              ? `Live${live.seq === null ? '' : `, entry ${grouped(live.seq)}`}`
              : live.state === 'lost'
                ? 'No connection'
                : 'Session over'}
          </span>
          <button type="button" class="theme" onClick={turn}>
            Light or dark
          </button>
        </div>
      </div>
      <div class="menu" id="menu" popover="auto">
        <Nav screen={screen} label="Menu" />
      </div>
    </header>
  );
}

/** While anything is frozen, every screen says so. */
function Frozen() {
  const { freezes } = useCell(useApp().world);
  if (freezes.length === 0) return null;
  return (
    <div class="banner danger" role="status">
      <Icon name="pause" />
      <p>
        {freezes.map(({ scope, name, by, at, reason }) => (
          <span>
            <b>
              {scope === 'system' || scope === 'tenant' ? (
                'Everything is frozen'
              ) : (
                <>
                  The {scope} <bdi>{visible(name)}</bdi> is frozen
                </>
              )}
            </b>{' '}
            since {clockOf(at)}, by <bdi>{by}</bdi>: “<bdi>{visible(reason)}</bdi>”{' '}
          </span>
        ))}
      </p>
      <a class="act small" href="#/health">
        Unfreeze…
      </a>
    </div>
  );
}

/** While calls pass without an approval, every screen says so. */
function Shadow() {
  const { shadow } = useCell(useApp().world);
  if (shadow.length === 0) return null;
  return (
    <div class="banner danger" role="status">
      <Icon name="tri" />
      <p>
        <b>Shadow mode: calls pass without an approval.</b> {shadowWords(shadow)}
      </p>
      <a class="act small" href="#/health">
        Which…
      </a>
    </div>
  );
}

function Keys({ onClose }: { readonly onClose: () => void }) {
  return (
    <div class="veil">
      <div class="sheet-box" role="dialog" aria-modal="true" aria-label="Keys">
        <h2>Keys</h2>
        <dl class="rows">
          {KEYS.map(([key, what]) => (
            <div>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <div class="acts">
          <button type="button" class="act" onClick={onClose}>
            Close <kbd>esc</kbd>
          </button>
        </div>
      </div>
    </div>
  );
}
