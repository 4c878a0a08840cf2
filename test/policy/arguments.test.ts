import { describe, expect, it } from 'vitest';
import { topsOf } from '../../src/policy/call.ts';
import { openEngine } from '../../src/policy/engine.ts';
import { lint, type Parameters } from '../../src/policy/lint.ts';
import { rememberingEngine } from '../../src/policy/remember.ts';
import type { PolicyCall, PolicyRequest } from '../../src/policy/request.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { runTable } from '../../src/policy/table.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, asking, engineOf, QUESTION, rule, source } from './questions.ts';

const PERMIT = rule('cap', 'capability', `permit ${ANY};`);

const reading = (declared: string, condition: string, effect = 'forbid') =>
  `@arguments("${declared}")\n${rule('reads', 'capability', `${effect} ${ANY} when { ${condition} };`)}`;

const LARGE = reading(
  'pay.amount: integer',
  'context.arguments has pay && context.arguments.pay.amount > 100',
);

const pay = (amount: unknown): PolicyCall => ({ tool: 'pay', arguments: { amount } as never });

function calling(calls: readonly PolicyCall[], resource: Partial<PolicyRequest['resource']> = {}) {
  const request = asking('grant', { calls });
  const what = { ...QUESTION.resource, name: 'pay', tools: ['pay'], ...resource };
  return { ...request, resource: what } as PolicyRequest;
}

const inPlan = (...calls: PolicyCall[]) => calling(calls, { kind: 'plan', name: 'plan' });

describe('the arguments of a call', () => {
  it('are judged, for a tool and for each step of a pipeline', async () => {
    const engine = await engineOf(PERMIT, LARGE);
    expect(engine.decide(calling([pay(100)])).allowed).toBe(true);
    expect(engine.decide(calling([pay(101)])).code).toBe('POLICY_DENIED');
    expect(engine.decide(inPlan(pay(1), pay(100))).allowed).toBe(true);
    for (const calls of [[pay(101)], [pay(1), pay(101)], [pay(101), pay(1)]])
      expect(engine.decide(inPlan(...calls)).code).toBe('POLICY_DENIED');
  });

  it.each<[string, PolicyRequest]>([
    ['that is left out', calling([{ tool: 'pay', arguments: {} }])],
    ['of another type', calling([pay('7')])],
    ['that is no whole number', calling([pay(7.5)])],
    ['that is too large to be exact', calling([pay(2 ** 53)])],
    ['of a step that is left out', inPlan(pay(1), { tool: 'pay', arguments: {} })],
    ['of a call that is not told', calling([])],
    ['of a step that is not told', inPlan()],
    ['of a call that is told as another', calling([{ tool: 'deploy', arguments: { amount: 1 } }])],
  ])('are denied where a policy reads one %s', async (_, request) => {
    const engine = await engineOf(PERMIT, LARGE);
    expect(engine.decide(request).code).toBe('POLICY_ERROR');
  });

  it('are denied where one is left out, although the policy asks whether it is there', async () => {
    const asks = 'context.arguments has pay && context.arguments.pay has amount';
    const engine = await engineOf(
      PERMIT,
      reading('pay.amount: integer', `${asks} && context.arguments.pay.amount > 100`),
    );
    expect(engine.decide(calling([{ tool: 'pay', arguments: {} }])).code).toBe('POLICY_ERROR');
  });

  it('may have others that no policy reads, in whatever form', async () => {
    const engine = await engineOf(PERMIT, LARGE);
    const more = { ...pay(1).arguments, rate: 0.123456, note: 'x', to: ['a', 'a'] };
    expect(engine.decide(calling([{ tool: 'pay', arguments: more }])).allowed).toBe(true);
    expect(engine.decide(asking('grant', { calls: [{ tool: 'deploy', arguments: {} }] })).allowed).toBe(true);
  });

  it('do not permit a plan: it does more than its calls', async () => {
    const small = reading(
      'pay.amount: integer',
      'context.arguments has pay && context.arguments.pay.amount <= 100',
      'permit',
    );
    const engine = await engineOf(small);
    expect(engine.decide(calling([pay(1)])).allowed).toBe(true);
    expect(engine.decide(inPlan(pay(1))).code).toBe('POLICY_NO_PERMIT');
  });
});

