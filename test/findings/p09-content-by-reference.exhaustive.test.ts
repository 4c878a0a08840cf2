import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSealed } from '../../src/canonical/sealed.ts';
import { planLimits } from '../../src/limits.ts';
import { drawn } from '../display/drawn.ts';
import {
  planOf,
  planProjects,
  problemsOf,
  proposed,
  ran,
  run,
  runnable,
  undo,
} from '../journey/plan-story.ts';
import { entriesAbout, objectOf } from '../support/ledger.ts';
import { expectRefusal } from '../support/refusal.ts';

const planProject = planProjects();

const taken = (content_file: string, target = 'new.bin') => ({
  action_id: '1',
  action_type: 'FILE_CREATE',
  target,
  operation: { type: 'create', content_file },
});
const modify = (target: string, operation: object) => ({
  action_id: '1',
  action_type: 'FILE_MODIFY',
  target,
  operation,
});

describe('P9: large files by reference, documents of a stream, modes', () => {
  it('a new file takes its content from a file of the project, and the store keeps it', async () => {
    const p = await planProject();
    const content = Buffer.alloc(2_000_000, 'twelve bytes');
    writeFileSync(join(p.root, 'big'), content);
    expect(await problemsOf(p, planOf([taken('big')]))).toEqual([]);
    const intent = await runnable(p, planOf([taken('big')]));
    const { shown } = await p.keyturn.intents.review({ intent_id: intent.intent_id });
    expect(drawn(shown)).toContain('Content file');
    const report = await run(p, intent);
    expect(report.result).toBe('success');
    expect(content.equals(readFileSync(join(p.root, 'new.bin')))).toBe(true);

    rmSync(join(p.root, 'big'));
    const [first] = await entriesAbout(p.keyturn, intent.intent_id);
    const { contents } = first!.body as { contents: string[] };
    expect(content.equals(openSealed(await objectOf(p.keyturn, contents[0]!)))).toBe(true);
    expect((await undo(p, report)).status).toBe('rolled_back');
  });

  it('a content file that changed, is gone, or is no plain file of this plan to read is refused', async () => {
    const p = await planProject({ big: 'one\n', 'package.json': '{}\n', '.env': 'A=1\n' });
    const intent = await runnable(p, planOf([taken('big')]));
    writeFileSync(join(p.root, 'big'), 'two\n');
    await expectRefusal('PLAN_DRIFT', () => run(p, intent));
    rmSync(join(p.root, 'big'));
    await expectRefusal('FILE_NOT_FOUND', () => proposed(p, planOf([taken('big')])));
    for (const [path, code] of [
      ['.keyturn/ledger.json', 'PLAN_PATH_OWN'],
      ['../x', 'PATH_ESCAPES'],
    ] as const)
      expect(await problemsOf(p, planOf([taken(path)]))).toEqual([code]);
    const both = { ...taken('big'), operation: { type: 'create', content: 'x', content_file: 'big' } };
    expect(await problemsOf(p, planOf([both]))).toEqual(['SHAPE_INVALID']);
  });

  it('a protected content file needs the second human', async () => {
    const p = await planProject({ 'package.json': '{}\n' });
    const { intent_id } = await proposed(p, planOf([taken('package.json', 'copy.json')]));
    expect(await p.keyturn.intents.get({ intent_id })).toMatchObject({ approvals_needed: 2 });
  });

  it('all contents of one plan have a limit, and it is said', async () => {
    const p = await planProject();
    writeFileSync(join(p.root, 'big'), Buffer.alloc(planLimits.content_bytes / 2 + 1));
    const actions = ['a', 'b'].map((target) => ({ ...taken('big', target), action_id: target }));
    const refused = await expectRefusal('PLAN_LIMIT_EXCEEDED', () => proposed(p, planOf(actions)));
    expect(refused).toMatchObject({ message: expect.stringContaining(String(planLimits.content_bytes)) });
  });

  it('one document of a stream is edited', async () => {
    const p = await planProject({ 'k8s.yaml': 'kind: A\nn: 1\n---\nkind: B\nn: 1\n' });
    const edit = { type: 'yaml_update', document: 1, path: 'n', value: 2 };
    const { report } = await ran(p, planOf([modify('k8s.yaml', edit)]));
    expect(report.result).toBe('success');
    expect(readFileSync(join(p.root, 'k8s.yaml'), 'utf8')).toBe('kind: A\nn: 1\n---\nkind: B\nn: 2\n');
  });

  it('a mode is changed, also of a read-only file, and a rollback brings it back', async () => {
    const p = await planProject({ 'run.sh': 'echo\n' });
    const path = join(p.root, 'run.sh');
    chmodSync(path, 0o444);
    const to = (mode: string) => planOf([modify('run.sh', { type: 'mode_change', mode })]);
    const { report } = await ran(p, to('0755'));
    expect(statSync(path).mode & 0o777).toBe(0o755);
    await expectRefusal('EDIT_CHANGES_NOTHING', () => proposed(p, to('0755')));
    expect((await undo(p, report)).status).toBe('rolled_back');
    expect(statSync(path).mode & 0o777).toBe(0o444);
  });
});
