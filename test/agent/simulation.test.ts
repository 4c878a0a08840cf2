import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { parseCatalog } from '../../src/finder/catalog.ts';
import { needsConfirmation, parseSimulation } from '../../src/finder/simulation.ts';
import { expectRefusal } from '../support/refusal.ts';
import { corpusCatalog } from './evaluate.ts';
import { catalog, field, shape, simulation } from './examples.ts';

const parse = (given: Record<string, unknown>) =>
  parseSimulation('a.yaml', stringify({ ...shape('a'), ...given }));

describe('a simulation file', () => {
  it('gets the defaults of what it does not say', () => {
    expect(parse({})).toMatchObject({ priority: 50, timeout_ms: 30_000, fields: {}, phrases: {} });
  });

  it('may have a plan with its own undo as its effect', () => {
    const effect = { plan: { task_id: 'x', path: '{file}' }, config: {} };
    const fields = { file: field({ extract: 'path' }) };
    const given = { effect, fields, impactful: true, rollback_plan_ref: 'plan:rollback' };
    expect(parse(given).rollback_plan_ref).toBe('plan:rollback');
  });

  it.each([
    ['an unknown key', { colour: 'red' }],
    ['no English summary', { summary: { es: 'Hacer' } }],
    ['a summary with a hidden character', { summary: { en: 'Do\u202eit' } }],
    ['a bad id', { id: 'Not A Name' }],
    ['version zero', { version: 0 }],
    ['a priority above 100', { priority: 101 }],
    ['an unknown risk', { risk: 'NONE' }],
    ['no word on whether it is impactful', { impactful: undefined }],
    ['an impact without a rollback', { impactful: true }],
    ['the undo of a plan without a plan', { impactful: true, rollback_plan_ref: 'plan:rollback' }],
    ['neither effect nor steps', { effect: undefined }],
    ['both effect and steps', { steps: [{ simulation: 'b' }] }],
    ['an argument from no field', { effect: { tool: 't', arguments: { a: '{nowhere}' } } }],
    ['one answer format', { fields: { f: field({ formats: ['a'] }) } }],
    ['four answer formats', { fields: { f: field({ formats: ['a', 'b', 'c', 'd'] }) } }],
    ['an enum without values', { fields: { f: field({ type: 'enum' }) } }],
    ['an enum with a value twice', { fields: { f: field({ type: 'enum', enum: ['a', 'a'] }) } }],
    ['words for no value', { fields: { f: field({ type: 'enum', enum: ['a', 'b'], words: { c: ['d'] } }) } }],
    ['a pattern that is no RE2', { fields: { f: field({ pattern: '(?=a)' }) } }],
    ['a pattern on a number', { fields: { f: field({ type: 'number', pattern: 'a' }) } }],
    ['a length on a number', { fields: { f: field({ type: 'number', max_length: 3 }) } }],
    ['a minimum on text', { fields: { f: field({ min: 1 }) } }],
    ['a minimum above the maximum', { fields: { f: field({ type: 'number', min: 2, max: 1 }) } }],
    ['a token without a pattern', { fields: { f: field({ extract: 'token' }) } }],
    ['a date found as text', { fields: { f: field({ type: 'date', extract: 'email' }) } }],
    ['text found as a number', { fields: { f: field({ extract: 'number' }) } }],
    ['text found as a date', { fields: { f: field({ extract: 'date' }) } }],
    ['text found as an enum', { fields: { f: field({ extract: 'enum' }) } }],
    ['a field called simulation_id', { fields: { simulation_id: field() } }],
    ['a timeout of two hours', { timeout_ms: 7_200_000 }],
  ])('with %s is refused', async (_, given) => {
    await expectRefusal('SIMULATION_INVALID', () => parse(given));
  });

  it('that is wrong is refused with its file and line', async () => {
    const text = stringify(shape('a')).replace('risk: LOW', 'risk: NONE');
    const refusal = await expectRefusal('SIMULATION_INVALID', () => parseSimulation('a.yaml', text));
    expect(refusal.facts).toMatchObject({
      file: 'a.yaml',
      line: text.split('risk')[0]!.split('\n').length,
    });
  });

  it('that is not plain YAML is refused', async () => {
    await expectRefusal('SIMULATION_INVALID', () => parseSimulation('a.yaml', 'id: &a x\nfamily: *a\n'));
  });

  it.each(['impactful', 'side_effecting', 'irreversible'])('that is %s needs a confirmation', (flag) => {
    expect(needsConfirmation(simulation('a', { [flag]: true, rollback_plan_ref: 'b' }))).toBe(true);
    expect(needsConfirmation(simulation('a'))).toBe(false);
  });
});

describe('a catalog', () => {
  const files = ['b', 'a'].map((id) => ({ name: `${id}.yaml`, text: stringify(shape(id)) }));

  it('is in the order of the ids, and what has no status is a Draft', () => {
    const { simulations } = parseCatalog(files, new Map([['b', 'Active']]));
    expect(simulations.map(({ simulation, status }) => [simulation.id, status])).toEqual([
      ['a', 'Draft'],
      ['b', 'Active'],
    ]);
  });

  it('has the same digest whatever the order of its files', () => {
    expect(parseCatalog(files, new Map()).digest).toBe(parseCatalog(files.toReversed(), new Map()).digest);
  });

  it('has another digest when a status or a definition changes', () => {
    const before = catalog([simulation('a')]).digest;
    expect(catalog([simulation('a')], { a: 'Disabled' }).digest).not.toBe(before);
    expect(catalog([simulation('a', { priority: 51 })]).digest).not.toBe(before);
  });

  it('with one id twice is refused', async () => {
    await expectRefusal('SIMULATION_INVALID', () => catalog([simulation('a'), simulation('a')]));
  });

  const chain = (steps: unknown) => simulation('chain', { effect: undefined, steps });
  const target = simulation('target', { fields: { f: field() } });

  it('takes a chain whose steps get all their fields', () => {
    expect(catalog([target, chain([{ simulation: 'target', fields: { f: 'x' } }])]).simulations).toHaveLength(
      2,
    );
  });

  it.each([
    ['is not in the catalog', [{ simulation: 'nowhere' }]],
    ['lacks a field', [{ simulation: 'target' }]],
    ['gets a field it does not have', [{ simulation: 'target', fields: { f: 'x', g: 'y' } }]],
    ['is a chain itself', [{ simulation: 'chain' }]],
  ])('with a step that %s is refused', async (_, steps) => {
    await expectRefusal('SIMULATION_INVALID', () => catalog([target, chain(steps)]));
  });

  it('of the shipped corpus has about forty simulations in ten languages', () => {
    const { simulations } = corpusCatalog();
    expect(simulations.length).toBeGreaterThanOrEqual(40);
    for (const { simulation } of simulations) expect(Object.keys(simulation.summary)).toHaveLength(10);
  });
});
