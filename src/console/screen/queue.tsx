import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { type QueueItem, useApp, useOrder } from '../app.ts';
import { useCell } from '../cell.ts';
import { useNow } from '../clock.ts';
import { Icon } from '../part/icon.tsx';
import { cut, listedDeed, span } from '../words.ts';

const CHUNK = 40;
const ITEM_PX = 104;

export function QueuePane({
  current,
  as = 'aside',
}: {
  readonly current: string | null;
  readonly as?: 'aside' | 'main';
}) {
  const app = useApp();
  const queue = useCell(app.queue);
  const order = useOrder();
  const { mine, others } = order;
  const now = useNow(30_000);
  const Tag = as;
  const Head = as === 'main' ? 'h1' : 'h2';
  const Sub = as === 'main' ? 'h2' : 'h3';
  const chunks = useMemo(() => ({ mine: chunksOf(mine), others: chunksOf(others) }), [order]);
  const list = (items: readonly QueueItem[], some: readonly (readonly QueueItem[])[], title: string) =>
    items.length > 0 && (
      <>
        <Sub class="sub">
          <span>{title}</span>
          <span>{items.length}</span>
        </Sub>
        {some.map((few, i) => (
          <Items key={i} items={few} current={current} now={now} first={i === 0} />
        ))}
      </>
    );
  return (
    <Tag class="queue" aria-label="Queue" {...(as === 'main' && { id: 'main', tabIndex: -1 })}>
      <div class="queue-head">
        <Head>Queue</Head>
        <span class="keys not-narrow">
          <kbd>j</kbd>
          <kbd>k</kbd>
        </span>
      </div>
      {list(mine, chunks.mine, 'Needs you')}
      {list(others, chunks.others, 'Waits for others')}
      {queue && mine.length + others.length === 0 && <p class="nothing">Nothing waits.</p>}
    </Tag>
  );
}

const chunksOf = (items: readonly QueueItem[]) =>
  Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));

/** Items that are far from the screen are only as high as they would be. */
function Items({
  items,
  current,
  now,
  first,
}: {
  readonly items: readonly QueueItem[];
  readonly current: string | null;
  readonly now: number;
  readonly first: boolean;
}) {
  const ref = useRef<HTMLUListElement>(null);
  const has_current = items.some(({ intent_id }) => intent_id === current);
  const [near, setNear] = useState(first);
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const observer = new IntersectionObserver(([entry]) => entry && setNear(entry.isIntersecting), {
      rootMargin: '800px 0px',
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  const drawn = near || has_current;
  const chosen = has_current ? current : null;
  // The same elements are not drawn again: a key moves the mark in one list or two, not in all.
  return useMemo(
    () => (
      <ul ref={ref} style={drawn ? {} : { height: `${items.length * ITEM_PX}px` }}>
        {drawn &&
          items.map((one) => (
            <Item key={one.intent_id} one={one} now={now} is_current={one.intent_id === chosen} />
          ))}
      </ul>
    ),
    [items, drawn, now, chosen],
  );
}

/** The queue alone is scrolled: the proposal beside it is read from its top. */
function showInQueue(item: HTMLElement): void {
  const pane = item.closest('.queue');
  if (!pane) return;
  const [{ top, bottom }, box] = [item.getBoundingClientRect(), pane.getBoundingClientRect()];
  if (bottom > box.bottom) pane.scrollTop += bottom - box.bottom + EDGE_PX;
  else if (top < box.top + HEAD_PX) pane.scrollTop += top - box.top - HEAD_PX;
}

const EDGE_PX = 8;
/** The head of the queue stays over its first item. */
const HEAD_PX = 56;

function Item({
  one,
  now,
  is_current,
}: {
  readonly one: QueueItem;
  readonly now: number;
  readonly is_current: boolean;
}) {
  const app = useApp();
  const ticked = useCell(app.ticked).has(one.intent_id);
  const ref = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (is_current && ref.current) showInQueue(ref.current);
  }, [is_current]);
  const { verb, target } = listedDeed(one);
  const soon = Date.parse(one.expires_at) - now < 10 * 60_000;
  const { approvers, approvals_needed } = one;
  // The same elements: of forty, a key changes two.
  return useMemo(
    () => (
      <li>
        <a
          ref={ref}
          class={`item ${ticked ? 'ticked' : ''}`}
          href={`#/decide/${one.intent_id}`}
          aria-current={is_current ? 'true' : undefined}
        >
          <span class="top">
            <span class="what">
              {ticked && <Icon name="ok" />}
              {verb}
              {target !== null && (
                <>
                  {' '}
                  <bdi class="val">{cut(visible(target), 28)}</bdi>
                </>
              )}
            </span>
            <span class="age">{span(now - Date.parse(one.proposed_at))}</span>
          </span>
          <span class="goal">
            <bdi dir="auto">“{cut(visible(one.goal ?? 'The words were erased.'), 160)}”</bdi>
          </span>
          <span class="meta">
            <bdi>{one.proposer}</bdi>
            <span class={`tag ${soon ? 'warn' : 'plain'}`}>
              {soon ? (
                <>
                  <Icon name="tri" />
                  expires in {span(Date.parse(one.expires_at) - now)}
                </>
              ) : (
                `${approvers.length} of ${approvals_needed} approved`
              )}
            </span>
          </span>
        </a>
      </li>
    ),
    [one, now, is_current, ticked],
  );
}
