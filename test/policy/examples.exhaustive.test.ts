import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lint, type Parameters } from '../../src/policy/lint.ts';
import { CEDAR_SCHEMA } from '../../src/policy/schema.ts';
import { type PolicySource, parsePolicySet } from '../../src/policy/set.ts';
import { STARTER_POLICIES, STARTER_QUORUMS, STARTER_TESTS } from '../../src/policy/starter.ts';
import { runTable } from '../../src/policy/table.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const SETS: [string, PolicySource, string][] = [
  [
    'the starter set',
    {
      files: [{ name: 'keyturn.cedar', text: STARTER_POLICIES }],
      quorums: STARTER_QUORUMS,
      tests: STARTER_TESTS,
    },
    STARTER_TESTS,
  ],
  [
    'docs/policies',
    {
      files: [{ name: 'examples.cedar', text: read('docs/policies/examples.cedar') }],
      quorums: read('docs/policies/examples-quorums.yaml'),
      tests: read('docs/policies/examples-tests.yaml'),
    },
    read('docs/policies/examples-tests.yaml'),
  ],
];

/** The tool that an example speaks of. */
const parameters: Parameters = (tool) =>
  tool === 'pay' ? { amount: { type: 'integer', required: true } } : undefined;

describe.each(SETS)('%s', (_, source, tests) => {
  it('has nothing wrong with it and nothing odd about it', async () => {
    expect(await lint(source, parameters)).toEqual([]);
  });

  it('decides every row of its table as expected', async () => {
    const results = await runTable(await parsePolicySet(source), tests);
    expect(results.filter(({ passed }) => !passed)).toEqual([]);
    expect(results.length).toBeGreaterThan(10);
  });

  it('has a row for every policy, in which that policy decides', async () => {
    const set = await parsePolicySet(source);
    const decided = (await runTable(set, tests)).flatMap(({ got }) => got.policies.map(({ id }) => id));
    expect(set.policies.map(({ id }) => id).filter((id) => !decided.includes(id))).toEqual([]);
  });

  it('fails some row of its table when any one policy is taken away', async () => {
    const { policies } = await parsePolicySet(source);
    for (const { id, text } of policies) {
      const files = source.files.map((file) => ({ ...file, text: file.text.replace(text, '') }));
      const results = await runTable(await parsePolicySet({ ...source, files }), tests);
      expect(
        results.some(({ passed }) => !passed),
        id,
      ).toBe(true);
    }
  });
});

describe('the comments of the starter set', () => {
  it('hold policies that work once they are uncommented', async () => {
    const [before, emergency] = STARTER_POLICIES.split('// Nothing yet. Two examples:\n');
    const text = before + emergency!.replaceAll(/^\/\/ ?/gm, '');
    const source = {
      files: [{ name: 'keyturn.cedar', text }],
      quorums: STARTER_QUORUMS,
      tests: STARTER_TESTS,
    };
    expect(await lint(source)).toEqual([]);
    const set = await parsePolicySet(source);
    expect(set.policies.filter(({ scope }) => scope === 'emergency')).toHaveLength(2);
  });
});

describe('schemas/keyturn.cedarschema', () => {
  it('is the schema that the program uses; run node scripts/schemas.mjs otherwise', () => {
    expect(read('schemas/keyturn.cedarschema')).toBe(CEDAR_SCHEMA);
  });
});
