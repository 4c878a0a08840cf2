import ts from 'typescript';
import { nodesOf, parse, type Source } from './source.ts';
import { type Check, inSrc } from './tidy.ts';

/** What no limit is called, though it is a number: the first comment of `src/limits.ts` says what a limit is. */
const NO_LIMITS: Readonly<Record<string, string>> = {
  // Units.
  MINUTE_MS: 'a unit',
  HOUR_MS: 'a unit',
  DAY_MS: 'a unit',
  NS_PER_S: 'a unit',
  MiB: 'a unit',
  // What a format, a protocol or an algorithm fixes.
  AUTHENTICATOR_HEADER_BYTES: 'WebAuthn',
  DERIVATION_BYTES: 'scrypt',
  DIGEST_BYTES: 'SHA-256',
  ENTRY_BYTES: 'ELF',
  FLAGS_BYTES: 'the second line of /proc/self/fdinfo',
  HEADER_BYTES: 'ELF, DuckDB, and what is sealed',
  LINE_END_bytes: 'CR LF',
  MARK_CHARS: 'the mark of a shortened name, and of a head',
  OBJECT_LINE_BYTES: 'an export: follows from `object_bytes`',
  RSA_MODULUS_BYTES: 'SPKI',
  RSA_PREFIX_BYTES: 'SPKI',
  SECRET_BYTES: 'a token of an agent',
  SEED_BYTES: 'Ed25519',
  SIGNATURE_BYTES: 'Ed25519',
  SYMMETRIC_BYTES: 'Standard Webhooks',
  TAIL_BYTES: 'an export',
  // How a measurement or a comparison is made.
  BASE_MEMORY_MB: 'what Node itself takes',
  BLOCK_BYTES: 'two contents are compared by blocks',
  LAG_RESOLUTION_ms: 'a metric',
  REQUEST_S: 'the buckets of a metric',
  RUN_S: 'the buckets of a metric',
  // Layouts of text for a person.
  CONTEXT_LINES: 'a unified diff',
  LINE_CHARS: 'the usual length of a line',
  LISTED: 'a screen',
  QUESTION_ROWS: 'a screen',
  ROWS: 'a screen',
  ROWS_MIN: 'a screen',
  STATEMENT_CHARS: 'a heading',
  VALUE_CHARS: 'a screen',
  // Weights of a search, and of a judgement.
  DENIAL_CHARS: 'the finder',
  LONGEST_WORD: 'the judge of passphrases',
  MOST_ALIEN: 'the finder',
  MOST_SLIPS: 'the finder',
  NAMED_BP: 'the finder',
  RANDOM_CHARS_MIN: 'what looks like a secret',
  ROW_LETTERS_MIN: 'the judge of passphrases',
  TURNED_CHARS: 'the finder',
  // `reason/` stands above `limits.ts`.
  LONGEST: 'the words that a message suggests',
  MOST_EDITS: 'the words that a message suggests',
  // Others.
  TTL_S: 'an example in a table of policies',
};

/** In a page, and in the client, which imports nothing. */
const APART = /^src\/(limits\.ts|console\/|client\/)/;

const UNITS = /^(ms|s|bytes|kib|mib|mb|chars|lines|rows|rounds|ticks)$/;
const LIMIT =
  /^(max|maximum|min|most|longest|limits?|tries|attempts|retries|timeout|ttl|kept|keep|remembered|pages?|batch|together|listed|named|looks|looked|window|chunk)$/;

interface Constant {
  readonly path: string;
  readonly name: string;
}

/** The constants of modules outside `limits.ts` that are numbers and are called like a limit. */
function calledLikeLimits(files: readonly Source[]): Constant[] {
  return inSrc(files)
    .filter(({ path }) => !APART.test(path))
    .flatMap((file) =>
      parse(file)
        .statements.filter(ts.isVariableStatement)
        .flatMap(({ declarationList }) => [...declarationList.declarations])
        .filter(({ initializer }) => initializer !== undefined && isNumeric(initializer))
        .map(({ name }) => ({ path: file.path, name: name.getText() })),
    )
    .filter(({ name }) => soundsLikeLimit(name));
}

function soundsLikeLimit(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
  return words.some((word) => LIMIT.test(word)) || UNITS.test(words.at(-1)!);
}

