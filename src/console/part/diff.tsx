import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ShownHunk } from '../../display/shown.ts';
import type { ShownEffect } from '../app.ts';
import { useLook, useSeenMark } from '../look.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { grouped } from '../words.ts';
import { type DiffLine, type DiffPart, type DiffRow, diffParts, diffRows, heightOf } from './diff-rows.ts';
import { asAnnounced, countsOf, HunksContext } from './hunks.ts';
import { ValueText } from './text.tsx';

type Block = ShownEffect['blocks'][number];

/** The part of a changed line that differs, by words: before it, itself, after it. */
function marked(text: string, other: string | undefined): readonly [string, string, string] {
  if (other === undefined) return [text, '', ''];
  const split = (one: string) => one.match(/\w+|\s+|[^\w\s]/gu) ?? [];
  const [a, b] = [split(text), split(other)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++;
  const join = (from: number, to: number) => a.slice(from, to).join('');
  return [join(0, start), join(start, a.length - end), join(a.length - end, a.length)];
}

const CLASSES = { ' ': 'ln', '-': 'ln del', '+': 'ln add', '\\': 'ln dim' } as const;
const SIGNS = { ' ': '', '-': '−', '+': '+', '\\': '' } as const;

function Ln({ line, side }: { readonly line: DiffLine | null; readonly side: 'old' | 'now' | 'both' }) {
  if (line === null) return <div class="ln gap" />;
  const { sign, text, other } = line;
  const [before, differs, after] = marked(text, other);
  const no = side === 'old' ? line.old_no : (line.new_no ?? line.old_no);
  return (
    <div class={CLASSES[sign]}>
      <span class="no">{no}</span>
      <span class="sg">{SIGNS[sign]}</span>
      <span class="tx">
        {before}
        {differs !== '' && <mark>{differs}</mark>}
        {after}
      </span>
    </div>
  );
}

function RowOf({ row, wide }: { readonly row: DiffRow; readonly wide: boolean }) {
  if ('hunk' in row) return <div class="hunk">{row.hunk}</div>;
  const { old, now } = row;
  if (wide)
    return (
      <div class="pair">
        <Ln line={old} side="old" />
        <Ln line={now} side="now" />
      </div>
    );
  if (old === now) return <Ln line={old} side="both" />;
  return (
    <>
      {old && <Ln line={old} side="both" />}
      {now && <Ln line={now} side="both" />}
    </>
  );
}

/** Parts that are far from the screen are only as high as they would be. */
const LINE_PX = 20;

/** The rows of a part that is near the screen. Lines that were read are forgotten when they are far again. */
function useRows(part: DiffPart, near: boolean, read: ReadPart): readonly DiffRow[] | Trouble | null {
  const [came, setCame] = useState<readonly DiffRow[] | Trouble | null>(null);
  useEffect(() => {
    if (!near || 'rows' in part) return;
    let is_here = true;
    const tell = (next: readonly DiffRow[] | Trouble) => is_here && setCame(next);
    read(part.from, part.apart.length)
      .then((hunks) => diffRows(asAnnounced(part.apart, hunks), part.before))
      .then(tell, (error: unknown) => tell(troubleOf(error)));
    return () => {
      is_here = false;
      setCame(null);
    };
  }, [part, near]);
  return 'rows' in part ? part.rows : came;
}

type ReadPart = (from: number, count: number) => Promise<readonly ShownHunk[]>;

/** Stands below lines that were read apart, and only while they are drawn. */
function ApartMark({ label, place }: { readonly label: string; readonly place: string }) {
  return <div ref={useSeenMark(label, place)} class="mark-end" />;
}

function Chunk({
  part,
  wide,
  first,
  read,
  label,
  place,
}: {
  readonly part: DiffPart;
  readonly wide: boolean;
  readonly first: boolean;
  readonly read: ReadPart;
  readonly label: string;
  readonly place: string;
}) {
  const look = useLook();
  const is_apart = 'apart' in part;
  // Not seen from the start: whether its lines ever come is not known.
  useEffect(() => {
    if (is_apart) look.expect(label, place);
  }, [look, label, place, is_apart]);
  const ref = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(first && 'rows' in part);
  const height = useRef(heightOf(part, wide) * LINE_PX);
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting && box.childElementCount > 0) height.current = box.offsetHeight;
        setNear(entry.isIntersecting);
      },
      { rootMargin: '1200px 0px' },
    );
    observer.observe(box);
    return () => observer.disconnect();
  }, [part, wide]);
  const rows = useRows(part, near, read);
  // The same elements are not drawn again when the dock beneath has something else to say.
  return useMemo(() => {
    if (near && rows !== null && 'words' in rows)
      return (
        <div ref={ref} style={{ minHeight: `${height.current}px` }}>
          <p class="hunk t-danger">
            These lines could not be read. {rows.words} {rows.advice}{' '}
            {rows.code !== null && <code>{rows.code}</code>}
          </p>
        </div>
      );
    const drawn = near && rows !== null && !('words' in rows) ? rows : null;
    return (
      <div ref={ref} style={drawn ? {} : { height: `${height.current}px` }} aria-busy={near && !drawn}>
        {drawn?.map((row, i) => (
          <RowOf key={i} row={row} wide={wide} />
        ))}
        {drawn && is_apart && <ApartMark label={label} place={place} />}
      </div>
    );
  }, [part, wide, near, rows, label, place]);
}

const WIDE_PX = 920;

/** A diff: side by side where there is room, in one column where not. Lines wrap: what is off the edge is not seen. */
export function DiffView({
  block,
  label,
  note,
  gone = false,
  place = null,
}: {
  readonly block: Block;
  readonly label: string;
  readonly note: string;
  readonly gone?: boolean;
  /** Of a plan that waits: where lines that are not here are read. */
  readonly place?: { readonly action_id: string; readonly path: string } | null;
}) {
  const ask = useContext(HunksContext);
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const box = ref.current;
    if (!box) return;
    setWidth(box.clientWidth);
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  const { parts, added, removed } = useMemo(
    () => ({ parts: diffParts(block.hunks), ...countsOf(block.hunks) }),
    [block],
  );
  const read: ReadPart = (from, count) =>
    ask && place ? ask({ ...place, from, count }) : Promise.reject(new Error('Open the proposal again.'));
  const end = useSeenMark(label, place?.action_id);
  const wide = width >= WIDE_PX && added > 0 && removed > 0;
  return (
    <section class={`file ${gone ? 'gone' : ''}`} ref={ref} aria-label={label}>
      <header>
        <span class="path">
          <ValueText pieces={block.title} label={`path ${label}`} />
        </span>
        <span class="kind">{note}</span>
        <span class="end">
          <span>
            +{grouped(added)} −{grouped(removed)}
          </span>
        </span>
      </header>
      {block.hunks.length === 0 && block.lines.slice(2).map((line) => <p class="hunk">{line}</p>)}
      {width > 0 &&
        parts.map((part, i) => (
          <Chunk
            key={`${wide}${i}`}
            {...{ part, wide, read, label }}
            first={i === 0}
            place={`${place?.action_id} ${i}`}
          />
        ))}
      {block.left_out > 0 && (
        <p class="hunk t-danger">{block.left_out} more lines are too many to be shown.</p>
      )}
      <div ref={end} class="mark-end" />
    </section>
  );
}
