import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lint, type Parameters } from '../../src/policy/lint.ts';
import { type PolicyAction, SCOPE_OF } from '../../src/policy/request.ts';
import { parsePolicySet } from '../../src/policy/set.ts';
import { STARTER_POLICIES, STARTER_QUORUMS } from '../../src/policy/starter.ts';
import { runTable } from '../../src/policy/table.ts';

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
const page = read('policies.md');
const quorums = read('policies/examples-quorums.yaml') + STARTER_QUORUMS;

const blocks = [...page.matchAll(/^```(cedar|yaml)\n(.*?)^```$/gms)].map(([, kind, text]) => ({
  kind,
  text: text!,
}));
const cedar = blocks.filter(({ kind }) => kind === 'cedar').map(({ text }) => text);
/** A part of a policy is shown in the words of the examples. */
const [whole, parts] = [
  cedar.filter((one) => one.includes('@id')),
  cedar.filter((one) => !one.includes('@id')),
];
/** Rules that stand in a sentence have no name. */
const rules = [...page.matchAll(/`(forbid \(.*?\};)`/g)].map(([, text], i) => {
  const [, action] = /Action::"(\w+)"/.exec(text!) ?? [];
  const scope = action === undefined ? 'capability' : SCOPE_OF[action as PolicyAction];
  return `@id("rule-${i}")\n@version("1")\n@scope("${scope}")\n@rationale("A rule of the page.")\n${text}\n`;
});

const parameters: Parameters = (tool) =>
  tool === 'pay' ? { amount: { type: 'integer', required: true } } : undefined;

const sourceOf = (texts: readonly string[], tests = '[]\n') => ({
  files: [{ name: 'page.cedar', text: texts.join('\n') }],
  quorums,
  tests,
});

describe('docs/policies.md', () => {
  it('has policies that a set can hold, with nothing odd about them', async () => {
    expect([whole.length, parts.length, rules.length]).toEqual([2, 1, 2]);
    expect(await lint(sourceOf([STARTER_POLICIES, ...whole, ...rules]), parameters)).toEqual([]);
    for (const part of parts) expect(read('policies/examples.cedar')).toContain(part.trim());
  });

  it('has a row of a table that those policies decide as it says', async () => {
    const [row, ...more] = blocks.filter(({ kind }) => kind === 'yaml');
    expect(more).toEqual([]);
    const results = await runTable(
      await parsePolicySet(sourceOf([STARTER_POLICIES, ...whole], row!.text)),
      row!.text,
    );
    expect(results).toMatchObject([{ passed: true }]);
    // The same without the policy that it names.
    const without = await parsePolicySet(sourceOf([STARTER_POLICIES, whole[1]!], row!.text));
    expect(await runTable(without, row!.text)).toMatchObject([{ passed: false }]);
  });
});
