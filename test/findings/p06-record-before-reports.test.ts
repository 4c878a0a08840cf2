import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  planOf,
  planProjects,
  ran,
  replace,
  reportsOf,
  run,
  runnable,
  statusOf,
} from '../journey/plan-story.ts';
import { inTerminal, keyturn } from '../support/pty.ts';

const planProject = planProjects();

/** Lines that all change, in an order that repeats: no single line is unlike all others. */
const many = (word: string) =>
  Array.from({ length: 3000 }, (_, i) => `${i % 2 === 0 ? word : 'same'} ${i % 10}\n`).join('');

describe('P6: the record does not wait for reports, and diffs are whole', () => {
  it('a run whose reports cannot be written is recorded with its result, and says which are missing', async () => {
    const p = await planProject({ a: 'x\n' });
    const intent = await runnable(p, planOf([replace('1', 'a', 'x', 'y')]));
    const reports = join(p.root, 'agent_outputs/reports');
    let blocked = '';
    const report = await run(p, intent, {
      onProgress: ({ what }) => {
        if (what !== 'done') return;
        blocked = join(reports, folderIn(reports), 'change_log.json');
        mkdirSync(blocked);
      },
    }).catch(() => null);
    expect(await statusOf(p, intent)).toBe('succeeded');
    expect(report).toMatchObject({ result: 'success', reports_missing: 'FILE_NOT_REGULAR' });

    rmSync(blocked, { recursive: true });
    const { stdout } = await keyturn(['show', intent.intent_id], { cwd: p.root });
    expect(stdout).toContain(`keyturn plan report ${report!.execution_id}`);
  });

  it('reports that are gone are made again from the record and the backups, word for word', async () => {
    const p = await planProject({ a: 'x\n', b: 'one\ntwo\n' });
    const { report } = await ran(p, planOf([replace('1', 'a', 'x', 'y'), replace('2', 'b', 'two', '2')]));
    const before = reportsOf(p, report);
    const names = ['execution_report.json', 'change_log.json'];
    for (const name of names) rmSync(join(p.root, report.folder!, name));
    const { code, stdout } = await keyturn(['plan', 'report', report.execution_id, '--json'], {
      cwd: p.root,
    });
    expect({ code, ...JSON.parse(stdout).result }).toMatchObject({ code: 0, written: names });
    expect(reportsOf(p, report)).toEqual(before);
    expect(await p.keyturn.plans.report({ execution_id: report.execution_id })).toMatchObject({
      written: [],
    });
  });

  it('a preview at a terminal comes page by page, and has every changed line', async () => {
    const p = await planProject({ a: many('old') });
    writeFileSync(
      join(p.root, 'plan.json'),
      planOf([
        {
          ...replace('1', 'a', 'old', 'new'),
          operation: { type: 'text_replace', pattern: 'old', replacement: 'new', max_matches: 2000 },
        },
      ]),
    );
    const session = inTerminal(['plan', 'preview', 'plan.json'], { cwd: p.root, rows: 30 });
    try {
      await session.expect('Enter: next page, a: all of them, q: stop');
      expect(session.text.split('\n').length).toBeLessThan(40);
      session.type('a');
      expect(await session.exited).toBe(0);
      const lines = session.text.split('\n').map((line) => line.trim());
      expect(lines.filter((line) => line.startsWith('│ +new'))).toHaveLength(1500);
      expect(lines.filter((line) => line.startsWith('│ -old'))).toHaveLength(1500);
    } finally {
      session.kill();
    }
  });

  it('its hunks are in the answer for programs', async () => {
    const p = await planProject({ a: 'one\ntwo\nthree\n' });
    writeFileSync(join(p.root, 'plan.json'), planOf([replace('1', 'a', 'two', '2')]));
    const { stdout } = await keyturn(['plan', 'preview', 'plan.json', '--json'], { cwd: p.root });
    expect(JSON.parse(stdout).result.shown.parts[0].blocks[0].hunks).toEqual([
      { old_start: 1, old_lines: 3, new_start: 1, new_lines: 3, lines: [' one', '-two', '+2', ' three'] },
    ]);
  });
});

function folderIn(reports: string): string {
  const [name = ''] = readdirSync(reports);
  return name;
}