/** A number that is written down, alone or in an expression, a list or a table. One that only follows from a limit is none. */
function isNumeric(node: ts.Expression): boolean {
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return true;
  if (ts.isPrefixUnaryExpression(node)) return isNumeric(node.operand);
  if (ts.isBinaryExpression(node)) return isNumeric(node.left) || isNumeric(node.right);
  if (ts.isConditionalExpression(node)) return isNumeric(node.whenTrue) || isNumeric(node.whenFalse);
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return isNumeric(node.expression);
  if (ts.isCallExpression(node))
    return node.expression.getText().startsWith('Math.') && node.arguments.some(isNumeric);
  if (ts.isArrayLiteralExpression(node)) return node.elements.length > 0 && node.elements.every(isNumeric);
  if (!ts.isObjectLiteralExpression(node)) return false;
  const { properties } = node;
  return (
    properties.length > 0 &&
    properties.every((one) => ts.isPropertyAssignment(one) && isNumeric(one.initializer))
  );
}

/**
 * Numbers in a schema that are no limit, by their file. 0, 1 and 2 are none anywhere: they say that there is something, or several. Nor is
 * the argument of `length`: a form fixes it, such as a key of 44 characters in base64.
 */
const NO_BOUNDS: Readonly<Record<string, string>> = {
  'src/capability/conditions.ts 23': 'hours of a day',
  'src/capability/conditions.ts 24': 'hours of a day',
  'src/policy/shape.ts 23': 'hours of a day',
  'src/cli/schema.ts 1000': 'numbers of reasons',
  'src/cli/schema.ts 5999': 'numbers of reasons',
  'src/plan/report/schema.ts 1000': 'numbers of reasons',
  'src/plan/report/schema.ts 5999': 'numbers of reasons',
  'src/event/agent.ts 10_000': 'basis points',
  'src/finder/packet.ts 10_000': 'basis points',
  'src/finder/packet.ts 3': 'two or three formats of an answer (003)',
  'src/finder/simulation.ts 3': 'two or three formats of an answer (003)',
  'src/finder/simulation.ts 100': 'the scale of priorities',
  'src/plan/input/envelope.ts 10': 'the scale of priorities',
  'src/plan/rollback/manifest.ts 0o7777': 'the mode of a file',
  'src/event/event.ts -1': 'a user that is not known',
  'src/event/shape.ts 253': 'a host name of DNS',
};

const BOUNDING = /^(min|max|gt|gte|lt|lte)$/;
const HTML_BOUND = /^(maxlength|minlength|max|min)$/i;

/** The numbers that bound a value where it is taken in: in a schema, or in a field of a page. */
function writtenBounds(files: readonly Source[]): Constant[] {
  return inSrc(files)
    .filter(({ path }) => path !== 'src/limits.ts')
    .flatMap((file) =>
      nodesOf(parse(file)).flatMap((node) => {
        const bound = boundOf(node);
        if (bound === undefined || !isWritten(bound)) return [];
        return [{ path: file.path, name: bound.getText() }];
      }),
    )
    .filter(({ name }) => !/^[012]$/.test(name));
}

function boundOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isJsxAttribute(node) && HTML_BOUND.test(node.name.getText()))
    return node.initializer && ts.isJsxExpression(node.initializer) ? node.initializer.expression : undefined;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression, name } = node.expression;
  return BOUNDING.test(name.text) && expression.getText() !== 'Math' ? node.arguments[0] : undefined;
}

/** Nothing but numbers: what follows from a limit is none of its own. */
function isWritten(node: ts.Expression): boolean {
  if (ts.isNumericLiteral(node)) return true;
  if (ts.isPrefixUnaryExpression(node)) return isWritten(node.operand);
  return ts.isBinaryExpression(node) && isWritten(node.left) && isWritten(node.right);
}

const keyOf = ({ path, name }: Constant) => `${path} ${name}`;

export const limitsInOnePlace: Check = (files) => [
  ...calledLikeLimits(files)
    .filter(({ name }) => !Object.hasOwn(NO_LIMITS, name))
    .map(({ path, name }) => `${path}: ${name} is called like a limit, and stands outside limits.ts`),
  ...writtenBounds(files)
    .filter((bound) => !Object.hasOwn(NO_BOUNDS, keyOf(bound)))
    .map(({ path, name }) => `${path}: ${name} bounds a value, and stands outside limits.ts`),
];

export const staleNoLimits: Check = (files) => {
  const names = new Set(calledLikeLimits(files).map(({ name }) => name));
  const bounds = new Set(writtenBounds(files).map(keyOf));
  return [
    ...Object.keys(NO_LIMITS).filter((name) => !names.has(name)),
    ...Object.keys(NO_BOUNDS).filter((key) => !bounds.has(key)),
  ];
};
