import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { explain, isReasonCode, Refusal, reasonCodes, refuse } from '../src/refusal.ts';
import { expectRefusal } from './support/refusal.ts';
import { nodesOf, parse, type Source, sourcesIn } from './support/source.ts';

/** The ranges that 004 section 8.1 gives its categories. */
const RANGES = {
  VALIDATION_ERROR: [1000, 1999],
  FILE_SYSTEM_ERROR: [2000, 2999],
  PERMISSION_ERROR: [3000, 3999],
  DEPENDENCY_ERROR: [4000, 4999],
  INTERNAL_ERROR: [5000, 5999],
} as const;

const explained = reasonCodes.map(explain);

describe('the registry of reason codes', () => {
  it('each code has a number of its own', () => {
    const numbers = explained.map((reason) => reason.number);
    expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  });

  it('each number lies in the range of its category', () => {
    for (const { code, number, category } of explained) {
      const [first, last] = RANGES[category];
      expect(number, code).toBeGreaterThanOrEqual(first);
      expect(number, code).toBeLessThanOrEqual(last);
    }
  });

  it('each code stands among the codes of its category, in order', () => {
    const numbers = explained.map((reason) => reason.number);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });

  it('meaning and advice are sentences that end with a full stop', () => {
    for (const { code, meaning, advice } of explained) {
      expect(meaning, code).toMatch(/^[A-Z].*\.$/);
      expect(advice, code).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('no advice sends a person to the source', () => {
    const found = reasonCodes.filter((code) =>
      /\bsrc\//.test(`${explain(code).meaning} ${explain(code).advice}`),
    );
    expect(found).toEqual([]);
  });

  it('an unknown execution is looked for in the list that has executions', () => {
    expect(explain('EXECUTION_NOT_FOUND').advice).toContain('`keyturn runs`');
  });

  it('an unknown name is no code, and neither is a name that every object has', () => {
    expect(isReasonCode('HASH_MISMATCH')).toBe(true);
    expect(isReasonCode('hash_mismatch')).toBe(false);
    expect(isReasonCode('toString')).toBe(false);
    expect(isReasonCode('__proto__')).toBe(false);
  });

  it('a refusal carries its code, what was found, and the meaning when nothing more is said', async () => {
    const refusal = await expectRefusal('HASH_MISMATCH', () =>
      refuse('HASH_MISMATCH', undefined, { found: 'x' }),
    );
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal.message).toBe(explain('HASH_MISMATCH').meaning);
    expect(refusal.facts).toEqual({ found: 'x' });
    expect(refusal.advice).toBe(explain('HASH_MISMATCH').advice);
    expect(() => refuse('USAGE', 'Say what.')).toThrow('Say what.');
  });
});

/** The words of the strings and regular expressions under this node that could be codes. */
function codesUnder(node: ts.Node): string[] {
  return nodesOf(node)
    .filter((child) => ts.isStringLiteralLike(child) || ts.isTemplateLiteralToken(child) || isPattern(child))
    .flatMap((child) => child.getText().match(/[A-Z][A-Z0-9_]+/g) ?? []);
}

function isPattern(node: ts.Node): boolean {
  return node.kind === ts.SyntaxKind.RegularExpressionLiteral;
}

function callsUnder(node: ts.Node): ts.CallExpression[] {
  return nodesOf(node).filter(ts.isCallExpression);
}

/** The name that a call begins with: `expect` in `expect(x).toBe(y)`. */
function calleeOf(call: ts.CallExpression): string {
  return /^\w+/.exec(call.expression.getText())?.[0] ?? '';
}

/** The functions of the tests that are handed a code and expect something: what calls them asserts too. */
function assertingNames(files: readonly Source[]): Set<string> {
  const names = new Set(['expect', 'expectRefusal']);
  for (const node of files.flatMap((file) => nodesOf(parse(file)))) {
    const made = ts.isVariableDeclaration(node) ? node.initializer : node;
    if (made === undefined || !(ts.isFunctionDeclaration(made) || ts.isArrowFunction(made))) continue;
    const takesCode = made.parameters.some((parameter) => /\bcodes?\b/.test(parameter.name.getText()));
    const expects = callsUnder(made).some((call) => /^expect/.test(calleeOf(call)));
    const { name } = node as ts.NamedDeclaration;
    if (takesCode && expects && name !== undefined) names.add(name.getText());
  }
  return names;
}

/** A code is used where it is a whole string. As the key of a table it is only looked up. */
function usedIn(file: Source): string[] {
  return nodesOf(parse(file))
    .filter(ts.isStringLiteralLike)
    .map((node) => node.text);
}

/** Asserted in a call of one of these names, or in a table of a file that passes a variable to one of them. */
function assertedIn(file: Source, names: ReadonlySet<string>): string[] {
  const tree = parse(file);
  const asserting = callsUnder(tree).filter((call) => names.has(calleeOf(call)));
  const handsOn = asserting.some((call) =>
    call.arguments.some((argument) => /\bcode$/.test(argument.getText())),
  );
  const tables = handsOn
    ? nodesOf(tree).filter((node) => ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node))
    : [];
  return [...asserting, ...tables].flatMap(codesUnder);
}

const missingFrom = (found: readonly string[]) => reasonCodes.filter((code) => !found.includes(code));

/** Throwing anything else would reach the caller without a code. To throw again what was caught is fine. */
function bareThrowsIn(file: Source): string[] {
  return nodesOf(parse(file))
    .filter(ts.isThrowStatement)
    .filter(
      ({ expression }) => ts.isNewExpression(expression) && expression.expression.getText() !== 'Refusal',
    )
    .map((node) => `${file.path}: ${node.getText()}`);
}

describe('every code is alive', () => {
  const src = sourcesIn(['src']).filter(
    ({ path }) => path !== 'src/refusal.ts' && !path.startsWith('src/reason/'),
  );
  const tests = sourcesIn(['test']).filter((file) => !/refusal(\.test)?\.ts$/.test(file.path));

  it('each code is used by the program', () => {
    expect(missingFrom(src.flatMap(usedIn))).toEqual([]);
  });

  it('each code is asserted by a test', () => {
    const names = assertingNames(tests);
    expect(missingFrom(tests.flatMap((file) => assertedIn(file, names)))).toEqual([]);
  });

  it('whatever the program throws is a refusal with a code', () => {
    // The client of a service has what the service refused, and nothing of this program.
    const own = src.filter(({ path }) => !path.startsWith('src/client/'));
    expect(own.flatMap(bareThrowsIn)).toEqual([]);
  });

  const asserted = (text: string) => {
    const file = { path: 'test/a.test.ts', text };
    return assertedIn(file, assertingNames([file]));
  };

  it('a code in a comment is neither used nor asserted', () => {
    expect(usedIn({ path: 'src/a.ts', text: "// refuse('USAGE')\nexport const a = 1;" })).toEqual([]);
    expect(asserted("// expect(code).toBe('USAGE')\nconst a = ['USAGE'];")).toEqual([]);
  });

  it('a code that a test merely mentions is not asserted', () => {
    expect(asserted("const a = ['USAGE']; expect(1).toBe(1);")).toEqual([]);
    expect(asserted("function say(code: string) { console.log(code); }\nsay('USAGE');")).toEqual([]);
  });

  it('an asserted code is found in each way of asserting it', () => {
    expect(asserted("await expectRefusal('USAGE', () => f());")).toContain('USAGE');
    expect(asserted("expect(result.code).toBe('USAGE');")).toContain('USAGE');
    expect(asserted('expect(stderr).toMatch(/^USAGE: /);')).toContain('USAGE');
    expect(asserted("it.each([['--nope', 'USAGE']])('%s', (a, code) => expectRefusal(code, f));")).toContain(
      'USAGE',
    );
    expect(asserted("function denied(code: string) { expect(f()).toBe(code); }\ndenied('USAGE');")).toContain(
      'USAGE',
    );
    expect(asserted("const no = (code: string) => expect(f()).toBe(code);\nno('USAGE');")).toContain('USAGE');
  });

  it('a refusal says by itself what a human can do', () => {
    for (const code of reasonCodes) expect(new Refusal(code).advice).toBe(explain(code).advice);
  });

  it('a bare error is found, and an error thrown again is not one', () => {
    const bare = (text: string) => bareThrowsIn({ path: 'src/a.ts', text });
    expect(bare("throw new Error('no');")).toHaveLength(1);
    expect(bare("throw new Refusal('USAGE');")).toEqual([]);
    expect(bare('try { f(); } catch (error) { throw error; }')).toEqual([]);
  });
});
