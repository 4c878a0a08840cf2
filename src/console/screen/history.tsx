import { useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../canonical/visible.ts';
import { type QueueItem, useApp, useTold } from '../app.ts';
import { PageFrame } from '../part/page.tsx';
import { cut, dayOf, listedDeed } from '../words.ts';

type StatusWord = QueueItem['status_word'];

/** A type with every one of them: none that comes to be is left out. */
const STATUS_WORDS: Readonly<Record<StatusWord, true>> = {
  waiting: true,
  approved: true,
  'approval expired': true,
  running: true,
  succeeded: true,
  failed: true,
  rejected: true,
  withdrawn: true,
  expired: true,
  replaced: true,
  'rolled back': true,
  undone: true,
  happened: true,
  'IN DOUBT': true,
  STUCK: true,
};

/** Everything that was ever asked for, newest first, with filters. */
function History(_: { readonly id: string }) {
  const { api } = useApp();
  const [text, setText] = useState('');
  const [status_word, setStatusWord] = useState<StatusWord | ''>('');
  const [more, setMore] = useState<readonly QueueItem[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [looked, setLooked] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const asked = {
    ...(text.trim() !== '' && { text: text.trim() }),
    ...(status_word !== '' && { status_word }),
    limit: 50,
  };
  const told = useTold(
    () => api.intents.list(asked),
    [text, status_word],
    ({ kind }) => /^(intent|approval|execution|rollback|order)\./.test(kind),
  );
  useEffect(() => {
    setMore([]);
    setNext(told.value?.next ?? null);
    setLooked(told.value?.looked ?? 0);
  }, [told.value]);
  const goOn = async () => {
    if (next === null) return;
    const page = await api.intents.list({ ...asked, cursor: next });
    setMore([...more, ...page.intents]);
    setNext(page.next);
    setLooked(looked + page.looked);
  };
  return (
    <PageFrame
      title="History"
      told={{ ...told, value: told.value ?? { intents: [], next: null, looked: 0 } }}
    >
      {({ intents }) => (
        <>
          <search>
            <form class="filters" onSubmit={(event) => event.preventDefault()}>
              <div class="field">
                <label for="text">Goal, tool or proposer</label>
                <input
                  id="text"
                  ref={field}
                  type="search"
                  autocomplete="off"
                  value={text}
                  onInput={({ currentTarget }) => setText(currentTarget.value)}
                />
              </div>
              <div class="field">
                <label for="status">Stands</label>
                <select
                  id="status"
                  value={status_word}
                  onChange={({ currentTarget }) => setStatusWord(currentTarget.value as StatusWord | '')}
                >
                  <option value="">anywhere</option>
                  {Object.keys(STATUS_WORDS).map((one) => (
                    <option value={one}>{one.toLowerCase()}</option>
                  ))}
                </select>
              </div>
            </form>
          </search>
          <ul class="list" aria-live="polite">
            {[...intents, ...more].map((one) => {
              const { verb, target } = listedDeed(one);
              return (
                <li key={one.intent_id}>
                  <div>
                    <a href={`#/${one.missing > 0 ? 'decide' : 'story'}/${one.intent_id}`}>
                      {verb} {target !== null && <bdi class="val">{cut(visible(target), 40)}</bdi>}
                    </a>
                    <p class="goal-line">
                      <bdi>{one.proposer}</bdi>: “
                      <bdi dir="auto">{cut(visible(one.goal ?? 'The words were erased.'), 140)}</bdi>”
                    </p>
                  </div>
                  <span class="end">
                    {one.status_word.toLowerCase()}, {dayOf(one.proposed_at)}
                  </span>
                </li>
              );
            })}
          </ul>
          {told.value && intents.length + more.length === 0 && (
            <p class="dim">
              {next === null ? 'Nothing fits.' : `None so far: the newest ${looked} were looked at.`}
            </p>
          )}
          {next !== null && (
            <button type="button" class="act" onClick={() => void goOn()}>
              Older
            </button>
          )}
        </>
      )}
    </PageFrame>
  );
}

export const screens = { history: History };
