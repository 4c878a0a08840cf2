import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { canonicalBytes } from '../../src/canonical/json.ts';
import { policyLimits } from '../../src/limits.ts';
import { openPolicySet, type PolicySource, parsePolicySet } from '../../src/policy/set.ts';
import { expectRefusal } from '../support/refusal.ts';
import { ANY, rule, source } from './questions.ts';

const FINE = rule('fine', 'intent', `permit ${ANY};`);

async function expectInvalid(given: PolicySource, message: RegExp): Promise<void> {
  const refused = await expectRefusal('POLICY_INVALID', () => parsePolicySet(given));
  expect(refused.message).toMatch(message);
}

describe('a policy set', () => {
  it('has the digest of its canonical bytes, which open to the same set', async () => {
    const set = await parsePolicySet({ ...source(FINE), quorums: 'two: { any: 2 }' });
    expect(set.digest).toBe(sha256(set.bytes));
    expect(JSON.parse(Buffer.from(set.bytes).toString())).toEqual({
      format: 'keyturn-policies/2',
      files: [{ name: 'rules.cedar', text: FINE }],
      quorums: 'two: { any: 2 }',
      tests: null,
    });
    expect(await openPolicySet(set.bytes)).toEqual(set);
  });

  it('may be empty, and may hold files of comments', async () => {
    expect((await parsePolicySet({ files: [], quorums: null, tests: null })).policies).toEqual([]);
    expect((await parsePolicySet({ ...source('// nothing yet'), quorums: '# none' })).policies).toEqual([]);
  });

  it('keeps the place of every policy', async () => {
    const set = await parsePolicySet(
      source('// first line', FINE, rule('other', 'execution', `forbid ${ANY};`)),
    );
    expect(set.policies).toMatchObject([
      { id: 'fine', file: 'rules.cedar', line: 2, effect: 'permit', actions: null },
      { id: 'other', line: 5, effect: 'forbid' },
    ]);
  });

  it('has another digest when one character differs, also in a comment', async () => {
    const { digest } = await parsePolicySet(source(FINE));
    expect((await parsePolicySet(source(`${FINE}//`))).digest).not.toBe(digest);
    expect((await parsePolicySet({ ...source(FINE), quorums: '' })).digest).not.toBe(digest);
  });
});

const annotated = (annotations: string) => source(FINE, `${annotations} permit ${ANY};`);

describe('a policy is refused', () => {
  it.each([
    ['without an id', '@version("1") @scope("intent") @rationale("Why.")', /line 4: has no @id/],
    ['without a version', '@id("a") @scope("intent") @rationale("Why.")', /"a" has no @version/],
    ['without a scope', '@id("a") @version("1") @rationale("Why.")', /"a" has no @scope/],
    ['without a rationale', '@id("a") @version("1") @scope("intent")', /"a" has no @rationale/],
    [
      'with an id that is not ASCII',
      '@id("prüfung") @version("1") @scope("intent") @rationale("Why.")',
      /@id is not a name/,
    ],
    [
      'with an id written in escapes',
      '@id("a\\u{e9}") @version("1") @scope("intent") @rationale("Why.")',
      /@id is not a name/,
    ],
    ['with an empty id', '@id("") @version("1") @scope("intent") @rationale("Why.")', /@id is not a name/],
    [
      'with an annotation without a value',
      '@id @version("1") @scope("intent") @rationale("Why.")',
      /@id is not a name/,
    ],
    [
      'with two ids',
      '@id("a") @id("b") @version("1") @scope("intent") @rationale("Why.")',
      /duplicate annotation/,
    ],
    [
      'with a version of spaces',
      '@id("a") @version(" ") @scope("intent") @rationale("Why.")',
      /@version is not a version/,
    ],
    [
      'with an unknown scope',
      '@id("a") @version("1") @scope("Intent") @rationale("Why.")',
      /@scope is not one of intent, /,
    ],
    [
      'with a scope that every object has',
      '@id("a") @version("1") @scope("toString") @rationale("Why.")',
      /@scope is not one of/,
    ],
    [
      'with a blank rationale',
      '@id("a") @version("1") @scope("intent") @rationale("  ")',
      /@rationale is blank/,
    ],
    [
      'with an escape sequence in its rationale',
      '@id("a") @version("1") @scope("intent") @rationale("\\x1b[2J")',
      /invisible character/,
    ],
    [
      'with an annotation that means nothing',
      '@id("a") @version("1") @scope("intent") @rationale("W.") @scop("x")',
      /means nothing: @scop/,
    ],
  ])('%s', async (_, annotations, message) => {
    await expectInvalid(annotated(annotations), message);
  });

  it.each([
    [
      'one in the scope intent that grants',
      'intent',
      'permit (principal, action == Keyturn::Action::"grant", resource);',
    ],
    [
      'one in the scope execution that grants or executes',
      'execution',
      'forbid (principal, action in [Keyturn::Action::"execute", Keyturn::Action::"grant"], resource);',
    ],
    [
      'one in the scope capability that submits',
      'capability',
      'forbid (principal, action in Keyturn::Action::"submit", resource);',
    ],
    [
      'a permit in the scope emergency that executes',
      'emergency',
      'permit (principal, action == Keyturn::Action::"execute", resource);',
    ],
  ])('when its scope does not judge its action: %s', async (_, scope, body) => {
    await expectInvalid(
      source(rule('misplaced', scope, body)),
      /"misplaced" has the scope .+ does not judge the action/,
    );
  });

  it('but an emergency forbid may name any action', async () => {
    const body = 'forbid (principal, action == Keyturn::Action::"execute", resource);';
    expect((await parsePolicySet(source(rule('stop', 'emergency', body)))).policies).toHaveLength(1);
  });

  it('when another file has its id', async () => {
    const files = [
      { name: 'a.cedar', text: FINE },
      { name: 'b.cedar', text: `\n${FINE}` },
    ];
    await expectInvalid(
      { files, quorums: null, tests: null },
      /^b\.cedar, line 2: the policy "fine" has the same @id .+ a\.cedar, line 1\.$/,
    );
  });

  it.each([
    ['an attribute that does not exist', `permit ${ANY} when { context.mood == "good" };`, /mood/],
    ['an attribute of another kind of thing', `permit ${ANY} when { principal.undo == "none" };`, /undo/],
    ['a comparison of two kinds', `permit ${ANY} when { context.goal == 5 };`, /type/],
    ['an unknown action', 'permit (principal, action == Keyturn::Action::"delete", resource);', /./],
    ['an unknown kind of principal', 'permit (principal is Keyturn::Robot, action, resource);', /Robot/],
    ['an action of no namespace', 'permit (principal, action == Action::"grant", resource);', /./],
    [
      'a number parsed out of a text',
      `permit ${ANY} when { decimal(context.goal).lessThan(decimal("1.0")) };`,
      /./,
    ],
  ])('when it does not fit the schema: %s', async (_, body, message) => {
    await expectInvalid(source(rule('odd', 'capability', body)), message);
  });

  it.each([
    [
      'broken text',
      `${FINE} permit (principal, action, resource) when { context. };`,
      /^rules\.cedar, line 3: unexpected token/,
    ],
    [
      'a template',
      rule('t', 'intent', 'permit (principal == ?principal, action, resource);'),
      /line 1: is a template/,
    ],
    ['text that hides', `${FINE}// \u202e hidden`, /line 3: has an invisible character/],
    ['a NUL', `${FINE}//\0`, /invisible character/],
  ])('in a file with %s', async (_, text, message) => {
    await expectInvalid(source(text), message);
  });

  it('with the right line after letters of several bytes', async () => {
    await expectInvalid(source(`// ${'ä'.repeat(500)}\n${FINE}permit (;`), /^rules\.cedar, line 4: /);
  });
});

