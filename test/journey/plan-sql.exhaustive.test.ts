import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runSql } from '../../src/effect/sql/run.ts';
import { drawn } from '../display/drawn.ts';
import { picture, text } from '../plan/engine/story.ts';
import { type Project, ready, writeMark, writeRegistry } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { freshFolder } from '../support/scratch.ts';
import {
  create,
  expectProvable,
  planOf,
  planProjects,
  proposed,
  ran,
  reportsOf,
  run,
  runnable,
  statusOf,
  undo,
  when,
} from './plan-story.ts';

const planProject = planProjects();

const DB = 'data/shop.duckdb';

const sql = (action_id: string, operation: object, target = DB) => ({
  action_id,
  action_type: 'SQL_EXECUTE',
  target,
  operation: { type: 'sql_execute', ...operation },
});

const total = async ({ root }: Project) => {
  const query = 'SELECT sum(price)::INTEGER FROM goods';
  const { rows } = await runSql({ root, database: DB, text: query, expect_results: true });
  return (rows as number[][])[0]![0];
};

const TABLE =
  'CREATE TABLE goods (id INTEGER, price INTEGER); INSERT INTO goods VALUES (1, 10), (2, 20), (3, 30)';
let database: Buffer;
beforeAll(async () => {
  const root = freshFolder('keyturn-shop-');
  await runSql({ root, database: 'shop.duckdb', text: TABLE, expect_results: false });
  database = readFileSync(join(root, 'shop.duckdb'));
  rmSync(root, { recursive: true });
});

/** A project with a real database of three rows. */
async function shop(registry?: string): Promise<Project> {
  const p = await planProject({ 'data/keep': '' }, registry);
  writeFileSync(join(p.root, DB), database);
  return p;
}

describe('SQL in a plan, on a real DuckDB file', () => {
  it('is shown by kind, changes the database, saves its result, and is undone to the byte', async () => {
    const p = await shop();
    const before = picture(p.root);
    const plan = planOf([
      sql('raise', { query: 'UPDATE goods SET price = price * $factor', parameters: { factor: 2 } }),
      sql('list', {
        query: 'SELECT * FROM goods ORDER BY id',
        expect_results: true,
        save_results_to: 'out/goods.csv',
      }),
    ]);
    const intent = await proposed(p, plan);
    const { shown, effect } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    expect(drawn(shown)).toMatch(/^ {2}Statements: UPDATE$/m);
    expect(drawn(shown)).toContain('parameters = {"factor":2}');
    expect(effect).toMatchObject({ actions: [{ undo: 'exact' }, { undo: 'exact' }] });
    await ready(p, intent);
    const report = await run(p, intent);
    expect(report.result).toBe('success');
    expect(await total(p)).toBe(120);
    expect(text(p.root, 'out/goods.csv')).toContain('3,60');
    await undo(p, report);
    expect(picture(p.root)).toEqual(before);
    expect(readFileSync(join(p.root, DB)).equals(database)).toBe(true);
    await expectProvable(p);
  });

  it('that fails leaves every byte as it was', async () => {
    const p = await shop();
    const before = picture(p.root);
    const plan = planOf([
      create('1', 'n'),
      sql('2', { query: 'UPDATE goods SET price = 0; INSERT INTO nowhere VALUES (1)' }),
    ]);
    const { report, ...intent } = await ran(p, plan);
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'SQL_STATEMENT_FAILED' });
    expect(picture(p.root)).toEqual(before);
    expect(await statusOf(p, intent)).toBe('rolled_back');
  });

  it('is refused when the database changed after the approval', async () => {
    const p = await shop();
    const intent = await runnable(p, planOf([sql('1', { query: 'DELETE FROM goods' })]));
    appendFileSync(join(p.root, DB), 'x');
    const found = picture(p.root);
    await expectRefusal('PLAN_DRIFT', () => run(p, intent));
    expect(picture(p.root)).toEqual(found);
  });

  it('is refused when the query file changed after the approval', async () => {
    const p = await shop();
    writeFileSync(join(p.root, 'q.sql'), 'DELETE FROM goods WHERE id = 1');
    const intent = await runnable(p, planOf([sql('1', { query_file: 'q.sql' })]));
    writeFileSync(join(p.root, 'q.sql'), 'DELETE FROM goods');
    await expectRefusal('PLAN_DRIFT', () => run(p, intent));
    expect(readFileSync(join(p.root, DB)).equals(database)).toBe(true);
  });

  it.each([
    "COPY goods TO '/tmp/out.csv'",
    "ATTACH 'x.db'",
    'INSTALL httpfs',
    "SELECT * FROM 'http://x/y.csv'",
  ])(
    '%s reaches nothing: it is refused before anybody approves it, or fails and is rolled back',
    async (query) => {
      const p = await shop();
      const before = picture(p.root);
      const plan = planOf([sql('1', { query })]);
      const proposal = await proposed(p, plan).catch((error: unknown) => error);
      if (proposal instanceof Error) expect(proposal).toMatchObject({ code: 'SQL_STATEMENT_FORBIDDEN' });
      else {
        const { report } = await ran(p, plan);
        expect(report).toMatchObject({ result: 'rolled_back' });
      }
      expect(picture(p.root)).toEqual(before);
    },
  );
});

const PIPELINES = `version: 1
tools:
  - name: mark
    summary: Appends a line to a file.
    executable: ./mark.sh
    args: ["{file}"]
    parameters: { file: { type: path } }
    sandbox: none
    undo: none
  - name: fail
    summary: Fails.
    executable: /usr/bin/false
    sandbox: none
    undo: none
pipelines:
  - name: nightly
    summary: Leaves a mark and raises the prices.
    steps:
      - tool: mark
        arguments: { file: marks }
      - sql: raise.sql
        database: ${DB}
  - name: broken
    summary: Leaves a mark and fails.
    steps:
      - tool: mark
        arguments: { file: marks }
      - tool: fail
      - tool: mark
        arguments: { file: never }
`;

