import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { changeLogSchema, executionReportSchema } from '../../src/plan/report/schema.ts';
import { parseManifest } from '../../src/plan/rollback/manifest.ts';
import { drawn } from '../display/drawn.ts';
import { picture, text } from '../plan/engine/story.ts';
import { EXAMPLE } from '../plan/input/plan.ts';
import { entriesAbout, newestOf, objectOf } from '../support/ledger.ts';
import { granted, project, ready, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import {
  create,
  expectProvable,
  kindsOf,
  planOf,
  planProjects,
  proposed,
  ran,
  remove,
  rename,
  replace,
  reportsOf,
  run,
  runnable,
  statusOf,
  undo,
  when,
} from './plan-story.ts';

const planProject = planProjects();

const SCHEMA = '{\n  "properties": {\n    "old": {"type": "string"}\n  }\n}\n';
const EXAMPLE_FILE = 'esquemas/esquema_bd.json';
const NAMES = ['execution_report', 'change_log', 'rollback_manifest'] as const;

describe('a plan on the whole road', () => {
  it('is proposed, shown as a diff, approved, run, reported, and taken back', async () => {
    const p = await planProject({ [EXAMPLE_FILE]: SCHEMA, bystander: 'b' });
    const before = picture(p.root);
    const intent = await proposed(p, EXAMPLE);
    const { shown, effect } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    expect(drawn(shown)).toContain(`--- a/${EXAMPLE_FILE}`);
    expect(drawn(shown)).toContain('+    "new_field": {');
    expect(effect).toMatchObject({
      kind: 'plan' as const,
      actions: [{ undo: 'exact', changes: [{ path: EXAMPLE_FILE, before: { sha256: sha256(SCHEMA) } }] }],
    });
    expect(picture(p.root), 'a proposal and a look touch nothing').toEqual(before);

    await ready(p, intent);
    const report = await run(p, intent);
    expect(report).toMatchObject({ result: 'success', reason_code: null, tool: 'plan-001' });
    expect(JSON.parse(text(p.root, EXAMPLE_FILE)).properties.new_field).toEqual({ type: 'string' });
    expect(await statusOf(p, intent)).toBe('succeeded');

    expect(await undo(p, report)).toMatchObject({ status: 'rolled_back', instructions: [] });
    expect(picture(p.root)).toEqual(before);
    expect(await statusOf(p, intent)).toBe('undone');
    expect(reportsOf(p, report).rollback_manifest.status).toBe('EXECUTED');
    expect(await kindsOf(p, intent)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.checkpointed',
      'execution.finished',
      'rollback.claimed',
      'rollback.finished',
    ]);
    await expectRefusal('ALREADY_EXECUTED', () => run(p, intent));
    await expectProvable(p);
  });

  it('leaves three records on the disk, and the ledger holds their digests and nothing of the files', async () => {
    const p = await planProject({ a: 'the old secret sauce' });
    const intent = await runnable(p, planOf([replace('1', 'a', 'old', 'new'), create('2', 'in/n')]));
    const report = await run(p, intent);
    expect(report.folder).toMatch(/^agent_outputs\/reports\/\d{8}T\d{9}Z_plan-001$/);
    const finished = (await entriesAbout(p.keyturn, intent.intent_id)).at(-1)!.body as {
      reports: Record<string, string>;
    };
    expect(Object.keys(finished.reports).sort()).toEqual([
      'changes',
      'execution_report',
      'journal',
      'rollback_manifest',
    ]);
    for (const name of ['execution_report', 'rollback_manifest']) {
      const bytes = readFileSync(join(p.root, report.folder!, `${name}.json`));
      expect(finished.reports[name]).toBe(sha256(bytes));
      expect(Buffer.from(await objectOf(p.keyturn, sha256(bytes)))).toEqual(bytes);
    }
    const found = reportsOf(p, report);
    const { report_id, plan_id, execution_id } = executionReportSchema.parse(found.execution_report);
    const log = changeLogSchema.parse(found.change_log);
    const manifest = parseManifest(Buffer.from(JSON.stringify(found.rollback_manifest)));
    expect({ plan_id, execution_id }).toEqual({ plan_id: 'plan-001', execution_id: report.execution_id });
    expect(log).toMatchObject({ execution_report_id: report_id, files_affected_count: 2 });
    expect(manifest).toMatchObject({ status: 'ACTIVE', folders_created: ['in'] });
    expect(readFileSync(join(p.root, manifest.checkpoints[0]!.backup_location!), 'utf8')).toBe(
      'the old secret sauce',
    );
    expect(readFileSync(join(p.root, manifest.auto_rollback_script!), 'utf8')).toContain(
      `keyturn rollback ${report.execution_id}`,
    );
    expect(JSON.stringify(await newestOf(p.keyturn, 100))).not.toContain('sauce');
  });

  it('nothing is reported again of a tool call, and of a run that is not there', async () => {
    const p = await planProject({ a: 'x' });
    const effect = { kind: 'tool' as const, tool: 'say', arguments: { word: 'x' } };
    const tool = await p.keyturn.intents.propose({ declared_goal: 'Say it', effect });
    await ready(p, tool);
    const { execution_id } = await run(p, tool);
    await expectRefusal('REPORTS_NOT_RECORDED', () => p.keyturn.plans.report({ execution_id }));
    await expectRefusal('EXECUTION_NOT_FOUND', () => p.keyturn.plans.report({ execution_id: randomUUID() }));
  });

  it('a success is archived, and everything that a rollback needs stays', async () => {
    const p = await planProject({ a: 'x' });
    const { report } = await ran(p, planOf([replace('1', 'a', 'x', 'y')]));
    const archive = report.folder!.replace('reports', 'archive');
    for (const name of NAMES)
      expect(text(p.root, `${archive}/${name}.json`)).toBe(text(p.root, `${report.folder}/${name}.json`));
    expect((await undo(p, report)).status).toBe('rolled_back');
  });

  it('leaves its story in the log of the executor', async () => {
    const p = await planProject({ a: 'x' });
    const { report } = await ran(p, planOf([replace('1', 'a', 'x', 'y')]));
    const day = report.finished_at.slice(0, 10);
    const lines = text(p.root, `agent_logs/executor/${day}.jsonl`).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'started', execution_id: report.execution_id },
      { event: 'action', action_id: '1', status: 'SUCCESS' },
      { event: 'finished', status: 'SUCCESS' },
    ]);
  });

  it('tells how far it is, action by action', async () => {
    const p = await planProject({ a: 'x' });
    const seen: string[] = [];
    const onProgress = ({ done, of, what }: { done: number; of: number; what: string }) =>
      void seen.push(`${what} ${done}/${of}`);
    await ran(p, planOf([replace('1', 'a', 'x', 'y'), create('2', 'n')]), { onProgress });
    expect(seen).toEqual(['checkpoint 0/2', '1 0/2', '2 1/2', 'validation 0/2', 'done 2/2']);
  });

  it('does its actions in parallel where it says so, and all of them are taken back', async () => {
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, 'x']));
    const p = await planProject(files);
    const before = picture(p.root);
    const actions = Object.keys(files).map((name) => replace(name, name, 'x', `y ${name}`));
    const { report } = await ran(p, planOf(actions, { execution_order: 'parallel' }));
    expect(reportsOf(p, report).execution_report.actions_summary).toEqual({
      total: 12,
      completed: 12,
      failed: 0,
      skipped: 0,
    });
    for (const name of Object.keys(files)) expect(text(p.root, name)).toBe(`y ${name}`);
    await undo(p, report);
    expect(picture(p.root)).toEqual(before);
  });

  it('a dry run checks everything and leaves no trace', async () => {
    const p = await planProject({ a: 'x' });
    const { intent_id, hash } = await runnable(p, planOf([replace('1', 'a', 'x', 'y')]));
    const [before, entries] = [picture(p.root), (await entriesAbout(p.keyturn, intent_id)).length];
    await p.keyturn.runs.preview({ intent_id, hash });
    expect(picture(p.root)).toEqual(before);
    expect(existsSync(join(p.root, 'agent_outputs'))).toBe(false);
    expect(await entriesAbout(p.keyturn, intent_id)).toHaveLength(entries);
  });

  it('many who ask at the same moment get one run', async () => {
    const p = await planProject({ a: 'x' });
    const intent = await runnable(p, planOf([replace('1', 'a', 'x', 'xx')]));
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => run(p, intent)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(text(p.root, 'a')).toBe('xx');
    await expectProvable(p);
  });
});