describe('the types of arguments', () => {
  const told = async (declared: string, condition: string, value: unknown) => {
    const engine = await engineOf(
      PERMIT,
      reading(`pay.v: ${declared}`, `context.arguments has pay && ${condition}`),
    );
    return engine.decide(calling([{ tool: 'pay', arguments: { v: value } as never }])).code;
  };

  it.each<[string, string, unknown, unknown]>([
    ['string', 'context.arguments.pay.v like "a*"', 'ab', 'b'],
    ['path', 'context.arguments.pay.v like "src/*"', 'src/a', 'docs/a'],
    ['boolean', 'context.arguments.pay.v', true, false],
    ['integer', 'context.arguments.pay.v > 9007199254740990', Number.MAX_SAFE_INTEGER, -1],
    ['number', 'context.arguments.pay.v.greaterThan(decimal("100.0"))', 100.0001, 100],
    ['number', 'context.arguments.pay.v.lessThan(decimal("0.0"))', -0.5, -0],
    ['list', 'context.arguments.pay.v.contains("b")', ['a', 'b', 'b'], []],
  ])('%s: %s', async (type, condition, yes, no) => {
    expect(await told(type, condition, yes)).toBe('POLICY_DENIED');
    expect(await told(type, condition, no)).toBeNull();
  });

  it.each([0.00001, 1e-7, 1e21, 1e15, 922_337_203_685_478, Number.NaN, Infinity, '1.5'])(
    'a number that a decimal cannot hold is denied, and not rounded: %d',
    async (value) => {
      const never = 'context.arguments.pay.v == decimal("7.0")';
      expect(await told('number', never, value)).toBe('POLICY_ERROR');
    },
  );

  it.each<[string, string, RegExp]>([
    ['another type of Cedar', LARGE.replace('integer', 'string'), /expected Long/],
    ['no such argument', LARGE.replaceAll('pay.amount >', 'pay.sum >'), /attribute `arguments.pay.sum`/],
    ['no question for the tool', LARGE.replace('context.arguments has pay && ', ''), /optional attribute/],
    ['no declaration', LARGE.replace('@arguments("pay.amount: integer")', ''), /no @arguments declares one/],
    [
      'no declaration, asked in one step',
      rule('reads', 'capability', `forbid ${ANY} when { context has arguments.pay };`),
      /no @arguments declares one/,
    ],
    ['a type that there is not', LARGE.replace('integer', 'Long'), /@arguments is not of the form/],
    ['nothing in it', LARGE.replace('pay.amount: integer', ''), /@arguments is not of the form/],
    [
      'two types for one argument',
      `${LARGE}${LARGE.replace('"reads"', '"too"').replace('amount: integer', 'amount: number')}`,
      /declares "pay.amount" with another type/,
    ],
  ])('are checked before anything is decided: %s', async (_, text, message) => {
    const refused = await expectRefusal('POLICY_INVALID', () => parsePolicySet(source(PERMIT, text)));
    expect(refused.message).toMatch(message);
  });

  it('hold for tools whose names are not words of Cedar', async () => {
    const engine = await engineOf(
      PERMIT,
      reading(
        'send-mail.v2.to: list',
        'context.arguments has "send-mail.v2" && context.arguments["send-mail.v2"].to.contains("all")',
      ),
    );
    const request = (to: string[]) =>
      calling([{ tool: 'send-mail.v2', arguments: { to } }], { name: 'send-mail.v2', tools: [] });
    expect(engine.decide(request(['all'])).code).toBe('POLICY_DENIED');
    expect(engine.decide(request(['ada'])).allowed).toBe(true);
  });

  const registered =
    (amount: object): Parameters =>
    (tool) =>
      tool === 'pay' ? ({ amount: { type: 'integer', required: true, ...amount } } as never) : undefined;

  it.each<[string, Parameters, string, RegExp]>([
    ['another type', registered({ type: 'number' }), 'error', /tools.yaml says number/],
    ['no such parameter', () => ({}), 'error', /has no such parameter/],
    ['no such tool', () => undefined, 'warning', /tools.yaml does not have/],
    [
      'an argument that may be left out',
      registered({ required: false }),
      'warning',
      /leaves it out is denied/,
    ],
  ])('are compared with tools.yaml: %s', async (_, parameters, severity, message) => {
    const found = await lint(source(PERMIT, LARGE), parameters);
    expect(found.filter(({ policy }) => policy === 'reads')).toMatchObject([
      { severity, message: expect.stringMatching(message) },
    ]);
  });

  it('are fine where tools.yaml says the same, or has a default', async () => {
    for (const amount of [{}, { required: false, default: 1 }])
      expect(
        (await lint(source(PERMIT, LARGE), registered(amount))).filter(({ policy }) => policy !== null),
      ).toEqual([]);
  });
});