describe('a registered pipeline in a plan', () => {
  const pipeline = (name: string, more: object = {}) => ({
    action_id: 'p',
    action_type: 'PIPELINE_RUN',
    target: name,
    operation: { type: 'pipeline_run', pipeline: name, ...more },
  });
  const marks = ({ root }: Project) => (existsSync(join(root, 'marks')) ? text(root, 'marks') : '');

  async function plant(): Promise<Project> {
    const p = await shop(PIPELINES);
    writeMark(p.root);
    writeFileSync(join(p.root, 'raise.sql'), 'UPDATE goods SET price = price + 1');
    return p;
  }

  it('runs its tool and its SQL, as they were shown, once', async () => {
    const p = await plant();
    const intent = await proposed(p, planOf([pipeline('nightly')]));
    const { shown, effect } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    const text = drawn(shown);
    expect(text).toContain('PIPELINE_RUN nightly (p)');
    expect(text).toMatch(/^Undo: +NOT FOR p$/m);
    expect(text).toMatch(/^ {4}Runs: .*mark\.sh marks$/m);
    expect(text).toContain('    │ UPDATE goods SET price = price + 1\n');
    expect(effect).toMatchObject({ actions: [{ steps: [{ kind: 'tool' }, { kind: 'sql' }] }] });
    await ready(p, intent);
    const report = await run(p, intent);
    expect(reportsOf(p, report).execution_report.actions_completed).toMatchObject([
      { action_id: 'p', output: "Pipeline 'nightly' completed, steps: 2" },
    ]);
    expect(marks(p)).toBe('ran\n');
    expect(await total(p)).toBe(63);
    await expectRefusal('ALREADY_EXECUTED', () => run(p, intent));
    await expectProvable(p);
  });

  it('a rollback says that it cannot be undone, and undoes the rest', async () => {
    const p = await plant();
    const { report } = await ran(p, planOf([create('1', 'n'), pipeline('nightly')]));
    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back', not_undone: ['p'] });
    expect(existsSync(join(p.root, 'n'))).toBe(false);
    expect(marks(p)).toBe('ran\n');
  });

  it('that fails stops at its step, and the run is only partly undone', async () => {
    const p = await plant();
    const { report, ...intent } = await ran(p, planOf([create('1', 'n'), pipeline('broken')]));
    expect(report).toMatchObject({ result: 'partial', reason_code: 'PIPELINE_FAILED' });
    expect(reportsOf(p, report).execution_report).toMatchObject({
      status: 'PARTIAL',
      actions_failed: [{ action_id: 'p', error_message: expect.stringContaining('Step 2 of broken failed') }],
    });
    expect(existsSync(join(p.root, 'n'))).toBe(false);
    expect(existsSync(join(p.root, 'never'))).toBe(false);
    expect(marks(p)).toBe('ran\n');
    expect(await statusOf(p, intent)).toBe('partial');
    await expectRefusal('RUN_PARTIAL', () => run(p, intent));
    await expectProvable(p);
  });

  it('that fails or is cancelled alone is half done, and is not simply tried again', async () => {
    const p = await plant();
    const failed = await ran(p, planOf([pipeline('broken')]));
    expect(failed.report).toMatchObject({ result: 'partial', reason_code: 'PIPELINE_FAILED' });
    await expectRefusal('RUN_PARTIAL', () =>
      p.keyturn.runs.retry({ intent_id: failed.intent_id, reason: 'again', signer: p.ada }),
    );
  });

  it.each<[string, (root: string) => void]>([
    ['a tool of it', (root) => appendFileSync(join(root, 'mark.sh'), '# harmless?\n')],
    ['an argument of it', (root) => writeRegistry(root, PIPELINES.replace('file: marks', 'file: others'))],
    ['its SQL', (root) => writeFileSync(join(root, 'raise.sql'), 'DELETE FROM goods')],
    [
      'its list of steps',
      (root) => writeRegistry(root, PIPELINES.replace(/\n {6}- sql: raise.*\n.*\n/, '\n')),
    ],
  ])('is refused when %s changed after the approval, and no step runs', async (_, change) => {
    const p = await plant();
    const intent = await runnable(p, planOf([pipeline('nightly')]));
    change(p.root);
    await expectRefusal('EFFECT_CHANGED', () => run(p, intent));
    expect(marks(p)).toBe('');
    expect(readFileSync(join(p.root, DB)).equals(database)).toBe(true);
  });

  it('is refused when a step changes after the claim', async () => {
    const p = await plant();
    const change = () => writeFileSync(join(p.root, 'raise.sql'), 'DELETE FROM goods');
    const { report } = await ran(p, planOf([pipeline('nightly')]), when('p', change));
    expect(report).toMatchObject({ reason_code: 'EFFECT_CHANGED' });
    expect(marks(p)).toBe('');
  });

  it('must be in the registry, takes no arguments, and its registry must be locked', async () => {
    const p = await plant();
    await expectRefusal('TOOL_UNKNOWN', () => proposed(p, planOf([pipeline('weekly')])));
    await expectRefusal('ARGUMENT_UNKNOWN', () =>
      proposed(p, planOf([pipeline('nightly', { arguments: { day: 'monday' } })])),
    );
    chmodSync(join(p.root, 'tools.yaml'), 0o644);
    await expectRefusal('REGISTRY_WRITABLE', () => proposed(p, planOf([pipeline('nightly')])));
  });
});
