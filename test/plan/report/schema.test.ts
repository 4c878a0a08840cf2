import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { inputJsonSchemas } from '../../../src/plan/input/json-schema.ts';
import { parsePlan } from '../../../src/plan/input/parse.ts';
import { reportJsonSchemas } from '../../../src/plan/report/json-schema.ts';
import { EXAMPLE } from '../input/plan.ts';
import { create, projectWith, ran, readJson, remove, rename, replace } from './scene.ts';

const folder = join(import.meta.dirname, '../../../schemas');
const published = { ...inputJsonSchemas(), ...reportJsonSchemas() };

function validatorOf(name: string) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(JSON.parse(readFileSync(join(folder, name), 'utf8')));
  return (value: unknown) => (validate(value) ? [] : (validate.errors ?? []));
}

describe('the published schemas', () => {
  it.each(Object.keys(published))(
    'schemas/%s is what the code says; run node scripts/schemas.mjs otherwise',
    (name) => {
      expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toEqual(
        JSON.parse(JSON.stringify(published[name])),
      );
    },
  );

  it('a plan has the schema of a plan, with parameters inline or under details', () => {
    const errorsOf = validatorOf('plan-task.json');
    const inline = JSON.parse(EXAMPLE);
    const { type, ...details } = inline.action_plan[0].operation;
    const nested = { ...inline, action_plan: [{ ...inline.action_plan[0], operation: { type, details } }] };
    const both = {
      ...inline,
      action_plan: [{ ...inline.action_plan[0], operation: { type, details, ...details } }],
    };
    for (const [plan, accepted] of [
      [inline, true],
      [nested, true],
      [both, false],
      [{ ...inline, extra: 1 }, false],
      [{ ...inline, plan_id: '../x' }, false],
      [{ ...inline, action_plan: [] }, false],
    ] as const) {
      expect(errorsOf(plan).length === 0).toBe(accepted);
      expect('plan' in parsePlan(JSON.stringify(plan))).toBe(accepted);
    }
  });

  it('what a run writes has the published schemas, whether it succeeds or is rolled back', async () => {
    const files = { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.txt': 'three\n' };
    const good = await ran(projectWith(files), [
      replace('m', 'a.txt', 'one', '1'),
      create('c', 'new/d.txt', 'x\n'),
      remove('d', 'b.txt'),
      rename('r', 'c.txt', 'e.txt'),
    ]);
    const root = projectWith(files);
    const bad = await ran(
      root,
      [replace('m', 'a.txt', 'one', '1'), remove('d', 'b.txt')],
      {},
      onSecond(root),
    );
    expect([good.report.status, bad.report.status]).toEqual(['SUCCESS', 'ROLLED_BACK']);
    for (const { root: project, folder: reports, report } of [good, bad]) {
      const errorsIn = (schema: string, file: string) =>
        validatorOf(schema)(readJson(project, `${reports}/${file}`));
      expect(errorsIn('plan-execution-report.json', 'execution_report.json')).toEqual([]);
      expect(errorsIn('plan-change-log.json', 'change_log.json')).toEqual([]);
      expect(errorsIn('plan-rollback-manifest.json', 'rollback_manifest.json')).toEqual([]);
      for (const error of report.errors) expect(validatorOf('plan-error.json')(error)).toEqual([]);
    }
    expect(bad.report.errors).toHaveLength(1);
  });

  it('a report that is changed no longer has its schema', async () => {
    const { report } = await ran(projectWith({}), [create('c', 'a.txt', 'x')]);
    const errorsOf = validatorOf('plan-execution-report.json');
    expect(errorsOf(report)).toEqual([]);
    expect(errorsOf({ ...report, status: 'DONE' })).not.toEqual([]);
    expect(errorsOf({ ...report, rollback_performed: undefined })).not.toEqual([]);
  });
});

/** Another process removes the second file when the second action begins. */
function onSecond(root: string): () => void {
  let actions = 0;
  return () => {
    actions += 1;
    if (actions === 2) rmSync(join(root, 'b.txt'));
  };
}
