import { readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { limits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { judgeElf, looksLikeElf } from './elf.ts';

/** How the kernel starts a file: a binary, perhaps by its loader, or a script by the interpreter in its first line. */
export type ExecutableForm =
  | { readonly kind: 'binary'; readonly next: string | null }
  | { readonly kind: 'script'; readonly next: string; readonly words: readonly string[] };

/**
 * What the kernel would do with this open file. Everything else is refused: the C library gives a file that the kernel
 * does not know to /bin/sh, and there is no shell, ever.
 */
export function executableForm(fd: number, path: string): ExecutableForm {
  const read = (at: number, length: number) => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
  };
  const head = read(0, limits.script_line_bytes);
  if (!looksLikeElf(head)) return scriptForm(head, path);
  const elf = judgeElf(read);
  return typeof elf === 'string' ? notExecutable(path, elf) : { kind: 'binary', next: elf.loader };
}

function scriptForm(head: Buffer, path: string): ExecutableForm {
  const line = head.toString('latin1').split('\n', 1)[0]!;
  if (!line.startsWith('#!')) notExecutable(path, 'it is neither a binary nor a script with a #! line');
  if (line.length === limits.script_line_bytes) notExecutable(path, 'its #! line is too long');
  // The kernel takes only blanks and tabs away: `#!/bin/sh\r` runs a file whose name ends with a carriage return.
  if (/[^\x20-\x7e\t]/.test(line)) notExecutable(path, 'its #! line is not plain text');
  const [next, ...words] = line
    .slice(2)
    .replace(/^[ \t]+|[ \t]+$/g, '')
    .split(/[ \t]+/);
  if (!next || !isAbsolute(next)) notExecutable(path, 'its interpreter is not an absolute path');
  return { kind: 'script', next, words };
}

export function notExecutable(path: string, why: string): never {
  return refuse('EXECUTABLE_NOT_EXECUTABLE', `${path} cannot be executed: ${why}.`, { path });
}
