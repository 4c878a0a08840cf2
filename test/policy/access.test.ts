import { describe, expect, it } from 'vitest';
import { lint } from '../../src/policy/lint.ts';
import { ANY, asking, engineOf, rule, source } from './questions.ts';

/** Who may have a simulation: allowed, denied, or only after an approver. */

const ACCESS = '(principal, action == Keyturn::Action::"access", resource)';
const permit = rule('all', 'intent', `permit ${ACCESS};`);
const careful = rule(
  'careful',
  'intent',
  `@needs("approver")\nforbid ${ACCESS} when { resource.risk == "LOW" };`,
);

describe('access', () => {
  it('is denied unless a policy permits it', async () => {
    const engine = await engineOf(
      rule('other', 'intent', 'permit (principal, action == Keyturn::Action::"submit", resource);'),
    );
    const denial = engine.decide(asking('access'));
    expect(denial).toMatchObject({ allowed: false, code: 'POLICY_NO_PERMIT' });
    expect(denial.words).toBe(
      'Denied: no policy of the scope intent permits the human "alice" to have the simulation "deploy".',
    );
    expect(engine.awaitsApprover(asking('access'), denial)).toBe(false);
  });

  it('can be permitted to users who are not enrolled, and to nobody else', async () => {
    const engine = await engineOf(
      rule(
        'guests',
        'intent',
        `permit (principal is Keyturn::User, action == Keyturn::Action::"access", resource);`,
      ),
    );
    expect(engine.decide(asking('access', {}, { kind: 'user' })).allowed).toBe(true);
    expect(engine.decide(asking('access')).allowed).toBe(false);
  });

  it('waits for an approver when all that is in the way asks for one', async () => {
    const engine = await engineOf(permit, careful);
    const denial = engine.decide(asking('access'));
    expect(denial).toMatchObject({ allowed: false, code: 'POLICY_DENIED' });
    expect(engine.awaitsApprover(asking('access'), denial)).toBe(true);
  });

  it('is denied when nothing else permits it: nobody approves what was never permitted', async () => {
    const engine = await engineOf(careful);
    const denial = engine.decide(asking('access'));
    expect(engine.awaitsApprover(asking('access'), denial)).toBe(false);
  });

  it('is denied when another policy forbids it as well', async () => {
    for (const scope of ['intent', 'emergency']) {
      const engine = await engineOf(permit, careful, rule('never', scope, `forbid ${ACCESS};`));
      expect(engine.awaitsApprover(asking('access'), engine.decide(asking('access')))).toBe(false);
    }
  });

  it('is the only action that an approver lifts in this way', async () => {
    const engine = await engineOf(permit, careful);
    expect(engine.awaitsApprover(asking('grant'), engine.decide(asking('grant')))).toBe(false);
  });
});

describe('@needs', () => {
  it.each([
    [
      'a word that nobody knows',
      rule('a', 'intent', `@needs("luck")\nforbid ${ACCESS};`),
      '@needs is not "approver"',
    ],
    [
      'a permit',
      rule('a', 'intent', `@needs("approver")\npermit ${ACCESS};`),
      '@needs is for a forbid of access alone',
    ],
    [
      'another action',
      rule(
        'a',
        'intent',
        '@needs("approver")\nforbid (principal, action == Keyturn::Action::"submit", resource);',
      ),
      '@needs is for a forbid of access alone',
    ],
    [
      'every action',
      rule('a', 'intent', `@needs("approver")\nforbid ${ANY};`),
      '@needs is for a forbid of access alone',
    ],
  ])('is an error on %s', async (_, text, message) => {
    const problems = await lint(source(text));
    expect(problems.filter(({ severity }) => severity === 'error').map((one) => one.message)).toEqual([
      message,
    ]);
  });
});
