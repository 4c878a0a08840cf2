import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import {
  changedDecisions,
  openDecision,
  recordOf,
  redecide,
  sameDecision,
  sealDecision,
} from '../../src/policy/replay.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, asking, engineOf, QUESTION, rule } from './questions.ts';

const old = () => engineOf(rule('cap', 'capability', `permit ${ANY} when { context.ttl_s <= 600 };`));
const record = async (ttl_s = 300) => {
  const engine = await old();
  const request = asking('grant', { ttl_s });
  return recordOf(engine, request, engine.decide(request), {
    subject: 'intent',
    nonce: Buffer.alloc(16).toString('base64'),
  });
};

describe('a stored decision', () => {
  it('names its snapshot and opens to what was sealed', async () => {
    const made = await record();
    const { bytes, digest } = sealDecision(made);
    expect(digest).toBe(sha256(bytes));
    expect(openDecision(bytes)).toEqual(made);
    expect(made.snapshot).toBe((await old()).set.digest);
  });

  it.each([300, 601])('is decided again in the same way by the same policies: %i seconds', async (ttl_s) => {
    const made = openDecision(sealDecision(await record(ttl_s)).bytes);
    expect(redecide(made, await old())).toEqual(made.decision);
  });

  it.each([
    ['another format', { format: 'keyturn-decision/2' }],
    ['a field too many', { note: 'x' }],
    ['a snapshot that is no digest', { snapshot: 'latest' }],
    ['a question without a context', { request: { ...QUESTION, context: {} } }],
    [
      'an answer that is both',
      { decision: { allowed: true, code: 'POLICY_DENIED', policies: [], words: '' } },
    ],
    ['an answer that is neither', { decision: { allowed: false, code: null, policies: [], words: '' } }],
  ])('is refused with %s', async (_, change) => {
    const bytes = canonicalBytes({ ...(await record()), ...change });
    await expectRefusal('SHAPE_INVALID', () => openDecision(bytes));
  });

  it('is refused when it is not canonical', async () => {
    const bytes = Buffer.from(` ${Buffer.from(sealDecision(await record()).bytes).toString()}`);
    await expectRefusal('SHAPE_INVALID', () => openDecision(bytes));
  });
});

describe('two decisions', () => {
  it('are the same when answer, code and policies are, whatever the words', async () => {
    const { decision } = await record();
    expect(sameDecision(decision, { ...decision, words: 'Yes.' })).toBe(true);
    expect(sameDecision(decision, { ...decision, allowed: false })).toBe(false);
    expect(sameDecision(decision, { ...decision, code: 'POLICY_ERROR' })).toBe(false);
    expect(sameDecision(decision, { ...decision, policies: [] })).toBe(false);
    const [policy] = decision.policies;
    expect(sameDecision(decision, { ...decision, policies: [{ ...policy!, version: '2' }] })).toBe(false);
  });
});

describe('new policies', () => {
  it('change the decisions whose answer or reason code differs, and no other', async () => {
    const records = [await record(300), await record(500), await record(700)];
    const next = await engineOf(
      rule('cap', 'capability', `permit ${ANY} when { context.ttl_s <= 400 };`, '2'),
      rule('no', 'capability', `forbid ${ANY} when { context.ttl_s > 600 };`),
    );
    const changed = changedDecisions(records, null, next);
    expect(
      changed.map(({ record, after }) => [record.request.context.ttl_s, record.decision.code, after.code]),
    ).toEqual([
      [500, null, 'POLICY_NO_PERMIT'],
      [700, 'POLICY_NO_PERMIT', 'POLICY_DENIED'],
    ]);
    expect(changedDecisions(records, null, await old())).toEqual([]);
  });
});