describe('the files of a policy set', () => {
  it.each(['keyturn.txt', 'keyturn.cedar.bak', '.cedar', 'a/b.cedar', '../a.cedar', 'ä.cedar', ''])(
    'cannot have the name %j',
    async (name) => {
      await expectInvalid(
        { files: [{ name, text: FINE }], quorums: null, tests: null },
        /is not the name of a policy file/,
      );
    },
  );

  it('have different names', async () => {
    const file = { name: 'a.cedar', text: '' };
    await expectInvalid(
      { files: [file, file], quorums: null, tests: null },
      /^a\.cedar, line 1: is there twice/,
    );
  });

  it('are bounded in size, by the byte', async () => {
    const fill = (bytes: number) => source(`//${'x'.repeat(bytes - 2)}`);
    expect((await parsePolicySet(fill(policyLimits.file_bytes))).policies).toEqual([]);
    await expectInvalid(fill(policyLimits.file_bytes + 1), /bytes; the most is/);
    await expectInvalid(source(`//${'ä'.repeat(policyLimits.file_bytes / 2)}`), /bytes; the most is/);
  });

  it('are bounded together', async () => {
    const text = `//${'x'.repeat(policyLimits.file_bytes - 2)}`;
    const files = Array.from({ length: 8 }, (_, i) => ({ name: `f${i}.cedar`, text }));
    await expectInvalid({ files, quorums: null, tests: null }, /^The policies have \d+ bytes/);
  });

  it('are bounded in number, and so are the policies', async () => {
    const files = Array.from({ length: policyLimits.files + 1 }, (_, i) => ({
      name: `f${i}.cedar`,
      text: '',
    }));
    expect((await parsePolicySet({ files: files.slice(1), quorums: null, tests: null })).policies).toEqual(
      [],
    );
    await expectInvalid({ files, quorums: null, tests: null }, /has 65 files/);
    const texts = Array.from({ length: policyLimits.policies + 1 }, (_, i) =>
      rule(`p${i}`, 'intent', `forbid ${ANY};`),
    );
    expect((await parsePolicySet(source(...texts.slice(1)))).policies).toHaveLength(policyLimits.policies);
    await expectInvalid(source(...texts), /has 501 policies/);
  });
});

describe('stored policies', () => {
  const stored = (value: object) =>
    canonicalBytes({ format: 'keyturn-policies/2', files: [], quorums: null, tests: null, ...value });

  it.each([
    ['of another format', stored({ format: 'keyturn-policies/1' })],
    ['with a field too many', stored({ author: 'x' })],
    [
      'with files that are out of order',
      stored({ files: ['b', 'a'].map((n) => ({ name: `${n}.cedar`, text: '' })) }),
    ],
    ['with a policy that is not valid', stored({ files: [{ name: 'a.cedar', text: `permit ${ANY};` }] })],
    [
      'with spaces in between',
      Buffer.from('{"files":[], "format":"keyturn-policies/2","quorums":null,"tests":null}'),
    ],
  ])('are refused %s', async (_, bytes) => {
    await expectRefusal('POLICY_INVALID', () => openPolicySet(bytes));
  });

  it('are refused when they are no JSON', async () => {
    await expectRefusal('JSON_MALFORMED', () => openPolicySet(Buffer.from('permit')));
  });
});
