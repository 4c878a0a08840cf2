import { RE2JS, RE2JSException } from 're2js';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { TextReplace } from './operation.ts';
import { parseReplacement } from './replacement.ts';
import type { ByteSplice, Edit, SourceText, Splice } from './splice.ts';

/** Replaces every place where the expression matches, from left to right, none overlapping. */
export function replaceExpression(text: string, operation: TextReplace): Edit {
  const splices = matchExpression(text, operation);
  requireMatches(splices.length, operation);
  return { splices, output: report(splices.length) };
}

/** The same for a text. In UTF-8 the bytes of a text are found only where the text is; half a character is refused as no text. */
export function replaceLiteral({ bytes, mark_bytes }: SourceText, operation: TextReplace) {
  const splices: ByteSplice[] = [];
  const pattern = Buffer.from(operation.pattern);
  for (let from = bytes.indexOf(pattern, mark_bytes); from >= 0; ) {
    refuseFurther(splices.length, operation);
    const to = from + pattern.length;
    splices.push({ from, to, text: operation.replacement });
    from = bytes.indexOf(pattern, to);
  }
  requireMatches(splices.length, operation);
  return { splices, output: report(splices.length) };
}

function requireMatches(count: number, { expected_matches }: TextReplace): void {
  if (count === 0) refuse('EDIT_NO_MATCH');
  if (expected_matches !== undefined && count !== expected_matches)
    refuse('EDIT_MATCH_COUNT', `The pattern matches ${count} times.`, { expected_matches });
}

function matchExpression(text: string, operation: TextReplace): Splice[] {
  const expression = compile(operation);
  const expand = parseReplacement(operation.replacement, expression.groupCount(), groupNames(expression));
  const matcher = expression.matcher(text);
  const splices: Splice[] = [];
  const reach = staysOnLine(operation) ? endOfLine : endOfText;
  let added = 0;
  let steps = (text.length + 1) * expression.programSize();
  refuseCostly(steps);
  while (matcher.find()) {
    refuseFurther(splices.length, operation);
    const [start, end] = [matcher.start(), matcher.end()];
    if (start === end) refuse('EDIT_PATTERN_INVALID', 'The expression matches empty text.');
    const expanded = expand((group) => matcher.group(group) ?? '');
    splices.push({ start, end, text: expanded });
    added += expanded.length;
    if (added > editLimits.file_bytes) refuse('EDIT_RESULT_TOO_LARGE');
    steps += (reach(text, end) - end) * expression.programSize();
    refuseCostly(steps);
  }
  return splices;
}

/** Refuses an expression or a replacement that fits no text. */
export function requireExpression(operation: TextReplace): void {
  const expression = compile(operation);
  parseReplacement(operation.replacement, expression.groupCount(), groupNames(expression));
}

const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};

/** Only the linear-time engine sees a pattern from a plan: a backtracking one can be made to hang. */
function compile({ pattern, flags = '' }: TextReplace): RE2JS {
  try {
    return RE2JS.compile(
      pattern,
      [...flags].reduce((all, flag) => all | FLAGS[flag]!, 0),
    );
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return refuse('EDIT_PATTERN_INVALID', error.message);
  }
}

function groupNames(expression: RE2JS): ReadonlySet<string> {
  return new Set(Object.keys(expression.namedGroups()));
}

function refuseFurther(count: number, { expected_matches, max_matches }: TextReplace): void {
  const most = expected_matches ?? max_matches;
  if (count >= most) {
    refuse('EDIT_MATCH_COUNT', `The pattern matches more than ${most} times.`, { max_matches: most });
  }
}

const COSTLY =
  'The search could take too long. Expressions that cannot take a newline are cheaper: no [^x], no \\s.';

/** Counted and not timed, so that the same plan is refused or accepted on every machine. */
function refuseCostly(steps: number): void {
  if (steps > editLimits.regex_steps) refuse('EDIT_COSTLY', COSTLY, { steps });
}

/**
 * How far a search may read past the match it finds, only to find nothing longer. The next search reads that again.
 * An expression that takes no newline stops at the end of the line; any other may read to the end of the text.
 */
const endOfText = (text: string): number => text.length;

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline < 0 ? text.length : newline;
}

/** True only for expressions made of parts that never take a newline. Whatever else is written counts as able to. */
const ONE_LINE =
  /^(?:[^\\(\x00-\x1f[]|\((?:\?(?::|P?<))?(?!\?)|\[(?!\^|\[|:)|\\[dwbBSAz.*+?()[\]{}|^$/\\-])*$/;

function staysOnLine({ pattern, flags = '' }: TextReplace): boolean {
  return !flags.includes('s') && ONE_LINE.test(pattern) && !pattern.includes('[:');
}

function report(count: number): string {
  return `${count} ${count === 1 ? 'match' : 'matches'} replaced successfully`;
}
