import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { unmixed } from '../../canonical/alphabet.ts';
import { visible } from '../../canonical/visible.ts';
import type { ShownEffect } from '../app.ts';
import { useLook } from '../look.ts';
import { cut, plural } from '../words.ts';

export type Pieces = ShownEffect['headline']['value'];

/** Longer values are cut until the reader opens them. */
export const CUT_CHARS = 600;

/** A value that an agent or another person chose: dotted, by itself in its reading direction, never as markup, and in one alphabet a word. */
export function Val({ text }: { readonly text: string }) {
  return <bdi class="val">{unmixed(text)}</bdi>;
}

/** One value of an effect. A long one is cut, and the dock says so until it is opened. */
export function ValueText({ pieces, label }: { readonly pieces: Pieces; readonly label: string }) {
  const look = useLook();
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const [open, setOpen] = useState(false);
  const is_cut = length > CUT_CHARS && !(open || look.isOpen(label));
  look.needs(label, length > CUT_CHARS);
  let left = is_cut ? CUT_CHARS : Number.POSITIVE_INFINITY;
  return (
    <>
      {pieces.map(({ text, from }) => {
        const part = text.slice(0, Math.max(0, left));
        left -= text.length;
        if (part === '') return null;
        return from === 'agent' ? <Val text={part} /> : <bdi>{part}</bdi>;
      })}
      {is_cut && (
        <button
          type="button"
          class="more"
          onClick={() => {
            setOpen(true);
            look.open(label);
          }}
        >
          … show all {plural(length, 'character')}
        </button>
      )}
    </>
  );
}

/** Text that an agent or another person wrote: boxed by a dashed line, in the serif voice. */
export function Words({
  who,
  text,
  note = 'not checked',
}: {
  readonly who: string;
  readonly text: string;
  readonly note?: string;
}) {
  const [open, setOpen] = useState(false);
  const shown = open || text.length <= 1500 ? text : `${text.slice(0, 1500)}…`;
  return (
    <figure class="words">
      <figcaption>
        <span>
          In the words of <bdi>{who}</bdi>
        </span>
        <span>{note}</span>
      </figcaption>
      <blockquote dir="auto">
        {shown.split('\n').map((line) => (
          <p>{unmixed(visible(line))}</p>
        ))}
      </blockquote>
      {shown !== text && (
        <button type="button" class="more" onClick={() => setOpen(true)}>
          Show all {plural(text.length, 'character')}
        </button>
      )}
    </figure>
  );
}

/** Bytes that a tool printed, or a file holds. */
export function PrintedText({
  title,
  text,
  note,
}: {
  readonly title: string;
  readonly text: string;
  readonly note?: string;
}) {
  return (
    <figure class="words">
      <figcaption>
        <span>{title}</span>
        <span>{note}</span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by the keyboard */}
      <pre class="printed" dir="ltr" tabIndex={0}>
        {text.split('\n').map((line) => `${visible(line)}\n`)}
      </pre>
    </figure>
  );
}

/** 8…4 hex, dim; a press shows all 64. */
export function Dig({ digest }: { readonly digest: string }) {
  return (
    <details class="dig">
      <summary title="Show all of it">{`${digest.slice(0, 8)}…${digest.slice(-4)}`}</summary>
      <code>{digest}</code>
    </details>
  );
}

export function Target({ text }: { readonly text: string }) {
  return <Val text={visible(cut(text))} />;
}

export function Fold({
  title,
  note,
  later,
  children,
}: {
  title: string;
  note?: string;
  /** Made when it is opened. Not for what has to be opened before a decision: that is known once it is drawn. */
  later?: () => ComponentChildren;
  children?: ComponentChildren;
}) {
  const [opened, setOpened] = useState(false);
  return (
    <details class="fold" onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>
        {title}
        <span>{note}</span>
      </summary>
      <div>{later ? opened && later() : children}</div>
    </details>
  );
}

export function LabelRow({
  label,
  alarm,
  children,
}: {
  label: string;
  alarm?: boolean;
  children: ComponentChildren;
}) {
  return (
    <div class={alarm ? 'alarm' : ''}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
