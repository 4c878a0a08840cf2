import { useApp, useTold } from '../app.ts';
import { useCell } from '../cell.ts';
import { Icon } from '../part/icon.tsx';
import { dayOf } from '../words.ts';

/** Nothing to decide: what needs a look instead, and how the week was. */
export function Empty() {
  const app = useApp();
  const queue = useCell(app.queue);
  const { value } = useTold(
    () => (queue === null ? Promise.resolve(null) : app.api.system.status()),
    [queue === null],
    () => true,
  );
  if (queue === null)
    return (
      <div class="page" aria-busy="true">
        <h1 class="vh">Queue</h1>
      </div>
    );
  const needs = value
    ? [
        ...value.in_doubt
          .filter(({ status_word }) => status_word === 'IN DOUBT')
          .map((one) => ({ ...one, word: 'In doubt: settle it' })),
        ...value.stuck.map((one) => ({ ...one, word: 'Its undo is stuck' })),
        ...value.failed.slice(0, 5).map((one) => ({ ...one, word: 'Failed' })),
      ]
    : [];
  const week = app.kept.week(Date.now());
  return (
    <div class="empty">
      <span class="brandmark">
        <Icon name="key" />
      </span>
      <h1>Nothing waits for you</h1>
      <p>What an agent proposes appears here at once. This page needs no reload.</p>
      {needs.length > 0 && (
        <ul class="list">
          {needs.map((one) => (
            <li>
              <div>
                <a href={`#/story/${one.intent_id}`}>{one.tool}</a>
                <p>
                  <bdi>{one.proposer}</bdi>
                </p>
              </div>
              <span class="end">
                {one.word}, {dayOf(one.since)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {week && <p class="week">{week} Kept in this browser only.</p>}
    </div>
  );
}
