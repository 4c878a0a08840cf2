import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Shown } from '../app.ts';
import { useSeenMark } from '../look.ts';
import { Value } from './text.tsx';

type Block = Shown['blocks'][number];

/** One line of a diff, on one side or on both. */
interface DiffLine {
  readonly sign: ' ' | '-' | '+' | '\\';
  readonly old_no: number | null;
  readonly new_no: number | null;
  readonly text: string;
  /** The line that it stands against, where a line was changed. */
  readonly other?: string;
}

type DiffRow = { readonly hunk: string } | { readonly old: DiffLine | null; readonly now: DiffLine | null };

/** Lines in pairs: what was removed beside what was added in its place. */
export function rowsOf({ hunks }: Pick<Block, 'hunks'>): DiffRow[] {
  return hunks.flatMap(({ old_start, old_lines, new_start, new_lines, lines }) => {
    const rows: DiffRow[] = [{ hunk: hunkWords(old_start, old_lines, new_start, new_lines) }];
    let [old_no, new_no] = [old_start, new_start];
    let removed: DiffLine[] = [];
    let added: DiffLine[] = [];
    const flush = () => {
      for (let i = 0; i < Math.max(removed.length, added.length); i++) {
        const [old, now] = [removed[i] ?? null, added[i] ?? null];
        rows.push({
          old: old && now ? { ...old, other: now.text } : old,
          now: now && old ? { ...now, other: old.text } : now,
        });
      }
      [removed, added] = [[], []];
    };
    for (const line of lines) {
      const [sign, text] = [line[0] as DiffLine['sign'], line.slice(1)];
      if (sign === '-') removed.push({ sign, text, old_no: old_no++, new_no: null });
      else if (sign === '+') added.push({ sign, text, old_no: null, new_no: new_no++ });
      else {
        flush();
        const same =
          sign === '\\'
            ? { sign, text, old_no: null, new_no: null }
            : { sign, text, old_no: old_no++, new_no: new_no++ };
        rows.push({ old: same, now: same });
      }
    }
    flush();
    return rows;
  });
}

function hunkWords(old_start: number, old_lines: number, new_start: number, new_lines: number): string {
  const range = (start: number, count: number) =>
    count <= 1 ? `${start}` : `${start} to ${start + count - 1}`;
  if (old_lines === 0) return `New lines ${range(new_start, new_lines)}`;
  if (new_lines === 0) return `Lines ${range(old_start, old_lines)}, removed`;
  const [a, b] = [range(old_start, old_lines), range(new_start, new_lines)];
  return a === b ? `Lines ${a}` : `Lines ${a}, new ${b}`;
}

/** The part of a changed line that differs, by words: before it, itself, after it. */
export function marked(text: string, other: string | undefined): readonly [string, string, string] {
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

/** So many rows are drawn at once; those that are far from the screen are only as high as they would be. */
const CHUNK = 60;
const LINE_PX = 20;

function Chunk({
  rows,
  wide,
  first,
}: {
  readonly rows: readonly DiffRow[];
  readonly wide: boolean;
  readonly first: boolean;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(first);
  const height = useRef(rows.length * LINE_PX);
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
  }, [rows, wide]);
  // The same elements are not drawn again when the dock beneath has something else to say.
  return useMemo(
    () => (
      <div ref={ref} style={near ? {} : { height: `${height.current}px` }}>
        {near && rows.map((row, i) => <RowOf key={i} row={row} wide={wide} />)}
      </div>
    ),
    [rows, wide, near],
  );
}

const WIDE_PX = 920;

/** A diff: side by side where there is room, in one column where not. Lines wrap: what is off the edge is not seen. */
export function Diff({
  block,
  label,
  note,
  gone = false,
}: {
  readonly block: Block;
  readonly label: string;
  readonly note: string;
  readonly gone?: boolean;
}) {
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
  const { chunks, added, removed } = useMemo(() => {
    const rows = rowsOf(block);
    const counted = (sign: string) =>
      block.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line[0] === sign).length, 0);
    return {
      chunks: Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, i) =>
        rows.slice(i * CHUNK, (i + 1) * CHUNK),
      ),
      added: counted('+'),
      removed: counted('-'),
    };
  }, [block]);
  const end = useSeenMark(label);
  const wide = width >= WIDE_PX && added > 0 && removed > 0;
  return (
    <section class={`file ${gone ? 'gone' : ''}`} ref={ref} aria-label={label}>
      <header>
        <span class="path">
          <Value pieces={block.title} label={`path ${label}`} />
        </span>
        <span class="kind">{note}</span>
        <span class="end">
          <span>
            +{added} −{removed}
          </span>
        </span>
      </header>
      {block.hunks.length === 0 && block.lines.slice(2).map((line) => <p class="hunk">{line}</p>)}
      {width > 0 &&
        chunks.map((some, i) => <Chunk key={`${wide}${i}`} rows={some} wide={wide} first={i === 0} />)}
      {block.left_out > 0 && (
        <p class="hunk t-danger">{block.left_out} more lines are too many to be shown.</p>
      )}
      <div ref={end} class="mark-end" />
    </section>
  );
}
