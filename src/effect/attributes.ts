import { spawn } from 'node:child_process';
import { planLimits } from '../limits.ts';
import { refuse } from '../refusal.ts';
import { type ChildCommand, type ChildOutcome, runChild } from './child.ts';
import { type Attribute, PaxReader } from './pax.ts';

/**
 * Extended attributes and access control lists. Node has no call for them, so GNU tar reads them and GNU cp copies them: two
 * programs that every Linux system has. What they cannot do is refused with their own words, never dropped.
 */

/** The programs are those of the system, and their messages are in English. */
const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** The label of SELinux follows from its policy, and is not a property that a plan keeps. */
const READ = [
  '--create',
  // Another program, or another plan, may write into the folder meanwhile: its attributes are the same, and tar ends with 1. Contents are compared by their hash.
  '--warning=no-file-changed',
  '--format=pax',
  '--blocking-factor=64',
  '--xattrs',
  '--xattrs-include=*',
  '--xattrs-exclude=security.selinux',
  '--no-recursion',
  '--absolute-names',
];

/** A look must not change the time of the last access. Only the owner and root may ask for that. */
const AS_ROOT = ['--atime-preserve=system'];

/** Runs a child to its end. */
export type RunChild = (command: ChildCommand) => Promise<ChildOutcome>;

/**
 * The attributes of each path, in order. Nothing is followed and nothing is changed. tar writes the contents with the attributes, so
 * it is asked first which files have any: most have none, and a hundred large files would go through a pipe for nothing. `run` starts that first
 * one, which every plan needs.
 */
export async function readAttributes(
  paths: readonly string[],
  run: RunChild = runChild,
): Promise<readonly (readonly Attribute[])[]> {
  const marked: boolean[] = [];
  for (let from = 0; from < paths.length; from += planLimits.listed_together)
    marked.push(...(await markedAmong(paths.slice(from, from + planLimits.listed_together), run)));
  const members = await membersOf(paths.filter((_, i) => marked[i]));
  return marked.map((mark) => (mark ? members.shift()! : []));
}

/** What tar says twice verbosely of a member begins with its mode, and then a star if it has attributes. */
const LISTED = /^[^ ]{10}([ *])/;

/** Whether each of the paths has attributes. GNU tar reads no contents where the archive is /dev/null. */
async function markedAmong(paths: readonly string[], run: RunChild): Promise<boolean[]> {
  const { exit_code, signal, error, stdout, stderr } = await run({
    argv: ['tar', '--file=/dev/null', '-vv', '--quoting-style=escape', ...readOptions(), '--', ...paths],
    env: ENV,
    cwd: '/',
    timeout_ms: planLimits.listing_ms,
    stdout_bytes: planLimits.listing_bytes,
    stderr_bytes: 2000,
  });
  if (error !== undefined) refuse('ATTRIBUTES_UNREADABLE', `GNU tar cannot be run: ${error}`);
  if ((exit_code !== 0 && exit_code !== DIFFERING) || stderr.total > 0) {
    const said = Buffer.from(stderr.bytes).toString('utf8').trim();
    refuse('ATTRIBUTES_UNREADABLE', said || `tar ended with ${exit_code ?? signal}`);
  }
  const listed = Buffer.from(stdout.bytes).toString('latin1');
  const marks = listed.split('\n').slice(0, -1).map(markIn);
  requireAll(marks, paths);
  return marks;
}

function markIn(line: string): boolean {
  const [, mark] = LISTED.exec(line) ?? refuse('ATTRIBUTES_UNREADABLE', 'tar answered something else.');
  return mark === '*';
}

async function membersOf(paths: readonly string[]): Promise<Attribute[][]> {
  if (paths.length === 0) return [];
  const reader = new PaxReader();
  const said = await runTool('tar', ['--file=-', ...readOptions(), '--null', '--files-from=-'], {
    input: Buffer.from(paths.map((path) => `${path}\0`).join('')),
    take: (chunk) => reader.feed(chunk),
    differing: DIFFERING,
  });
  if (said !== null) refuse('ATTRIBUTES_UNREADABLE', said);
  requireAll(reader.members, paths);
  return reader.members;
}

function requireAll(answers: readonly unknown[], paths: readonly string[]): void {
  if (answers.length !== paths.length)
    refuse('ATTRIBUTES_UNREADABLE', `tar answered for ${answers.length} of ${paths.length} files.`);
}

function readOptions(): string[] {
  return [...READ, ...(process.getuid?.() === 0 ? AS_ROOT : [])];
}

/** tar ends with this where it would have warned that something changed. */
const DIFFERING = 1;

/** Gives a file the mode, the access control list and all attributes of another one. Its content stays. */
export async function copyAttributes(from: string, to: string): Promise<void> {
  const argv = ['--attributes-only', '--no-dereference', '--preserve=mode,xattr', '-T', '--', from, to];
  const said = await runTool('cp', argv);
  if (said !== null) refuse('ATTRIBUTES_NOT_KEPT', said);
}

export interface Times {
  readonly atime_ns: bigint;
  readonly mtime_ns: bigint;
}

/** Sets the times of a file to the nanosecond, also where a double in seconds cannot say them. */
export async function setTimes(path: string, { atime_ns, mtime_ns }: Times): Promise<void> {
  for (const [which, ns] of [
    ['-a', atime_ns],
    ['-m', mtime_ns],
  ] as const) {
    const argv = [which, '--no-create', '--no-dereference', `--date=@${secondsOf(ns)}`, '--', path];
    const said = await runTool('touch', argv);
    if (said !== null) refuse('ATTRIBUTES_NOT_KEPT', said);
  }
}

function secondsOf(ns: bigint): string {
  const digits = (ns < 0n ? -ns : ns).toString().padStart(10, '0');
  return `${ns < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

interface ToolUse {
  readonly input?: Uint8Array;
  readonly take?: (chunk: Buffer) => void;
  /** The exit code with which it ends well too, where it says nothing beside it. */
  readonly differing?: number;
}

/** What the program said against it; null when it said nothing and ended well. */
function runTool(
  program: string,
  argv: readonly string[],
  { input, take = () => {}, differing = 0 }: ToolUse = {},
): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      env: ENV,
      cwd: '/',
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    let failed: unknown;
    child.stdout!.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        failed = error;
        child.kill('SIGKILL');
      }
    });
    child.stderr!.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk}`.slice(0, 2000);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      resolve(`GNU ${program} cannot be run: ${error.code}`),
    );
    child.on('close', (code, signal) => {
      if (failed !== undefined) reject(failed);
      else
        resolve(
          (code === 0 || code === differing) && errors === ''
            ? null
            : errors.trim() || `${program} ended with ${code ?? signal}`,
        );
    });
    child.stdin?.on('error', () => {}); // it ended before it read everything, and says why
    child.stdin?.end(input);
  });
}
