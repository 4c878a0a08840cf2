import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlanEffect } from '../../src/plan/model.ts';
import { areApart, touchedBy, touchedByUndo } from '../../src/plan/touched.ts';
import { create, planOf, planProjects, remove, rename, replace, specOf } from '../journey/plan-story.ts';

const planProject = planProjects();

const tool = (name: string, sandbox: string) => `
  - { name: ${name}, summary: Does., executable: /usr/bin/true, sandbox: ${sandbox}, undo: none }`;
const REGISTRY = `version: 1
tools:${tool('boxed', '{ network: false, read: [in], write: [out] }')}${tool('free', 'none')}
pipelines:
  - { name: boxed, summary: One step., steps: [{ tool: boxed }] }
  - { name: free, summary: One step., steps: [{ tool: boxed }, { tool: free }] }
  - { name: sql, summary: One step., steps: [{ sql: load.sql, database: facts.duckdb }] }
`;

const sql = (target: string, more: object = {}) => ({
  action_id: 's',
  action_type: 'SQL_EXECUTE',
  target,
  operation: { type: 'sql_execute', query: 'SELECT 1', ...more },
});
const pipeline = (target: string) => ({
  action_id: 'p',
  action_type: 'PIPELINE_RUN',
  target,
  operation: { type: 'pipeline_run', pipeline: target },
  reversible: false,
});

/** A project in which plans are proposed, and not run. */
async function effects(): Promise<{
  readonly root: string;
  effectOf(...actions: object[]): Promise<PlanEffect>;
}> {
  const files = {
    a: 'x',
    b: 'x',
    A: 'x',
    'in/a': 'x',
    'out/a': 'x',
    'load.sql': 'SELECT 1;',
    'q.sql': 'SELECT 1',
  };
  const p = await planProject(files, REGISTRY);
  mkdirSync(join(p.root, 'ro'));
  chmodSync(join(p.root, 'out'), 0o777); // a tool runs as `nobody` where Keyturn is root
  return {
    root: p.root,
    effectOf: async (...actions) => {
      const validation = actions.flatMap((one) => ('expects' in one ? [one.expects] : []));
      const plan = actions.filter((one) => !('expects' in one));
      const more = validation.length > 0 ? { validation } : {};
      const spec = await specOf(p, planOf(plan, {}, more));
      const effect = { kind: 'plan' as const, ...spec };
      const { intent_id } = await p.keyturn.intents.propose({ declared_goal: 'Change files', effect });
      return (await p.keyturn.intents.review({ intent_id })).effect as PlanEffect;
    },
  };
}

const SHARED: readonly (readonly [words: string, one: object, other: object])[] = [
  ['write the same file', replace('1', 'a', 'x', 'y'), remove('1', 'a')],
  ['write a file whose name differs only in case', replace('1', 'a', 'x', 'y'), replace('1', 'A', 'x', 'y')],
  ['move a file away and change it', rename('1', 'a', 'c'), replace('1', 'a', 'x', 'y')],
  ['move a file to where another one is made', rename('1', 'a', 'c'), create('1', 'c')],
  ['make the same folder', create('1', 'new/a'), create('1', 'new/b')],
  ['make a folder beneath one that is made', create('1', 'new/a'), create('1', 'new/deep/b')],
  ['write a database', sql('d.duckdb'), sql('d.duckdb')],
  ['write a database and the log of it', sql('d.duckdb'), create('1', 'd.duckdb.wal')],
  ['write a result and that file', sql('d.duckdb', { save_results_to: 'r.csv' }), create('1', 'r.csv')],
  ['read a folder and write beneath it', sql('d.duckdb', { readable: ['ro'] }), create('1', 'ro/n')],
  [
    'read an SQL file and write it',
    sql('d.duckdb', { query: undefined, query_file: 'q.sql' }),
    remove('1', 'q.sql'),
  ],
  ['write beneath what a sandboxed step writes', pipeline('boxed'), create('1', 'out/n')],
  ['write beneath what a sandboxed step reads', pipeline('boxed'), create('1', 'in/n')],
  ['write the database of an SQL step', pipeline('sql'), sql('facts.duckdb')],
  ['write the file of an SQL step', pipeline('sql'), remove('1', 'load.sql')],
  ['are a step without a sandbox and anything', pipeline('free'), create('1', 'n')],
  ['are two steps without a sandbox', pipeline('free'), pipeline('free')],
];

const APART: typeof SHARED = [
  ['write different files', replace('1', 'a', 'x', 'y'), replace('1', 'b', 'x', 'y')],
  ['write files whose names begin alike', create('1', 'data'), create('1', 'data2')],
  ['make different folders', create('1', 'n1/a'), create('1', 'n2/a')],
  ['write different databases', sql('d.duckdb'), sql('e.duckdb')],
  ['read the same folder', sql('d.duckdb', { readable: ['ro'] }), sql('e.duckdb', { readable: ['ro'] })],
  ['read the same in a sandbox', sql('d.duckdb', { readable: ['in'] }), pipeline('sql')],
  ['write beside what a sandboxed step touches', pipeline('boxed'), create('1', 'n')],
];

describe('two plans', () => {
  it('share a path where one writes what the other one touches, and are apart otherwise', async () => {
    const { root, effectOf } = await effects();
    for (const [pairs, apart] of [
      [SHARED, false],
      [APART, true],
    ] as const)
      for (const [words, one, other] of pairs) {
        const [a, b] = [touchedBy(await effectOf(one), root), touchedBy(await effectOf(other), root)];
        expect([areApart(a, b), areApart(b, a)], `they ${words}`).toEqual([apart, apart]);
      }
  });

  it('share what one of them is validated by', async () => {
    const { root, effectOf } = await effects();
    const checked = await effectOf(create('1', 'n'), { expects: { type: 'file_exists', path: 'b' } });
    const touched = touchedBy(checked, root);
    expect(areApart(touched, touchedBy(await effectOf(remove('1', 'b')), root))).toBe(false);
  });

  it('are apart where one takes back a plan whose pipeline is not run again', async () => {
    const { root, effectOf } = await effects();
    const effect = await effectOf(create('1', 'n'), pipeline('free'));
    const other = touchedBy(await effectOf(create('1', 'm')), root);
    expect(areApart(touchedBy(effect, root), other)).toBe(false);
    expect(areApart(touchedByUndo(effect, root), other)).toBe(true);
  });
});
