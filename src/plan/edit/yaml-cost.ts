import { Lexer } from 'yaml';
import { editLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';

// The lexer's own marks, which are no part of the text.
const SCALAR = '\x1f';
const MARKS: ReadonlySet<string> = new Set(['\x02', '\x18', SCALAR]);

/**
 * The parser recurses, and deep nesting would end the process; thousands of aliases take it minutes, and blank lines
 * gigabytes. The lexer does none of that, so it looks first.
 */
export function refuseCostly(text: string): void {
  if (Buffer.byteLength(text) > editLimits.yaml_bytes)
    refuse('INPUT_TOO_LARGE', `The YAML has more than ${editLimits.yaml_bytes} bytes, too many to edit.`);
  const gauge = { tokens: 0, anchors: 0, depth: 0, column: 0 };
  let in_scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!in_scalar) count(gauge, token);
    in_scalar = token === SCALAR;
    if (MARKS.has(token)) continue;
    gauge.tokens += 1;
    const newline = token.lastIndexOf('\n');
    gauge.column = newline < 0 ? gauge.column + token.length : token.length - newline - 1;
    if (gauge.tokens > editLimits.yaml_tokens)
      refuse(
        'INPUT_TOO_LARGE',
        `The YAML has more than ${editLimits.yaml_tokens} words and marks, too many to edit.`,
      );
  }
}

function count(gauge: { anchors: number; depth: number; column: number }, token: string): void {
  if (token === '[' || token === '{') gauge.depth += 1;
  // A stray bracket is an error that the parser will name. It must not make room for deeper nesting.
  else if (token === ']' || token === '}') gauge.depth = Math.max(gauge.depth - 1, 0);
  else if (token.startsWith('&') || token.startsWith('*')) gauge.anchors += 1;
  const starts_block = gauge.depth === 0 && (token === '-' || token === '?' || token === ':');
  if (
    gauge.depth > editLimits.yaml_flow_depth ||
    (starts_block && gauge.column > editLimits.yaml_block_columns)
  )
    refuse(
      'YAML_MALFORMED',
      `The YAML is nested more than ${editLimits.yaml_flow_depth} deep, or indented by more than ${editLimits.yaml_block_columns} columns.`,
    );
  if (gauge.anchors > editLimits.yaml_anchors)
    refuse('YAML_MALFORMED', `The YAML has more than ${editLimits.yaml_anchors} anchors and aliases.`);
}