describe('the two worked examples of 004 section 12', () => {
  it('the first succeeds in the words of the specification', async () => {
    const p = await planProject({ [EXAMPLE_FILE]: SCHEMA });
    const { report } = await ran(p, EXAMPLE);
    expect(reportsOf(p, report).execution_report).toMatchObject({
      plan_id: 'plan-001',
      executor_version: '1.0.0',
      status: 'SUCCESS',
      actions_summary: { total: 1, completed: 1, failed: 0 },
      actions_completed: [
        { action_id: 'a001', status: 'SUCCESS', output: "Property 'new_field' added successfully" },
      ],
      rollback_performed: false,
    });
  });

  it('the second loses its file during the run, and is rolled back', async () => {
    const p = await planProject({ a: 'one', b: 'two' });
    const plan = planOf([
      replace('a001', 'a', 'one', '1'),
      replace('a002', 'b', 'two', '2'),
      create('a003', 'c', 'x', { depends_on: ['a002'] }),
    ]);
    const { report, ...intent } = await ran(
      p,
      plan,
      when('a002', () => rmSync(join(p.root, 'b'))),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'FILE_NOT_FOUND' });
    const { execution_report, rollback_manifest } = reportsOf(p, report);
    expect(execution_report).toMatchObject({
      status: 'ROLLED_BACK',
      actions_summary: { total: 3, completed: 1, failed: 1, skipped: 1 },
      actions_failed: [
        {
          action_id: 'a002',
          error_code: 2001,
          error_message: expect.stringMatching(/^File not found/),
        },
      ],
      actions_skipped: [{ action_id: 'a003' }],
      rollback_performed: true,
      rollback_manifest_id: rollback_manifest.manifest_id,
    });
    expect(text(p.root, 'a')).toBe('one');
    expect(existsSync(join(p.root, 'b')), 'what somebody else removed is not ours to bring back').toBe(false);
    expect(existsSync(join(p.root, 'c'))).toBe(false);
    expect(await statusOf(p, intent)).toBe('rolled_back');
    await expectRefusal('RUN_FAILED', () => run(p, intent));
    await expectProvable(p);
  });

  it('a run that was rolled back may be tried again when a human says so, and then counts', async () => {
    const p = await planProject({ a: 'one', b: 'two' });
    const plan = planOf([replace('1', 'a', 'one', '1'), replace('2', 'b', 'two', '2')]);
    const { report, ...intent } = await ran(
      p,
      plan,
      when('2', () => rmSync(join(p.root, 'b'))),
    );
    expect(report.result).toBe('rolled_back');
    await p.keyturn.runs.retry({ intent_id: intent.intent_id, reason: 'the file is back', signer: p.ada });
    await expectRefusal('ORDER_MISSING', () => run(p, intent));
    await granted(p, intent);
    await expectRefusal('FILE_NOT_FOUND', () => run(p, intent));
    writeFileSync(join(p.root, 'b'), 'two', { mode: 0o640 });
    expect((await run(p, intent)).result).toBe('success');
    expect([text(p.root, 'a'), text(p.root, 'b')]).toEqual(['1', '2']);
    await expectRefusal('ROLLBACK_NOT_DUE', () => undo(p, report));
    await expectProvable(p);
  });
});

