import { Lexer } from 'yaml';
import { refuse } from '../../refusal.ts';
import { bounds } from './bounds.ts';

// The lexer's own marks, which are no part of the text.
const SCALAR = '\x1f';
const MARKS: ReadonlySet<string> = new Set(['\x02', '\x18', SCALAR]);

/**
 * The parser recurses, and deep nesting would end the process; thousands of aliases take it minutes, and blank lines
 * gigabytes. The lexer does none of that, so it looks first.
 */
export function refuseCostly(text: string): void {
  if (Buffer.byteLength(text) > bounds.yaml_bytes)
    refuse('INPUT_TOO_LARGE', 'The YAML is too large to edit.');
  const gauge = { tokens: 0, anchors: 0, depth: 0, column: 0 };
  let in_scalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!in_scalar) count(gauge, token);
    in_scalar = token === SCALAR;
    if (MARKS.has(token)) continue;
    gauge.tokens += 1;
    const newline = token.lastIndexOf('\n');
    gauge.column = newline < 0 ? gauge.column + token.length : token.length - newline - 1;
    if (gauge.tokens > bounds.yaml_tokens) refuse('INPUT_TOO_LARGE', 'The YAML has too many parts to edit.');
  }
}

function count(gauge: { anchors: number; depth: number; column: number }, token: string): void {
  if (token === '[' || token === '{') gauge.depth += 1;
  // A stray bracket is an error that the parser will name. It must not make room for deeper nesting.
  else if (token === ']' || token === '}') gauge.depth = Math.max(gauge.depth - 1, 0);
  else if (token.startsWith('&') || token.startsWith('*')) gauge.anchors += 1;
  const starts_block = gauge.depth === 0 && (token === '-' || token === '?' || token === ':');
  if (gauge.depth > bounds.yaml_flow_depth || (starts_block && gauge.column > bounds.yaml_block_columns))
    refuse('YAML_MALFORMED', 'The YAML is nested too deep.');
  if (gauge.anchors > bounds.yaml_anchors)
    refuse('YAML_MALFORMED', 'The YAML has too many anchors and aliases.');
}
