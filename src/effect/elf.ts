import { endianness } from 'node:os';
import { limits } from '../limits.ts';

/** A binary that the kernel would start, and the loader that it starts first (PT_INTERP), if any. */
export interface Elf {
  readonly loader: string | null;
}

/** Reads up to `length` bytes at `at`. Shorter only at the end of the file. */
export type ReadAt = (at: number, length: number) => Buffer;

const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

export function looksLikeElf(head: Buffer): boolean {
  return head.subarray(0, MAGIC.length).equals(MAGIC);
}

/** `e_machine` of the programs that a kernel for this `process.arch` runs without emulation. All are 64-bit. */
const MACHINES: Readonly<Record<string, number>> = {
  x64: 62,
  arm64: 183,
  riscv64: 243,
  ppc64: 21,
  s390x: 22,
  loong64: 258,
};

const [CLASS_64, LITTLE, BIG] = [2, 1, 2];
const [EXECUTABLE, SHARED] = [2, 3];
const [LOAD, INTERPRETER, PROPERTY] = [1, 3, 0x6474e553];
const HEADER_BYTES = 64;
const ENTRY_BYTES = 56;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Judges a binary as the kernel does before it starts one; the reason as text when it would not. Where the kernel answers
 * ENOEXEC, the C library gives the file to /bin/sh instead, so a header that only begins right is shell text that runs.
 */
export function judgeElf(read: ReadAt, arch: string = process.arch): Elf | string {
  const machine = MACHINES[arch];
  if (machine === undefined) return `it is not known what the kernel executes on ${arch}`;
  const header = read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || !looksLikeElf(header)) return 'its header is cut off';
  const order = endianness() === 'LE' ? LITTLE : BIG;
  if (header[4] !== CLASS_64 || header[5] !== order) return `it is not a 64-bit binary for ${arch}`;
  const numbers = numbersIn(header);
  if (numbers.u16(18) !== machine) return `it is a binary for another machine than ${arch}`;
  if (![EXECUTABLE, SHARED].includes(numbers.u16(16))) return 'it is a binary that is no program';
  const segments = segmentsOf(read, numbers);
  if (segments === null) return 'its program headers are damaged';
  if (!segments.some(({ type }) => type === LOAD)) return 'it has nothing to load';
  const property = segments.findLast(({ type }) => type === PROPERTY);
  if (property && !isProperty(read, property)) return 'its property note is damaged';
  return loaderOf(read, segments);
}

interface Numbers {
  u16(at: number): number;
  u32(at: number): number;
  u64(at: number): number;
}

/** In the byte order of this machine. A number that no file offset reaches comes out larger than any file. */
function numbersIn(bytes: Buffer): Numbers {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = endianness() === 'LE';
  return {
    u16: (at) => view.getUint16(at, little),
    u32: (at) => view.getUint32(at, little),
    u64: (at) => Number(view.getBigUint64(at, little)),
  };
}

function segmentsOf(read: ReadAt, header: Numbers): Segment[] | null {
  const [offset, entry_bytes, count] = [header.u64(32), header.u16(54), header.u16(56)];
  const bytes = count * ENTRY_BYTES;
  if (entry_bytes !== ENTRY_BYTES || bytes === 0 || bytes > limits.elf_table_bytes) return null;
  const table = within(read, offset, bytes);
  if (table === null) return null;
  const numbers = numbersIn(table);
  return Array.from({ length: count }, (_, i) => {
    const at = i * ENTRY_BYTES;
    return { type: numbers.u32(at), offset: numbers.u64(at + 8), bytes: numbers.u64(at + 32) };
  });
}

/** Exactly these bytes, or `null` where the file does not have them all. */
function within(read: ReadAt, offset: number, bytes: number): Buffer | null {
  if (!Number.isSafeInteger(offset)) return null;
  const found = read(offset, bytes);
  return found.length === bytes ? found : null;
}

/** The first one counts, as for the kernel. */
function loaderOf(read: ReadAt, segments: readonly Segment[]): Elf | string {
  const named = segments.find(({ type }) => type === INTERPRETER);
  if (!named) return { loader: null };
  const bytes =
    named.bytes >= 2 && named.bytes <= limits.elf_path_bytes ? within(read, named.offset, named.bytes) : null;
  if (bytes?.at(-1) !== 0) return 'the name of its loader is damaged';
  const loader = bytes.toString('utf8', 0, bytes.indexOf(0));
  return loader.startsWith('/') ? { loader } : 'its loader is not an absolute path';
}

const FEATURE_1_AND = 0xc0000000;

/** arm64 answers ENOEXEC to a note of properties that are unsorted or longer than the note. */
function isProperty(read: ReadAt, { offset, bytes }: Segment): boolean {
  const note = bytes <= limits.elf_note_bytes ? within(read, offset, bytes) : null;
  if (note === null || note.length < 16 || note.toString('latin1', 12, 16) !== 'GNU\0') return false;
  const numbers = numbersIn(note);
  const end = 16 + numbers.u32(4);
  if (numbers.u32(0) !== 4 || numbers.u32(8) !== 5 || end > note.length) return false;
  let last = -1;
  for (let at = 16; at !== end; ) {
    if (end - at < 8) return false;
    const [type, size] = [numbers.u32(at), numbers.u32(at + 4)];
    const next = at + 8 + Math.ceil(size / 8) * 8;
    if (next > end || type <= last || (type === FEATURE_1_AND && size !== 4)) return false;
    [last, at] = [type, next];
  }
  return true;
}