describe('a file that is no longer what the approver saw', () => {
  const plan = planOf([
    replace('1', 'a', 'old', 'new'),
    remove('2', 'b'),
    rename('3', 'c', 'd'),
    create('4', 'n'),
  ]);
  const project = () => planProject({ a: 'old text', b: 'bee', c: 'sea' });
  type Drift = (root: string) => void;
  const drifts: [string, Drift, Parameters<typeof expectRefusal>[0]][] = [
    ['was edited', (root) => writeFileSync(join(root, 'a'), 'old text, and more'), 'PLAN_DRIFT'],
    ['has another mode', (root) => chmodSync(join(root, 'a'), 0o600), 'PLAN_DRIFT'],
    ['was edited before it is deleted', (root) => writeFileSync(join(root, 'b'), 'bees'), 'PLAN_DRIFT'],
    ['was edited before it is renamed', (root) => writeFileSync(join(root, 'c'), 'see'), 'PLAN_DRIFT'],
    ['is gone', (root) => rmSync(join(root, 'b')), 'FILE_NOT_FOUND'],
    ['is where one is to be created', (root) => writeFileSync(join(root, 'n'), 'mine'), 'FILE_EXISTS'],
  ];

  it.each(drifts)(
    'refuses the run when it %s after the approval, and touches nothing',
    async (_, drift, code) => {
      const p = await project();
      const intent = await runnable(p, plan);
      drift(p.root);
      const found = picture(p.root);
      await expectRefusal(code, () => run(p, intent));
      expect(picture(p.root)).toEqual(found);
      expect(existsSync(join(p.root, 'agent_outputs'))).toBe(false);
      expect((await entriesAbout(p.keyturn, intent.intent_id)).at(-1)).toMatchObject({
        kind: 'execution.refused',
        body: { reason_code: code },
      });
    },
  );

  it('refuses the run when it changes while the prompt waits', async () => {
    const p = await project();
    const intent = await runnable(p, plan);
    const confirm = async () => {
      writeFileSync(join(p.root, 'a'), 'swapped, old');
      return true;
    };
    await expectRefusal('PLAN_DRIFT', () => run(p, intent, { confirm }));
    expect(text(p.root, 'a')).toBe('swapped, old');
    expect(existsSync(join(p.root, 'b'))).toBe(true);
  });

  it('is told as drift where a folder was made that the plan would have made', async () => {
    const p = await planProject({});
    const intent = await runnable(p, planOf([create('1', 'new/inner/n')]));
    mkdirSync(join(p.root, 'new'));
    const { message } = await expectRefusal('PLAN_DRIFT', () => run(p, intent));
    expect(message).toContain('new was made since the plan was proposed.');
    expect(existsSync(join(p.root, 'new/inner'))).toBe(false);
  });

  it('refuses the approval too, and the diff is not shown', async () => {
    const p = await project();
    const intent = await proposed(p, plan);
    writeFileSync(join(p.root, 'a'), 'old text, and more');
    const { shown } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    expect(drawn(shown)).toMatch(/^!!! THE CHANGES CANNOT BE SHOWN: .*PLAN_DRIFT/m);
    await expectRefusal('PLAN_DRIFT', () => p.keyturn.intents.approve({ ...intent, signer: p.ada }));
    expect(await statusOf(p, intent)).toBe('proposed');
  });

  it('stops the run when it changes after the claim, and stays as somebody else left it', async () => {
    const p = await project();
    const { report, ...intent } = await ran(
      p,
      plan,
      when('2', () => writeFileSync(join(p.root, 'b'), 'theirs')),
    );
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'PLAN_DRIFT' });
    expect([text(p.root, 'a'), text(p.root, 'b')]).toEqual(['old text', 'theirs']);
    expect(await statusOf(p, intent)).toBe('rolled_back');
  });

  it('may be another file of the project: only what the plan touches counts', async () => {
    const p = await project();
    const intent = await runnable(p, plan);
    writeFileSync(join(p.root, 'unrelated'), 'x');
    expect((await run(p, intent)).result).toBe('success');
  });
});

