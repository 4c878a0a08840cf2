import { describe, expect, it } from 'vitest';
import { rulesOf, standingOf } from '../../../src/plan/input/rules.ts';
import type { ActionEffect, PlanEffect } from '../../../src/plan/model.ts';
import { Collector } from '../../../src/plan/preview/collect.ts';
import { renderPreview } from '../../../src/plan/preview/render.ts';
import { create, derived, projectWith, remove, rename, replace } from '../report/scene.ts';

const rules = rulesOf(null);
const protection = (path: string) => standingOf(path, rules);

async function previewOf(
  files: Record<string, string | Uint8Array>,
  actions: readonly object[],
  more: object = {},
  colour = false,
): Promise<string> {
  const { effect, collector } = await derived(projectWith(files), actions, more, protection);
  return renderPreview(effect, collector, { colour });
}

describe('the preview of a plan', () => {
  it('shows a unified diff of each file, the undo and the limits used', async () => {
    const text = await previewOf({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'x\n', 'c.txt': 'y\n' }, [
      replace('m', 'a.txt', 'two', '2'),
      create('n', 'new/d.txt', 'fresh\n'),
      remove('d', 'b.txt'),
      rename('r', 'c.txt', 'e.txt'),
    ]);
    expect(text).toBe(`Plan plan-001 for task task-7: 4 action(s), sequential
On a failure everything is rolled back.

[1/4] m FILE_MODIFY a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three

[2/4] n FILE_CREATE new/d.txt
--- /dev/null
+++ b/new/d.txt
mode 0644
@@ -0,0 +1 @@
+fresh

[3/4] d FILE_DELETE b.txt
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-x

[4/4] r FILE_RENAME c.txt
--- c.txt
+++ e.txt

New folders
  new

Undo
  4 of 4 action(s) can be undone exactly.

Limits
  files 5 of 100
  largest file 14 B of 50.0 MB
  backups 18 B of 500.0 MB
  time at most 300 s
`);
  });

  it('is coloured only when somebody asks', async () => {
    const change = [replace('m', 'a.txt', 'one', '1')] as const;
    expect(await previewOf({ 'a.txt': 'one\n' }, change)).not.toContain('\x1b');
    const coloured = await previewOf({ 'a.txt': 'one\n' }, change, {}, true);
    expect(coloured).toContain('\x1b[32m+1\x1b[39m');
    expect(coloured).toContain('\x1b[31m-one\x1b[39m');
  });

  it('a file cannot paint over its own diff, nor turn or hide its text', async () => {
    const text = await previewOf({ 'a.txt': 'one\r\n' }, [
      replace('m', 'a.txt', 'one', 'evil\x1b[2K\x1b[1A\u202egood\u200b\u{e0041}'),
    ]);
    expect(text).toContain('+evil\\x1b[2K\\x1b[1A\\u202egood\\u200b\\u{e0041}\\x0d');
    expect(text).not.toMatch(/[\x1b\u202e\u200b\r]/);
  });

  it('protected files and content warnings are told', async () => {
    const text = await previewOf({ 'setup.py': 'a\n' }, [
      replace('m', 'setup.py', 'a', 'import os; os.system("ls")'),
      {
        ...create('x', 'run.sh', '#!/bin/sh\n'),
        operation: { type: 'create', content: '#!/bin/sh\n', mode: '0755' },
      },
    ]);
    expect(text).toContain('Protected files: a second approver is needed\n  setup.py\n');
    expect(text).toContain('  warning setup.py:1: the new text starts a process\n');
    expect(text).toContain('  warning run.sh:1: the file becomes executable\n');
    expect(text).toContain('mode 0755');
  });

  it('a credential is shown as refused, with its place', async () => {
    const text = await previewOf({}, [create('c', 'a.txt', `\n${'AKIA'}IOSFODNN7EXAMPLQ\n`)]);
    expect(text).toContain('  REFUSED a.txt:2: the new text holds an AWS access key (CONTENT_CREDENTIAL)');
  });

  it('a file that is only renamed brings nothing new', async () => {
    const text = await previewOf({ 'a.txt': `${'AKIA'}IOSFODNN7EXAMPLQ\n` }, [rename('r', 'a.txt', 'b.txt')]);
    expect(text).not.toContain('Content checks');
  });

  it('binary files and long diffs say what is not shown', async () => {
    const before = Array.from({ length: 6000 }, (_, i) => `a${i}\n`).join('');
    const text = await previewOf({ 'a.txt': before, 'b.bin': Buffer.from([0, 1, 2]) }, [
      remove('d', 'a.txt'),
      remove('e', 'b.bin'),
    ]);
    expect(text).toContain('1000 more line(s) of the diff are NOT SHOWN.');
    expect(text).toContain('The file is binary.');
  });

  it('a plan that leaves its failures as they are is told loudly', async () => {
    const instructions = { execution_instructions: { rollback_on_failure: false, stop_on_error: false } };
    const text = await previewOf({}, [create('c', 'a', 'x')], instructions);
    expect(text).toContain('On a failure NOTHING IS ROLLED BACK.');
    expect(text).toContain('After a failure the other actions go on.');
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
        readable: [],
      },
      statements: ['SELECT', 'INSERT', 'SELECT'],
      changes: [{ path: 'data.duckdb', before: null, after: 'unknown' }],
    };
    const pipeline: ActionEffect = {
      ...sql,
      action_id: 'p',
      action_type: 'PIPELINE_RUN',
      operation: { type: 'run', pipeline: 'nightly', arguments: { day: '\x1b]0;x' } },
      undo: 'none',
      statements: [],
      steps: ['f'.repeat(64)],
      changes: [],
    };
    const shown: PlanEffect = { ...effect, actions: [sql, pipeline] };
    const text = renderPreview(shown, new Collector());
    expect(text).toContain('SQL: 2 SELECT, 1 INSERT\n  select 1;\n  insert into t values ($n)\n  $n = 7\n');
    expect(text).toContain('Its content is known only after the run.');
    expect(text).toContain(
      `Pipeline nightly, 1 step(s)\n  arguments {"day":"\\u001b]0;x"}\n  step 1: ${'f'.repeat(64)}`,
    );
    expect(text).toContain('  1 of 2 action(s) can be undone exactly.\n  CANNOT BE UNDONE: p\n');
  });
});
