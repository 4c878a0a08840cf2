import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../../limits.ts';
import { type ReasonCode, refuse } from '../../refusal.ts';
import { type Secret, secretSteps } from './credential.ts';
import { equalHead, equalTail, NEWLINE, newlinesIn } from './equal-ends.ts';
import { syntaxProblem } from './syntax.ts';

/**
 * The content checks of 004 section 9.3: what a change puts into a file. A credential and a broken JSON or YAML file are refused; what
 * could run is shown to the approver. No setting turns a check off.
 */

export type Check = 'executable' | 'shell' | 'credential' | 'syntax';

export interface ContentFinding {
  readonly check: Check;
  /** `refuse`: no approval helps. `warn`: the approver is told. */
  readonly severity: 'refuse' | 'warn';
  readonly code: ReasonCode | null;
  readonly action_id: string;
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

export interface ContentChange {
  readonly action_id: string;
  readonly path: string;
  readonly before: FileContent | null;
  readonly after: FileContent | null;
}

type Found = Pick<ContentFinding, 'check' | 'severity' | 'code' | 'line' | 'message'>;

/** Everything that is to be said about one change. Only what is new counts: what stood there before is not this plan's. */
export function contentFindings(change: ContentChange): ContentFinding[] {
  return [...findingSteps(change)].flat();
}

/** The same. A large file is looked at in turns, between which a service answers others. */
export async function contentFindingsInTurns(change: ContentChange): Promise<ContentFinding[]> {
  const found: ContentFinding[] = [];
  const is_large = (change.after?.bytes.length ?? 0) > planLimits.turns_bytes;
  for (const some of findingSteps(change)) {
    found.push(...some);
    if (is_large) await nextTurn();
  }
  return found;
}

function* findingSteps({ action_id, path, before, after }: ContentChange): Generator<ContentFinding[]> {
  if (after === null) return;
  const added = addedText(before?.bytes ?? new Uint8Array(), after.bytes);
  const placed = (found: readonly Found[]) => found.map((one) => ({ ...one, action_id, path }));
  yield placed(executableFindings(before, after));
  for (const pattern of DATA.test(path) ? [...SHELL, ...SHELL_IN_DATA] : SHELL)
    yield placed(shellFindings(added, pattern));
  for (const secrets of secretSteps(added.text, path)) yield placed(credentialFindings(added, secrets));
  yield placed(syntaxFindings(path, before, after));
}

/** Refuses with the first finding that no approval opens. */
export function requireContent(findings: readonly ContentFinding[]): void {
  const found = findings.find(({ severity }) => severity === 'refuse');
  if (!found) return;
  const { code, path, line, message, action_id } = found;
  const sentence = `${path}, line ${line}: ${message.replace(/\.$/, '')}.`;
  refuse(code ?? 'CONTENT_CREDENTIAL', sentence, { action_id, path, line });
}

/** A result of SQL, as rows of CSV: what stands in quotes there is doubled. Only a credential counts, and all of it is new. */
export function requireNoCredential(action_id: string, path: string, csv: Uint8Array): void {
  const bytes = Buffer.from(textOf(csv).replaceAll('""', '"'));
  const findings = contentFindings({ action_id, path, before: null, after: { bytes, mode: 0 } });
  requireContent(findings.filter(({ check }) => check === 'credential'));
}

interface Added {
  readonly text: string;
  /** What stood in the same place before. */
  readonly replaced: string;
  readonly first_line: number;
}

/** The part of the new content that differs, from the start of its first line to the end of its last. */
function addedText(before: Uint8Array, after: Uint8Array): Added {
  const same = equalHead(before, after);
  const tail = equalTail(before, after, Math.min(before.length, after.length) - same);
  let start = same;
  while (start > 0 && same - start < planLimits.around_bytes && after[start - 1] !== NEWLINE) start -= 1;
  let end = after.length - tail;
  const furthest = Math.min(after.length, end + planLimits.around_bytes);
  while (end < furthest && after[end] !== NEWLINE) end += 1;
  return {
    text: textOf(after.subarray(start, end)),
    replaced: textOf(before.subarray(start, before.length - (after.length - end))),
    first_line: 1 + newlinesIn(after.subarray(0, start)),
  };
}

/** Binary content is looked at byte by byte, so that a key inside it is found too. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

function lineIn({ text, first_line }: Added, offset: number): number {
  return first_line + newlinesIn(Buffer.from(text.slice(0, offset)));
}

const EXECUTE_BITS = 0o111;
const SPECIAL_BITS = 0o7000;

function executableFindings(before: FileContent | null, after: FileContent): Found[] {
  const found: string[] = [];
  const gained = after.mode & ~(before?.mode ?? 0);
  if ((gained & EXECUTE_BITS) !== 0) found.push('the file becomes executable');
  if ((gained & SPECIAL_BITS) !== 0) found.push('the file gets a set-user, set-group or sticky bit');
  const program = programOf(after.bytes);
  if (program !== null && program !== programOf(before?.bytes ?? new Uint8Array()))
    found.push(`the file becomes ${program}`);
  return found.map((message) => ({ check: 'executable', severity: 'warn', code: null, line: 1, message }));
}

const MAGIC: readonly (readonly [string, string])[] = [
  ['2321', 'a script (it begins with #!)'],
  ['7f454c46', 'a Linux program'],
  ['4d5a', 'a Windows program'],
  ['feedface', 'a macOS program'],
  ['feedfacf', 'a macOS program'],
  ['cefaedfe', 'a macOS program'],
  ['cffaedfe', 'a macOS program'],
  ['cafebabe', 'a Java class or macOS program'],
  ['0061736d', 'a WebAssembly program'],
];

function programOf(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  return MAGIC.find(([magic]) => head.startsWith(magic))?.[1] ?? null;
}

const SHELL: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:curl|wget|fetch)\b[^\n|]{0,512}\|\s{0,8}(?:sudo\s{1,8})?(?:ba|z|da|k)?sh\b/g,
    'runs what it downloads',
  ],
  [/\bbase64\s{1,8}(?:-d|--decode|-D)\b[^\n|]{0,256}\|/g, 'decodes hidden text and pipes it on'],
  [/\brm\s{1,8}-[a-zA-Z]{0,8}[rR][a-zA-Z]{0,8}\s/g, 'removes whole folders'],
  [
    /(?:^|[\s"'`;&|(])(?:\/usr)?(?:\/bin\/)?(?:ba|z|da|k)?sh\s{1,8}-[a-z]{0,4}c\b/gm,
    'passes a text to a shell',
  ],
  [
    /\b(?:os\.system|os\.popen|subprocess\.\w{1,32}|pty\.spawn|commands\.getoutput)\s{0,8}\(/g,
    'starts a process',
  ],
  [/\bshell\s{0,8}[=:]\s{0,8}[Tt]rue\b/g, 'starts a process through a shell'],
  [/\bchild_process\b|\bexecSync\s{0,8}\(|\bRuntime\.getRuntime\(\)/g, 'starts a process'],
  [/\beval\s{0,8}\(|\bnew\s{1,8}Function\s{0,8}\(|\b__import__\s{0,8}\(/g, 'runs a text as a program'],
  [/\b(?:nc|ncat)\b[^\n]{0,128}\s-[a-z]{0,4}e\b|\/dev\/(?:tcp|udp)\//g, 'opens a shell to the network'],
  [/\bpowershell(?:\.exe)?\b[^\n]{0,128}-e(?:nc|ncodedcommand)?\b/gi, 'runs hidden PowerShell'],
  [
    /"(?:pre|post)?(?:install|prepare|publish)"\s{0,8}:/g,
    'adds a script that a package manager runs by itself',
  ],
];

/** Data is not program text: there, a command in brackets or backquotes is dangerous only where it is pasted into a shell. */
const SHELL_IN_DATA: readonly (readonly [RegExp, string])[] = [
  [/\$\([^)\n]{1,512}\)/g, 'has a command that a shell would run'],
  [/`[^`\n]{1,512}`/g, 'has a command that a shell would run'],
  [/(?:;|&&|\|\|)\s{0,8}(?:rm|curl|wget|sh|bash|nc|chmod|sudo)\s/g, 'has a command that a shell would run'],
];

const DATA = /\.(json|jsonc|ya?ml|toml|ini|cfg|conf|csv|xml|properties|env)$/i;

function shellFindings(added: Added, [pattern, message]: readonly [RegExp, string]): Found[] {
  const match = [...added.text.matchAll(pattern)].find(([text]) => !added.replaced.includes(text));
  if (!match) return [];
  const line = lineIn(added, match.index + (match[0].startsWith('\n') ? 1 : 0));
  return [{ check: 'shell', severity: 'warn', code: null, line, message: `the new text ${message}` }];
}

function credentialFindings(added: Added, secrets: readonly Secret[]): Found[] {
  return secrets
    .filter(({ text }) => !added.replaced.includes(text))
    .map(({ kind, offset, sure }) => ({
      check: 'credential',
      severity: sure ? 'refuse' : 'warn',
      code: sure ? 'CONTENT_CREDENTIAL' : null,
      line: lineIn(added, offset),
      message: `the new text holds ${kind}`,
    }));
}

/** A file that was broken before may be repaired step by step, so it is only told. */
function syntaxFindings(path: string, before: FileContent | null, after: FileContent): Found[] {
  const problem = syntaxProblem(path, after.bytes);
  if (problem === null) return [];
  const was_broken = before !== null && syntaxProblem(path, before.bytes) !== null;
  return [
    {
      check: 'syntax',
      severity: was_broken ? 'warn' : 'refuse',
      code: was_broken ? null : 'CONTENT_SYNTAX_BROKEN',
      line: problem.line,
      message: `the result ${was_broken ? 'is still' : 'is'} not valid: ${problem.message}`,
    },
  ];
}
