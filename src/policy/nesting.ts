/**
 * How deep the policies of a text nest, measured before Cedar sees them. The attacker is a file that exhausts Cedar's
 * stack: after that Cedar answers nothing, so one bad file under `policy check` would stop every later decision.
 *
 * Each bracket costs two, because the parser goes many levels down for it. What joins two expressions costs one: in
 * `a && b && c` each `&&` holds the one before it, and in `a.b.c` each dot. A comma starts at zero again.
 */
export function nestingOf(text: string): number {
  const frames: Frame[] = [emptyFrame()];
  for (const [token] of text.matchAll(TOKEN)) {
    const frame = frames.at(-1)!;
    if (OPENING.has(token)) frames.push(emptyFrame());
    else if (CLOSING.has(token)) close(frames);
    else if (token === ',' || (token === ';' && frames.length === 1)) endSegment(frame);
    else if (token === '.') addDot(frame);
    else if (!SILENT.test(token)) addLink(frame);
  }
  while (frames.length > 1) close(frames);
  return depthOf(frames[0]!);
}

interface Frame {
  /** Of the segments that are over. */
  deepest: number;
  /** Of the segment that is being read: what joins, the longest run of dots and the last one, the deepest bracket. */
  links: number;
  dots: number;
  run: number;
  inner: number;
}

const BRACKET = 2;

/**
 * Comments end at either line break, as they do for Cedar. A string that does not end is left as a lone quote, so what
 * follows it is counted.
 */
const TOKEN = /\/\/[^\n\r]*|"(?:\\.|[^"\\])*"|&&|\|\||[()[\]{},;.+*!-]|\b(?:if|when|unless)\b/g;
const OPENING: ReadonlySet<string> = new Set(['(', '[', '{']);
const CLOSING: ReadonlySet<string> = new Set([')', ']', '}']);
const SILENT = /^["/;]/;

function emptyFrame(): Frame {
  return { deepest: 0, links: 0, dots: 0, run: 0, inner: 0 };
}

function addDot(frame: Frame): void {
  frame.run += 1;
  frame.dots = Math.max(frame.dots, frame.run);
}

function addLink(frame: Frame): void {
  frame.links += 1;
  frame.run = 0;
}

function depthOf({ deepest, links, dots, inner }: Frame): number {
  return Math.max(deepest, links + dots + inner);
}

function endSegment(frame: Frame): void {
  Object.assign(frame, { ...emptyFrame(), deepest: depthOf(frame) });
}

/** A bracket too many is an error that Cedar finds. */
function close(frames: Frame[]): void {
  if (frames.length === 1) return;
  const closed = depthOf(frames.pop()!);
  const outer = frames.at(-1)!;
  outer.inner = Math.max(outer.inner, closed + BRACKET);
}
