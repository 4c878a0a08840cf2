import { describe, expect, it } from 'vitest';
import { openEngine } from '../../src/policy/engine.ts';
import { ACTIONS, type PolicyRequest, SCOPE_OF, SCOPES } from '../../src/policy/request.ts';
import { openPolicySet, parsePolicySet } from '../../src/policy/set.ts';
import { ANY, asking, engineOf, QUESTION, rule, source } from './questions.ts';

const PERMITS = [
  rule('in', 'intent', `permit ${ANY};`),
  rule('cap', 'capability', `permit ${ANY};`),
  rule('exe', 'execution', `permit ${ANY};`),
  rule('rev', 'review', `permit ${ANY};`),
];

const ids = ({ policies }: { policies: readonly { id: string }[] }) => policies.map(({ id }) => id);

describe('a decision', () => {
  it('is allowed by the permit of its scope, which it names with version and rationale', async () => {
    const engine = await engineOf(...PERMITS);
    expect(engine.decide(asking('grant'))).toEqual({
      allowed: true,
      code: null,
      policies: [{ id: 'cap', version: '1', scope: 'capability', rationale: 'Because of cap.' }],
      words: 'Allowed by "cap" (version 1): Because of cap.',
    });
  });

  it('is denied by a forbid, in words that a person can read', async () => {
    const forbid =
      '@id("two-for-production") @version("2") @scope("capability") @rationale("Production needs two people.")' +
      `forbid ${ANY} when { context.environment == "production" && context.approvals < 2 };`;
    const engine = await engineOf(...PERMITS, forbid);
    expect(engine.decide(asking('grant')).allowed).toBe(true);
    const denied = engine.decide(asking('grant', { environment: 'production' }));
    expect(denied).toMatchObject({ allowed: false, code: 'POLICY_DENIED' });
    expect(denied.words).toBe('Denied by "two-for-production" (version 2): Production needs two people.');
  });

  it('is denied when nothing permits it, and says who may not do what', async () => {
    const engine = await engineOf(rule('cap', 'capability', `permit ${ANY};`));
    const denied = engine.decide(asking('submit', {}, { kind: 'agent', name: 'robot\u202e' }));
    expect(denied).toMatchObject({ allowed: false, code: 'POLICY_NO_PERMIT', policies: [] });
    expect(denied.words).toBe(
      'Denied: no policy of the scope intent permits the agent "robot\\u202e" to submit an intent for the tool "deploy".',
    );
  });

  it('names every policy that decided, sorted by id, the first with its reason', async () => {
    const many = ['f', 'b', 'd', 'a', 'c', 'e', 'g'].map((id) => rule(id, 'capability', `forbid ${ANY};`));
    const denied = (await engineOf(...PERMITS, ...many)).decide(asking('grant'));
    expect(ids(denied)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(denied.words).toBe(
      'Denied by "a" (version 1): Because of a. Also by "b", "c", "d", "e" and 2 more.',
    );
  });

  it.each(ACTIONS)('of an empty policy set denies %s', async (action) => {
    const engine = await openEngine(await parsePolicySet({ files: [], quorums: null, tests: null }));
    expect(engine.decide(asking(action))).toMatchObject({ allowed: false, code: 'POLICY_NO_PERMIT' });
  });

  it('comes only from the scope of its action', async () => {
    for (const scope of SCOPES) {
      const engine = await engineOf(rule('only', scope, `permit ${ANY};`));
      const allowed = ACTIONS.filter((action) => engine.decide(asking(action)).allowed);
      expect(allowed).toEqual(ACTIONS.filter((action) => SCOPE_OF[action] === scope));
    }
  });

  it('is not touched by a forbid of another scope', async () => {
    const engine = await engineOf(...PERMITS, rule('no', 'execution', `forbid ${ANY};`));
    expect(engine.decide(asking('grant')).allowed).toBe(true);
    expect(engine.decide(asking('execute')).allowed).toBe(false);
  });

  it('is the same from the stored bytes, however the files were ordered', async () => {
    const files = [
      { name: 'b.cedar', text: PERMITS[0]! },
      { name: 'a.cedar', text: PERMITS[1]! },
    ];
    const set = await parsePolicySet({ files, quorums: null, tests: null });
    const turned = await parsePolicySet({ files: files.toReversed(), quorums: null, tests: null });
    expect(turned.digest).toBe(set.digest);
    const engine = await openEngine(await openPolicySet(set.bytes));
    expect(engine.decide(QUESTION)).toEqual((await openEngine(set)).decide(QUESTION));
  });
});

describe('the emergency scope', () => {
  const frozen = rule('freeze', 'emergency', `forbid ${ANY} when { context.frozen };`);

  it.each(['submit', 'approve', 'grant', 'execute'] as const)('forbids %s too', async (action) => {
    const engine = await engineOf(...PERMITS, frozen);
    expect(engine.decide(asking(action)).allowed).toBe(true);
    const denied = engine.decide(asking(action, { frozen: true }));
    expect(denied).toMatchObject({ allowed: false, code: 'POLICY_DENIED', policies: [{ id: 'freeze' }] });
  });

  it('forbids to break the break_glass as well, whatever permits it', async () => {
    const permit = rule(
      'break_glass',
      'emergency',
      'permit (principal, action == Keyturn::Action::"break_glass", resource);',
    );
    const engine = await engineOf(permit, frozen);
    expect(engine.decide(asking('break_glass')).allowed).toBe(true);
    expect(ids(engine.decide(asking('break_glass', { frozen: true })))).toEqual(['freeze']);
  });

  it('comes second: what the own scope denies is its own denial', async () => {
    const own = rule('z-own', 'capability', `forbid ${ANY} when { context.ttl_s > 600 };`);
    const engine = await engineOf(...PERMITS, own, frozen);
    expect(ids(engine.decide(asking('grant', { ttl_s: 601, frozen: true })))).toEqual(['z-own']);
    expect(ids(engine.decide(asking('grant', { frozen: true })))).toEqual(['freeze']);
    const without = await engineOf(frozen);
    expect(without.decide(asking('grant', { frozen: true })).code).toBe('POLICY_NO_PERMIT');
  });

  it('permits nothing but to break the break_glass', async () => {
    const engine = await engineOf(rule('all', 'emergency', `permit ${ANY};`));
    expect(engine.decide(asking('grant'))).toMatchObject({ code: 'POLICY_NO_PERMIT' });
    expect(engine.decide(asking('break_glass')).allowed).toBe(true);
    const both = await engineOf(...PERMITS, rule('all', 'emergency', `permit ${ANY};`));
    expect(ids(both.decide(asking('grant')))).toEqual(['cap']);
  });
});

/** It passes every check of the schema and fails when it is evaluated: the sum is too large for Cedar. */
const OVERFLOW = 'context.life_s + 9223372036854775807 > 0';
/** So does this: Cedar was not given that person. */
const STRANGER = 'Keyturn::Human::"mallory".roles.contains("dev")';

describe('a policy that cannot be evaluated', () => {
  it.each([OVERFLOW, STRANGER])('denies though Cedar skips the forbid: %s', async (condition) => {
    const engine = await engineOf(
      ...PERMITS,
      rule('broken', 'capability', `forbid ${ANY} when { ${condition} };`),
    );
    const denied = engine.decide(asking('grant'));
    expect(denied).toMatchObject({ allowed: false, code: 'POLICY_ERROR', policies: [{ id: 'broken' }] });
    expect(denied.words).toMatch(
      /^Denied, because the policy "broken" \(version 1\) could not be evaluated: .+\.$/,
    );
  });

  it('denies though another policy permits', async () => {
    const engine = await engineOf(
      ...PERMITS,
      rule('broken', 'capability', `permit ${ANY} when { ${OVERFLOW} };`),
    );
    expect(engine.decide(asking('grant'))).toMatchObject({ allowed: false, code: 'POLICY_ERROR' });
  });

  it('denies every action when it is an emergency forbid', async () => {
    const engine = await engineOf(
      ...PERMITS,
      rule('broken', 'emergency', `forbid ${ANY} when { ${OVERFLOW} };`),
    );
    for (const action of ACTIONS)
      expect(engine.decide(asking(action))).toMatchObject({ allowed: false, code: 'POLICY_ERROR' });
  });

  it('leaves the denial of the own scope in front when it is an emergency forbid', async () => {
    const engine = await engineOf(
      rule('own', 'capability', `forbid ${ANY};`),
      rule('broken', 'emergency', `forbid ${ANY} when { ${OVERFLOW} };`),
    );
    expect(engine.decide(asking('grant'))).toMatchObject({
      code: 'POLICY_DENIED',
      policies: [{ id: 'own' }],
    });
  });
});

describe('a question that does not fit the schema', () => {
  const { goal: _, ...without_goal } = QUESTION.context;
  const circular: Record<string, unknown> = { ...QUESTION.context };
  circular.goal = circular;
  const odd: [string, unknown][] = [
    ['a missing attribute', { ...QUESTION, context: without_goal }],
    ['an attribute too many', { ...QUESTION, context: { ...QUESTION.context, admin: true } }],
    ['a fraction', asking('grant', { ttl_s: 0.5 })],
    ['a number that is none', asking('grant', { ttl_s: Number.NaN })],
    ['a text for a number', asking('grant', { ttl_s: '300' as unknown as number })],
    ['a set of numbers', asking('grant', { quorums: [1] as unknown as string[] })],
    [
      'an entity for a text',
      asking('grant', { goal: { __entity: { type: 'Keyturn::Human', id: 'x' } } as never }),
    ],
    ['half a character', asking('grant', { goal: '\ud800' })],
    ['an integer that JSON cannot say', asking('grant', { ttl_s: 1n as unknown as number })],
    ['a value that holds itself', { ...QUESTION, context: circular }],
    ['no roles', { ...QUESTION, principal: { kind: 'human', name: 'alice', enrolled_by: '' } }],
    ['a principal of no kind', { ...QUESTION, principal: { ...QUESTION.principal, kind: 'robot' } }],
    ['an action that does not exist', { ...QUESTION, action: 'delete' }],
    ['an action that every object has', { ...QUESTION, action: 'toString' }],
    ['an agent who approves', asking('approve', {}, { kind: 'agent' })],
    ['an agent who breaks the break_glass', asking('break_glass', {}, { kind: 'agent' })],
  ];

  it.each(odd)('is denied and nothing is thrown: %s', async (_, question) => {
    const engine = await engineOf(...PERMITS, rule('break_glass', 'emergency', `permit ${ANY};`));
    const denied = engine.decide(question as PolicyRequest);
    expect(denied).toMatchObject({ allowed: false, code: 'POLICY_ERROR', policies: [] });
    expect(denied.words).toMatch(/^Denied, because the policies could not be asked: /);
  });

  it('is told that there is no such action', async () => {
    const engine = await engineOf(...PERMITS);
    const denied = engine.decide({ ...QUESTION, action: 'delete' as never });
    expect(denied.words).toBe('Denied, because the policies could not be asked: there is no such action.');
  });

  it('leaves the engine as it was', async () => {
    const engine = await engineOf(...PERMITS);
    for (const [, question] of odd) engine.decide(question as PolicyRequest);
    expect(engine.decide(QUESTION).allowed).toBe(true);
  });
});

describe('two engines in one process', () => {
  it('do not see each other, and one set may be opened twice', async () => {
    const yes = await engineOf(rule('one', 'capability', `permit ${ANY};`));
    const no = await engineOf(rule('one', 'capability', `forbid ${ANY};`));
    const again = await openEngine(await parsePolicySet(source(rule('one', 'capability', `permit ${ANY};`))));
    const allowed = [yes, no, yes, no, again, no].map((engine) => engine.decide(QUESTION).allowed);
    expect(allowed).toEqual([true, false, true, false, true, false]);
  });
});

describe('the folders of what may be written', () => {
  const engine = () =>
    engineOf(
      ...PERMITS,
      rule('etc', 'capability', `forbid ${ANY} when { context.writes_in.contains("/etc") };`),
    );

  it.each([
    [['/etc'], false],
    [['/etc/ssh/sshd_config'], false],
    [['/srv', '/etc/hosts'], false],
    [['/etcetera/file'], true],
    [['/srv/etc'], true],
    [['etc'], true],
    [[], true],
  ])('a write to %j under a rule for /etc is allowed: %s', async (scope_writes, allowed) => {
    expect((await engine()).decide(asking('grant', { scope_writes })).allowed).toBe(allowed);
  });

  it('cannot be given by who asks', async () => {
    const question = asking('grant', { scope_writes: ['/etc/hosts'], writes_in: [] } as never);
    expect((await engine()).decide(question).code).toBe('POLICY_DENIED');
  });
});
