import { describe, expect, it } from 'vitest';
import { showPlan } from '../../src/display/plan.ts';
import type { Shown } from '../../src/display/shown.ts';
import { pathAccessOf, rulesOf } from '../../src/plan/input/rules.ts';
import type { ActionEffect, PlanEffect } from '../../src/plan/model.ts';
import { create, derived, projectWith, remove, rename, replace } from '../plan/report/scene.ts';
import { drawn } from './drawn.ts';
import { TOOL_EFFECT } from './samples.ts';

const rules = rulesOf(null);
const protection = (path: string) => pathAccessOf(path, rules);

async function shownOf(
  files: Record<string, string | Uint8Array>,
  actions: readonly object[],
  more: object = {},
): Promise<Shown> {
  const { effect, collector } = await derived(projectWith(files), actions, more, protection);
  return showPlan(effect, collector);
}

const textOf = async (...given: Parameters<typeof shownOf>) => drawn(await shownOf(...given));

describe('the screen of a plan', () => {
  it('shows a unified diff of each file, the undo and the limits used', async () => {
    const text = await textOf({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'x\n', 'c.txt': 'y\n' }, [
      replace('m', 'a.txt', 'two', '2'),
      create('n', 'new/d.txt', 'fresh\n'),
      remove('d', 'b.txt'),
      rename('r', 'c.txt', 'e.txt'),
    ]);
    expect(text).toMatch(
      /^Plan: +plan-001: 4 actions, 1 FILE_MODIFY, 1 FILE_CREATE, 1 FILE_DELETE, 1 FILE_RENAME\n/,
    );
    expect(text).toContain('\n!!! DELETES: d: b.txt !!!\n');
    expect(text).toMatch(/^Task: +task-7$/m);
    expect(text).toMatch(/^On a failure: everything is rolled back$/m);
    expect(text).toMatch(/^New folders: +new$/m);
    expect(text).toMatch(/^Undo: +4 of 4 exact$/m);
    expect(text).toMatch(
      /^Limits: +5 of 100 files, the largest 14 B of 50\.0 MB, backups 18 B of 500\.0 MB$/m,
    );
    expect(text).toContain(
      '  a.txt:\n  │ --- a/a.txt\n  │ +++ b/a.txt\n  │ @@ -1,3 +1,3 @@\n  │  one\n  │ -two\n  │ +2\n  │  three\n',
    );
    expect(text).toContain('  │ --- /dev/null\n  │ +++ b/new/d.txt\n  │ @@ -0,0 +1 @@\n  │ +fresh\n');
    expect(text).toContain('  │ --- a/b.txt\n  │ +++ /dev/null\n  │ @@ -1 +0,0 @@\n  │ -x\n');
    expect(text).toMatch(/^\[4\/4\]\n {2}Action: +FILE_RENAME c\.txt to e\.txt \(r\)$/m);
    expect(text).toMatch(/^ {2}Changes: +new\/d\.txt, nothing → 6 bytes, mode 0644, [0-9a-f]{12}$/m);
  });

  it('a file cannot paint over its own diff, nor turn or hide its text', async () => {
    const text = await textOf({ 'a.txt': 'one\r\n' }, [
      replace('m', 'a.txt', 'one', 'evil\x1b[2K\x1b[1A\u202egood\u200b\u{e0041}'),
    ]);
    expect(text).toContain('+evil\\x1b[2K\\x1b[1A\\u202egood\\u200b\\u{e0041}\\x0d');
    expect(text).not.toMatch(/[\x1b\u202e\u200b\r]/);
  });

  it('protected files and content warnings are told first', async () => {
    const text = await textOf({ 'setup.py': 'a\n' }, [
      replace('m', 'setup.py', 'a', 'import os; os.system("ls")'),
      {
        ...create('x', 'run.sh', '#!/bin/sh\n'),
        operation: { type: 'create', content: '#!/bin/sh\n', mode: '0755' },
      },
    ]);
    expect(text).toContain('\n!!! PROTECTED FILES: a second approver is needed: setup.py !!!\n');
    expect(text).toContain('\n! CONTENT: setup.py, line 1: the new text starts a process\n');
    expect(text).toContain('\n! CONTENT: run.sh, line 1: the file becomes executable\n');
    expect(text).toContain('mode 0755');
    expect(text.indexOf('PROTECTED')).toBeLessThan(text.indexOf('[1/2]'));
  });

  it('a credential is shown as refused, with its place', async () => {
    const text = await textOf({}, [create('c', 'a.txt', `\n${'AKIA'}IOSFODNN7EXAMPLQ\n`)]);
    expect(text).toContain(
      '!!! REFUSED (CONTENT_CREDENTIAL): a.txt, line 2: the new text holds an AWS access key',
    );
  });

  it('a file that is only renamed brings nothing new', async () => {
    const text = await textOf({ 'a.txt': `${'AKIA'}IOSFODNN7EXAMPLQ\n` }, [rename('r', 'a.txt', 'b.txt')]);
    expect(text).not.toMatch(/CONTENT|REFUSED|AKIA/);
  });

  it('a long diff is shown whole, and of a binary file it says that it is one', async () => {
    const before = Array.from({ length: 6000 }, (_, i) => `a${i}\n`).join('');
    const text = await textOf({ 'a.txt': before, 'b.bin': Buffer.from([0, 1, 2]) }, [
      remove('r', 'a.txt'),
      remove('e', 'b.bin'),
    ]);
    expect(text).toContain('\n  │ -a5999\n');
    expect(text).toContain('The file is binary.');
    expect(text).not.toContain('NOT SHOWN');
  });

  it('a plan that leaves its failures as they are is told loudly', async () => {
    const instructions = { execution_instructions: { rollback_on_failure: false, stop_on_error: false } };
    const text = await textOf({}, [create('c', 'a', 'x')], instructions);
    expect(text).toContain('!!! NO ROLLBACK: after a failure, what was done stays done !!!\n! GOES ON: ');
    expect(text).toMatch(/^On a failure: NOTHING IS ROLLED BACK, the other actions go on$/m);
  });

  it('SQL is shown by kind and word for word, and what cannot be undone is named', async () => {
    const { effect } = await derived(projectWith({}), [create('c', 'a', 'x')]);
    const sql: ActionEffect = {
      ...effect.actions[0]!,
      action_id: 'q',
      action_type: 'SQL_EXECUTE',
      target: 'data.duckdb',
      operation: {
        type: 'sql_execute',
        query: 'select 1;\ninsert into t values ($n)',
        parameters: { n: 7 },
        connection: 'duckdb',
        expect_results: false,
        readable: ['ro'],
      },
      statements: ['SELECT', 'INSERT'],
      changes: [{ path: 'data.duckdb', before: null, after: 'unknown' }],
    };
    const pipeline: ActionEffect = {
      ...sql,
      action_id: 'p',
      action_type: 'PIPELINE_RUN',
      target: 'nightly',
      operation: { type: 'run', pipeline: 'nightly', arguments: { day: '\x1b]0;x' } },
      undo: 'none',
      statements: [],
      steps: [
        TOOL_EFFECT,
        { kind: 'sql', file: 'w.sql', sha256: 'f'.repeat(64), text: 'drop table t', database: 'd.duckdb' },
      ],
      changes: [],
    };
    const shown: PlanEffect = { ...effect, actions: [sql, pipeline] };
    const text = drawn(showPlan(shown));
    expect(text).toContain('  SQL:\n  │ select 1;\n  │ insert into t values ($n)\n');
    expect(text).toMatch(/^ {2}Statements: SELECT, INSERT$/m);
    expect(text).toMatch(/^ {2}With: +parameters = \{"n":7\}$/m);
    expect(text).toMatch(/^ {2}Reads: +ro$/m);
    expect(text).toMatch(/^ {2}Changes: +data\.duckdb, nothing → known only after the run$/m);
    expect(text).toMatch(/^ {2}With: +arguments = \{"day":"\\u001b\]0;x"\}$/m);
    expect(text).toMatch(/^Undo: +NOT FOR p$/m);
    expect(text).toMatch(/^ {4}Runs: +\/bin\/cp -- "Ada Lovelace\.txt" out\/copy$/m);
    expect(text).toMatch(/^ {4}SQL: +of w\.sql on d\.duckdb$/m);
    expect(text).toContain('    │ drop table t\n');
    const [first] = text.split('\n[1/2]');
    expect(first).toContain('!!! DROPS what a database holds: p: step 2: statement 1, drop table t !!!');
    expect(first).toContain(
      '!!! NO SANDBOX: this tool can reach everything that its user can reach: p: step 1 !!!',
    );
    expect(first).toContain('!!! SECRETS: it gets secrets of the executor: p: step 1: backup.token !!!');
  });
});