describe('Ctrl-C', () => {
  it('during a plan is CANCELLED: it stops, is rolled back, and is recorded', async () => {
    const p = await planProject({ a: 'x', b: 'y' });
    const before = picture(p.root);
    const interrupt = new AbortController();
    const plan = planOf([replace('1', 'a', 'x', 'z'), replace('2', 'b', 'y', 'z'), create('3', 'n')]);
    const { report, ...intent } = await ran(p, plan, {
      abort: interrupt.signal,
      ...when('2', () => interrupt.abort()),
    });
    expect(report).toMatchObject({ result: 'rolled_back', reason_code: 'PLAN_CANCELLED' });
    expect(reportsOf(p, report).execution_report).toMatchObject({
      status: 'CANCELLED',
      rollback_performed: true,
      actions_summary: { completed: 1 },
    });
    expect(picture(p.root)).toEqual(before);
    expect(await statusOf(p, intent)).toBe('rolled_back');
    await expectProvable(p);
  });

  it('before the first action changes nothing', async () => {
    const p = await planProject({ a: 'x' });
    const before = picture(p.root);
    const { report } = await ran(p, planOf([replace('1', 'a', 'x', 'z')]), { abort: AbortSignal.abort() });
    expect(reportsOf(p, report).execution_report.status).toBe('CANCELLED');
    expect(picture(p.root)).toEqual(before);
  });
});

describe('a manifest whose time is up', () => {
  it('is marked when the next plan is proposed, is kept, and still undoes its run', async () => {
    let now = new Date();
    const p = await project(TOOLS, () => now);
    writeFileSync(join(p.root, 'a.txt'), 'one');
    const plan = (plan_id: string, target: string) =>
      JSON.stringify({
        plan_id,
        action_plan: [
          { action_id: '1', action_type: 'FILE_CREATE', target, operation: { type: 'create', content: 'x' } },
        ],
      });
    const intent = await proposed(p, plan('first', 'b.txt'));
    await ready(p, intent);
    const { execution_id, folder } = await runSeen(p.keyturn, { ...intent, confirm: async () => true });
    const status = () =>
      JSON.parse(readFileSync(join(p.root, folder!, 'rollback_manifest.json'), 'utf8')).status;
    expect(status()).toBe('ACTIVE');
    now = new Date(now.getTime() + 31 * 24 * 3600 * 1000);
    await proposed(p, plan('second', 'c.txt'));
    expect(status()).toBe('EXPIRED');
    expect(await p.keyturn.plans.rollback({ execution_id, reason: 'late', signer: p.ada })).toMatchObject({
      status: 'rolled_back',
    });
    expect(existsSync(join(p.root, 'b.txt'))).toBe(false);
  });
});
