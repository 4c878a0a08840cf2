import type { ComponentChildren } from 'preact';
import type { AnswerState } from '../app.ts';

/** A page beside the queue: a bar, a title, and what it holds once that is known. */
export function PageFrame<T>({
  title,
  lead,
  told,
  narrow = false,
  quiet = false,
  children,
}: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly told: AnswerState<T>;
  readonly narrow?: boolean;
  /** The page has a title of its own. */
  readonly quiet?: boolean;
  readonly children: (value: T) => ComponentChildren;
}) {
  return (
    <>
      <div class="bar">
        <span>{title}</span>
      </div>
      <div class={`page ${narrow ? 'narrow' : ''}`}>
        <header class="ask">
          <h1 class={quiet ? 'vh' : ''}>{title}</h1>
          {lead && <div class="who">{lead}</div>}
        </header>
        {told.trouble && (
          <div class="banner warn">
            <p>
              <b>{told.trouble.words}</b> {told.trouble.advice} <code>{told.trouble.code}</code>
            </p>
          </div>
        )}
        {told.value === null
          ? !told.trouble && (
              <p class="dim" aria-busy="true">
                Asking …
              </p>
            )
          : children(told.value)}
      </div>
    </>
  );
}

/** Rows of a list, or a sentence where there are none. */
export function List({
  items,
  none,
}: {
  readonly items: readonly ComponentChildren[];
  readonly none: string;
}) {
  return items.length === 0 ? (
    <p class="dim">{none}</p>
  ) : (
    <ul class="list">
      {items.map((item) => (
        <li>{item}</li>
      ))}
    </ul>
  );
}
