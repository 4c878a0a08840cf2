import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ShownHunk } from '../../display/shown.ts';
import type { ShownEffect } from '../app.ts';
import { useSeenMark } from '../look.ts';
import { type Trouble, troubleOf } from '../trouble.ts';
import { countsOf, HunksContext } from './hunks.ts';
import { ValueText } from './text.tsx';

type Block = ShownEffect['blocks'][number];

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

/** Lines in pairs: what was removed beside what was added in its place. What follows directly on the hunk before has no head. */
function rowsOf(hunks: readonly ShownHunk[], before?: ShownHunk): DiffRow[] {
  return hunks.flatMap((hunk, i) => {
    const { old_start, old_lines, new_start, new_lines, lines } = hunk;
    const rows: DiffRow[] = follows(hunk, i === 0 ? before : hunks[i - 1])
      ? []
      : [{ hunk: hunkWords(old_start, old_lines, new_start, new_lines) }];
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

function follows({ old_start, new_start }: ShownHunk, before: ShownHunk | undefined): boolean {
  return (
    before !== undefined &&
    before.old_start + before.old_lines === old_start &&
    before.new_start + before.new_lines === new_start
  );
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

/** So many rows are drawn at once; those that are far from the screen are only as high as they would be. */
const CHUNK = 60;
const LINE_PX = 20;

/** Rows that are here; or hunks of which the lines are read when they come near. */
type DiffPart =
  | { readonly rows: readonly DiffRow[] }
  | { readonly from: number; readonly apart: readonly ShownHunk[]; readonly before: ShownHunk | undefined };

/** So many lines are read with one question. */
const READ_LINES = 240;

function partsOf(hunks: readonly ShownHunk[]): DiffPart[] {
  const parts: DiffPart[] = [];
  for (let at = 0; at < hunks.length; ) {
    const from = at;
    const is_apart = hunks[at]!.apart !== undefined;
    for (let lines = 0; at < hunks.length && (hunks[at]!.apart !== undefined) === is_apart; at++) {
      lines += hunks[at]!.apart ?? 0;
      if (lines > READ_LINES && at > from) break;
    }
    const some = hunks.slice(from, at);
    if (is_apart) parts.push({ from, apart: some, before: hunks[from - 1] });
    else {
      const rows = rowsOf(some, hunks[from - 1]);
      for (let i = 0; i < rows.length; i += CHUNK) parts.push({ rows: rows.slice(i, i + CHUNK) });
    }
  }
  return parts;
}

/** How many rows a part has, as far as that is known before its lines are. */
function heightOf(part: DiffPart, wide: boolean): number {
  if ('rows' in part) return part.rows.length;
  const rows = ({ apart = 0, old_lines, new_lines }: ShownHunk) =>
    wide ? Math.max(old_lines, new_lines) : apart;
  return part.apart.reduce((sum, hunk) => sum + rows(hunk), 0);
}

/** The rows of a part that is near the screen. Lines that were read are forgotten when they are far again. */
function useRows(part: DiffPart, near: boolean, read: ReadPart): readonly DiffRow[] | Trouble | null {
  const [came, setCame] = useState<readonly DiffRow[] | Trouble | null>(null);
  useEffect(() => {
    if (!near || 'rows' in part) return;
    let is_here = true;
    const tell = (next: readonly DiffRow[] | Trouble) => is_here && setCame(next);
    read(part.from, part.apart.length).then(
      (hunks) => tell(rowsOf(hunks, part.before)),
      (error: unknown) => tell(troubleOf(error)),
    );
    return () => {
      is_here = false;
      setCame(null);
    };
  }, [part, near]);
  return 'rows' in part ? part.rows : came;
}

type ReadPart = (from: number, count: number) => Promise<readonly ShownHunk[]>;

function Chunk({
  part,
  wide,
  first,
  read,
}: {
  readonly part: DiffPart;
  readonly wide: boolean;
  readonly first: boolean;
  readonly read: ReadPart;
}) {
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
            These lines could not be read. {rows.words} {rows.advice}
          </p>
        </div>
      );
    const drawn = near && rows !== null && !('words' in rows) ? rows : null;
    return (
      <div ref={ref} style={drawn ? {} : { height: `${height.current}px` }} aria-busy={near && !drawn}>
        {drawn?.map((row, i) => (
          <RowOf key={i} row={row} wide={wide} />
        ))}
      </div>
    );
  }, [part, wide, near, rows]);
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
    () => ({ parts: partsOf(block.hunks), ...countsOf(block.hunks) }),
    [block],
  );
  const read: ReadPart = (from, count) =>
    ask && place ? ask({ ...place, from, count }) : Promise.reject(new Error('Open the proposal again.'));
  const end = useSeenMark(label);
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
            +{added.toLocaleString('en')} −{removed.toLocaleString('en')}
          </span>
        </span>
      </header>
      {block.hunks.length === 0 && block.lines.slice(2).map((line) => <p class="hunk">{line}</p>)}
      {width > 0 &&
        parts.map((part, i) => (
          <Chunk key={`${wide}${i}`} part={part} wide={wide} first={i === 0} read={read} />
        ))}
      {block.left_out > 0 && (
        <p class="hunk t-danger">{block.left_out} more lines are too many to be shown.</p>
      )}
      <div ref={end} class="mark-end" />
    </section>
  );
}
