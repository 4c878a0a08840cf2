import { describe, expect, it } from 'vitest';
import { requirePlan } from '../../../src/plan/input/parse.ts';
import type { ReasonCode } from '../../../src/refusal.ts';
import { expectRefusal } from '../../support/refusal.ts';
import { action, CREATE, expectOnly, planOf, problemsOf } from './plan.ts';

describe('a plan with problems', () => {
  it('all of them are told, each with its pointer and its place in the file', () => {
    const text = [
      '{ "plan_id": "../up",',
      '  "surprise": 1,',
      '  "action_plan": [',
      '    { "action_id": "a", "action_type": "FILE_DELETE", "target": "../x", "operation": {"type": "delete"} },',
      '    { "action_id": "a", "action_type": "FILE_CREATE", "target": "b", "operation": {"type": "create"} },',
      '    { "action_id": "c", "action_type": "NOPE", "target": "c", "operation": {"type": "x"}, "depends_on": ["z"] }',
      '  ] }',
    ].join('\n');
    expect(problemsOf(text).map(({ code, pointer, line, column }) => [code, pointer, line, column])).toEqual([
      ['SHAPE_INVALID', '/plan_id', 1, 14],
      ['SHAPE_INVALID', '/surprise', 2, 3],
      ['PATH_ESCAPES', '/action_plan/0/target', 4, 65],
      ['PLAN_ACTION_DUPLICATE', '/action_plan/1/action_id', 5, 20],
      ['SHAPE_INVALID', '/action_plan/1/operation/content', 5, 83],
      ['SHAPE_INVALID', '/action_plan/2/action_type', 6, 40],
      ['PLAN_DEPENDENCIES_CYCLIC', '/action_plan/2/depends_on/0', 6, 106],
    ]);
  });

  it('whoever needs a plan gets the first problem as a refusal', async () => {
    const refusal = await expectRefusal('PATH_ESCAPES', () =>
      requirePlan(JSON.stringify(planOf(action({ target: '/x' })))),
    );
    expect(refusal.facts).toMatchObject({ pointer: '/action_plan/0/target', problems: 1 });
  });

  it.each<[string, object, ReasonCode, string]>([
    ['an unknown key of an action', { extra: 1 }, 'SHAPE_INVALID', '/extra'],
    [
      'an unknown parameter',
      { operation: { ...CREATE, owner: 'root' } },
      'SHAPE_INVALID',
      '/operation/owner',
    ],
    [
      'an unknown operation',
      { operation: { type: 'shell', content: 'x' } },
      'SHAPE_INVALID',
      '/operation/type',
    ],
    ['a mode as a number', { operation: { ...CREATE, mode: 644 } }, 'SHAPE_INVALID', '/operation/mode'],
    [
      'a mode with a set-user bit',
      { operation: { ...CREATE, mode: '4755' } },
      'SHAPE_INVALID',
      '/operation/mode',
    ],
    [
      'base64 that is none',
      { operation: { ...CREATE, encoding: 'base64', content: 'a' } },
      'SHAPE_INVALID',
      '/operation/content',
    ],
    ['an id with a slash', { action_id: 'a/b' }, 'SHAPE_INVALID', '/action_id'],
    [
      'a UUID in upper case',
      { action_id: '123E4567-E89B-12D3-A456-426614174000' },
      'SHAPE_INVALID',
      '/action_id',
    ],
    ['an unknown risk', { risk_level: 'NONE' }, 'SHAPE_INVALID', '/risk_level'],
    ['a timeout above the maximum', { timeout_ms: 120_001 }, 'PLAN_LIMIT_EXCEEDED', '/timeout_ms'],
    ['a timeout of nothing', { timeout_ms: 0 }, 'SHAPE_INVALID', '/timeout_ms'],
    ['a target that escapes', { target: 'a/../../b' }, 'PATH_ESCAPES', '/target'],
    ['a target that misleads', { target: 'a\u202eb' }, 'PLAN_PATH_UNCLEAR', '/target'],
    ['a target of Keyturn itself', { target: '.keyturn/store.db' }, 'PLAN_PATH_OWN', '/target'],
    ['a twin of such a target', { target: 'Policies/x' }, 'PLAN_PATH_OWN', '/target'],
    ['an action that waits for itself', { depends_on: ['a1'] }, 'PLAN_DEPENDENCIES_CYCLIC', '/depends_on/0'],
    [
      'an action that waits for nobody',
      { depends_on: ['nobody'] },
      'PLAN_DEPENDENCIES_CYCLIC',
      '/depends_on/0',
    ],
  ])('%s is refused at its place', (_what, more, code, pointer) => {
    expectOnly(code, `/action_plan/0${pointer}`, planOf(action(more)));
  });

  it.each<[string, string, object, ReasonCode, string]>([
    [
      'a rename to Keyturn itself',
      'FILE_RENAME',
      { type: 'rename', new_path: 'keyturn.yaml' },
      'PLAN_PATH_OWN',
      '/new_path',
    ],
    [
      'a rename that escapes',
      'FILE_RENAME',
      { type: 'rename', details: { new_path: '../b' } },
      'PATH_ESCAPES',
      '/details/new_path',
    ],
    [
      'a rename to two places',
      'FILE_RENAME',
      { type: 'rename', new_path: 'b', destination: 'c' },
      'SHAPE_INVALID',
      '',
    ],
    ['a rename to nowhere', 'FILE_RENAME', { type: 'rename' }, 'SHAPE_INVALID', ''],
    [
      'SQL from two places',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', query_file: 'q' },
      'SHAPE_INVALID',
      '',
    ],
    ['SQL from nowhere', 'SQL_EXECUTE', { type: 'sql_execute' }, 'SHAPE_INVALID', ''],
    [
      'SQL over another database',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', database: 'b.db' },
      'SHAPE_INVALID',
      '',
    ],
    [
      'SQL that reads the keys',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', readable: ['.keyturn/keys'] },
      'PLAN_PATH_OWN',
      '/readable/0',
    ],
    [
      'SQL that reads secrets',
      'SQL_EXECUTE',
      { type: 'sql_execute', query_file: '.env' },
      'PLAN_PATH_FORBIDDEN',
      '/query_file',
    ],
    [
      'results that escape',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', save_results_to: '/tmp/x.csv' },
      'PATH_ESCAPES',
      '/save_results_to',
    ],
    [
      'results in an unknown format',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', save_results_to: 'x.sh' },
      'SHAPE_INVALID',
      '/save_results_to',
    ],
    [
      'another connection',
      'SQL_EXECUTE',
      { type: 'sql_execute', query: 'x', connection: 'postgres' },
      'SHAPE_INVALID',
      '/connection',
    ],
    [
      'a text edit of a schema',
      'SCHEMA_UPDATE',
      { type: 'text_replace', pattern: 'a', replacement: 'b' },
      'SHAPE_INVALID',
      '/type',
    ],
    [
      'parameters in both places',
      'FILE_CREATE',
      { type: 'create', content: 'x', details: {} },
      'SHAPE_INVALID',
      '/content',
    ],
    [
      'a type under details',
      'FILE_CREATE',
      { type: 'create', details: { type: 'x', content: 'x' } },
      'SHAPE_INVALID',
      '/details/type',
    ],
    [
      'a pipeline by path',
      'PIPELINE_RUN',
      { type: 'run', pipeline: '../evil' },
      'SHAPE_INVALID',
      '/pipeline',
    ],
    [
      'a pipeline that is not the target',
      'PIPELINE_RUN',
      { type: 'run', pipeline: 'harmless' },
      'SHAPE_INVALID',
      '',
    ],
  ])('%s is refused where it stands', (_what, action_type, operation, code, pointer) => {
    expectOnly(code, `/action_plan/0/operation${pointer}`, planOf(action({ action_type, operation })));
  });

  it('a pipeline that claims to be reversible is refused', () => {
    const pipeline = {
      action_type: 'PIPELINE_RUN',
      target: 'p',
      operation: { type: 'run', pipeline: 'p' },
      reversible: true,
    };
    expectOnly('PLAN_FALSE_CLAIM', '/action_plan/0/reversible', planOf(action(pipeline)));
  });

  it('a circle is named, and a second circle too', () => {
    const node = (id: string, ...depends_on: string[]) =>
      action({ action_id: id, target: `${id}.txt`, depends_on });
    const problems = problemsOf(
      planOf(node('a', 'c'), node('b', 'a'), node('c', 'b'), node('d', 'e'), node('e', 'd'), node('f', 'a')),
    );
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['PLAN_DEPENDENCIES_CYCLIC', 'The actions wait for each other: a → c → b → a.'],
      ['PLAN_DEPENDENCIES_CYCLIC', 'The actions wait for each other: d → e → d.'],
    ]);
  });

  it('two spellings of one path are refused, unless a rename changes the spelling', () => {
    const twin = action({ action_id: 'a2', target: 'A.TXT' });
    expectOnly('PLAN_PATH_TWIN', '/action_plan/1', planOf(action(), twin));
    const rename = action({
      action_type: 'FILE_RENAME',
      target: 'readme',
      operation: { type: 'rename', new_path: 'README' },
    });
    expect(problemsOf(planOf(rename))).toEqual([]);
  });

  it('more files than a plan may change are refused', () => {
    const many = Array.from({ length: 101 }, (_, i) => action({ action_id: `a${i}`, target: `f${i}` }));
    expectOnly('PLAN_LIMIT_EXCEEDED', '/action_plan', planOf(...many));
    expect(problemsOf(planOf(...many.slice(1)))).toEqual([]);
    // Before anything is said about a single one of them.
    expectOnly(
      'PLAN_LIMIT_EXCEEDED',
      '/action_plan',
      planOf(...many.map((one) => ({ ...one, target: `${one.target}/..` }))),
    );
    expectOnly('SHAPE_INVALID', '/action_plan', planOf(...Array(1001).fill(action({ target: '../x' }))));
  });

  it('a plan that would take too long is refused', () => {
    const plan = { ...planOf(action()), execution_instructions: { timeout_ms: 3_600_001 } };
    expectOnly('PLAN_LIMIT_EXCEEDED', '/execution_instructions/timeout_ms', plan);
  });

  it('a rule must not ask about what no plan may read', () => {
    const rule = (path: string) => ({
      ...planOf(action()),
      validation: [{ type: 'contains', path, text: 'a' }],
    });
    expectOnly('PLAN_PATH_OWN', '/validation/0/path', rule('.keyturn/keys/ledger.seed'));
    expectOnly('PATH_ESCAPES', '/validation/0/path', rule('/etc/shadow'));
    expectOnly('PLAN_PATH_FORBIDDEN', '/validation/0/path', rule('.env'));
  });

  it('a plan without actions is refused', () => {
    expectOnly('SHAPE_INVALID', '/action_plan', planOf());
    expectOnly('SHAPE_INVALID', '/action_plan', { plan_id: 'p' });
    expectOnly('SHAPE_INVALID', '', [1]);
    expectOnly('SHAPE_INVALID', '', 'null');
  });
});