describe('an engine that remembers', () => {
  it('answers by the arguments that a policy reads, and asks once for all others', async () => {
    const plain = await openEngine(await parsePolicySet(source(PERMIT, LARGE)));
    let asked = 0;
    const engine = rememberingEngine({
      ...plain,
      decide: (request) => {
        asked += 1;
        return plain.decide(request);
      },
    });
    const noted = (amount: number, note: string) => calling([{ tool: 'pay', arguments: { amount, note } }]);
    expect(engine.decide(noted(100, 'a')).allowed).toBe(true);
    expect(engine.decide(noted(100, 'b')).allowed).toBe(true);
    expect(asked).toBe(1);
    expect(engine.decide(noted(101, 'a')).code).toBe('POLICY_DENIED');
    expect(engine.decide(inPlan(pay(100))).allowed).toBe(true);
    expect(engine.decide(inPlan(pay(100), pay(101))).code).toBe('POLICY_DENIED');
    expect(asked).toBe(4);
  });

  it('denies what lacks an argument where no policy that judges reads it, too', async () => {
    const submit = rule('sub', 'intent', `permit ${ANY};`);
    const engine = rememberingEngine(await engineOf(submit, LARGE));
    const submitting = (call: PolicyCall) => ({ ...calling([call]), action: 'submit' }) as PolicyRequest;
    expect(engine.decide(submitting(pay(101))).allowed).toBe(true);
    expect(engine.decide(submitting({ tool: 'pay', arguments: {} })).code).toBe('POLICY_ERROR');
  });
});

describe('writes_top', () => {
  const tops = (writes: string[], over: object = {}) =>
    topsOf({ ...QUESTION.resource, writes, ...over } as PolicyRequest['resource']);

  it('has the first part of each path, once', () => {
    expect(tops(['docs', 'docs/a/b.md', 'README.md'])).toEqual(['docs', 'README.md']);
    expect(tops([])).toEqual([]);
  });

  it.each(['/docs', '/', '/etc/passwd', 'docs/../src', '../docs', 'docs//a', ''])(
    'tells what lies outside, or is not a plain path, as such: %j',
    (path) => {
      expect(tops([path])).toEqual(['/']);
    },
  );

  it('has all of the project and all outside where that is not known', () => {
    expect(tops(['.'])).toEqual(['.']);
    expect(tops(['docs'], { sandboxed: false })).toEqual(['.', '/', 'docs']);
    expect(tops([], { kind: 'simulation', tools: [] })).toEqual(['.', '/']);
    expect(tops(['docs'], { kind: 'simulation' })).toEqual(['docs']);
  });
});

describe('a row of a table', () => {
  it('that leaves out an argument which a policy reads does not pass', async () => {
    const set = await parsePolicySet(source(PERMIT, LARGE));
    const row = (more: string) => `- name: one
  action: grant
  principal: { kind: human, name: ada }
  resource: { name: pay }
  expect: deny
${more}`;
    expect((await runTable(set, row('')))[0]).toMatchObject({ passed: false, got: { code: 'POLICY_ERROR' } });
    const calls = '  context: { calls: [{ tool: pay, arguments: { amount: 101 } }] }\n';
    expect((await runTable(set, row(calls)))[0]).toMatchObject({ passed: true });
  });
});
