import { describe, expect, it } from 'vitest';
import { lint } from '../../src/policy/lint.ts';
import { ANY, rule, source } from './questions.ts';

const ALL = [
  rule('in', 'intent', `permit ${ANY};`),
  rule('cap', 'capability', `permit ${ANY};`),
  rule('exe', 'execution', `permit ${ANY};`),
];

const messages = async (...texts: string[]) => (await lint(source(...texts))).map(({ message }) => message);

describe('lint', () => {
  it('says nothing about a set that is in order', async () => {
    expect(await lint(source(...ALL))).toEqual([]);
  });

  it('tells every error of every file with its place, and then the warnings', async () => {
    const files = [
      {
        name: 'a.cedar',
        text: `${rule('one', 'intent', `permit ${ANY} when { context.mood };`)}permit ${ANY};`,
      },
      { name: 'b.cedar', text: 'permit (;' },
      { name: 'c.txt', text: '' },
    ];
    const found = await lint({ files, quorums: 'two: { any: 0 }', tests: null });
    const at = (file: string) => found.filter((one) => one.file === file);
    expect(at('a.cedar').map(({ line, policy, severity }) => [line, policy, severity])).toEqual([
      [3, null, 'error'],
      [3, null, 'error'],
      [3, null, 'error'],
      [3, null, 'error'],
      [1, 'one', 'error'],
    ]);
    expect(at('b.cedar')).toMatchObject([{ line: 1, severity: 'error' }]);
    expect(at('c.txt')).toMatchObject([{ message: expect.stringMatching('not the name of a policy file') }]);
    expect(at('quorums.yaml')).toMatchObject([{ line: 1, message: expect.stringMatching(/^two\.any: /) }]);
    const severities = found.map(({ severity }) => severity);
    expect(severities).toEqual(severities.toSorted());
    expect(severities).toContain('warning');
  });

  it('warns that an empty set denies everything', async () => {
    expect(await lint({ files: [], quorums: null, tests: null })).toEqual([
      {
        file: 'policies',
        line: 1,
        policy: null,
        severity: 'warning',
        message: 'There are no policies, so everything is denied',
      },
    ]);
  });

  it('warns of every action that nothing permits', async () => {
    expect(await messages(...ALL.slice(1))).toEqual([
      'No policy of the scope intent permits "submit", so it is always denied',
      'No policy of the scope intent permits "approve", so it is always denied',
    ]);
    const submit = rule('in', 'intent', 'permit (principal, action == Keyturn::Action::"submit", resource);');
    const forbid = rule('no', 'intent', `forbid ${ANY};`);
    expect(await messages(submit, forbid, ...ALL.slice(1))).toEqual([
      'No policy of the scope intent permits "approve", so it is always denied',
    ]);
  });

  it.each([
    ['contains("two")', ['two']],
    ['containsAny(["one", "two"])', ['two']],
    ['containsAll(["two", "three"])', ['two', 'three']],
    ['contains("one")', []],
  ])('warns of a quorum that nobody defined: %s', async (asks, unknown) => {
    const forbid = rule(
      'q',
      'capability',
      `forbid ${ANY} unless { context.frozen || context.quorums.${asks} };`,
    );
    const found = await lint({ ...source(...ALL, forbid), quorums: 'one: { any: 1 }' });
    expect(found).toMatchObject(
      unknown.map((name) => ({
        policy: 'q',
        severity: 'warning',
        message: expect.stringContaining(`"${name}"`),
      })),
    );
    expect(found).toHaveLength(unknown.length);
  });

  it('warns of a permit of everything in the emergency scope', async () => {
    const [found, ...more] = await lint(source(...ALL, rule('all', 'emergency', `permit ${ANY};`)));
    expect(found).toMatchObject({
      policy: 'all',
      severity: 'warning',
      message: expect.stringContaining('break_glass'),
    });
    expect(more).toEqual([]);
  });

  it('warns of a policy that can never apply', async () => {
    const never = rule('never', 'capability', `forbid ${ANY} when { context.humans > 1 && false };`);
    expect(await lint(source(...ALL, never))).toMatchObject([{ policy: 'never', severity: 'warning' }]);
  });

  it('warns of a permit for agents to approve, which no policy can give', async () => {
    const permit = rule(
      'robots',
      'intent',
      'permit (principal is Keyturn::Agent, action == Keyturn::Action::"approve", resource);',
    );
    expect(await lint(source(...ALL, permit))).toMatchObject([
      { policy: 'robots', severity: 'warning', message: expect.stringContaining('impossible') },
      { policy: 'robots', severity: 'warning', message: expect.stringContaining('applicable action') },
    ]);
  });
});
