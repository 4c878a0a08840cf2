import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import {
  expectProvable,
  planOf,
  planProjects,
  ran,
  replace,
  run,
  runnable,
  statusOf,
  when,
} from '../journey/plan-story.ts';
import { picture } from '../plan/engine/story.ts';
import { type Project, TOOLS } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sql } from './p01-database.ts';

const project = planProjects();

const REGISTRY = `${TOOLS}
  - name: nothing
    summary: Does nothing.
    executable: /usr/bin/true
    sandbox: none
    undo: none
pipelines:
  - name: outside
    summary: Does something that nothing undoes.
    steps:
      - tool: nothing
`;

const pipeline = (action_id: string) => ({
  action_id,
  action_type: 'PIPELINE_RUN',
  target: 'outside',
  operation: { type: 'pipeline_run', pipeline: 'outside' },
});

const planWith = (asking: readonly object[]) =>
  planOf([
    replace('edit', 'a', 'one', 'two'),
    {
      action_id: 'make',
      action_type: 'FILE_CREATE',
      target: 'new/n',
      operation: { type: 'create', content: 'n' },
    },
    ...asking,
    pipeline('ran'),
    replace('late', 'z', 'old', 'new'),
    pipeline('never'),
  ]);

/** Its result is not known before the run, so only the journal tells it. */
const ASKING = sql('ask', {
  query: 'SELECT 7 AS i',
  connection: 'memory',
  expect_results: true,
  save_results_to: 'out.csv',
});

type Line = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A run that ended without a record before its action `late`, as one does whose process was killed there. */
const killed = (...asking: readonly object[]) => killedAfter('late', () => {}, asking);

/** The same, and another program does something when the run comes to an action. */
async function killedAfter(moment: string, act: (p: Project) => void, asking: readonly object[] = []) {
  const p = await project({ a: 'one', z: 'old' }, REGISTRY);
  const before = picture(p.root);
  const intent = await runnable(p, planWith(asking));
  const onProgress = ({ what }: { what: string }) => {
    if (what === moment) act(p);
    if (what === 'late') throw new Error('the run ends here');
  };
  await run(p, intent, { onProgress }).catch(() => {});
  const { status, runs } = await p.keyturn.intents.get({ intent_id: intent.intent_id });
  expect(status).toBe('claimed');
  const { execution_id, reports } = runs.at(-1)!;
  return { p, before, intent, execution_id, journal: join(p.root, reports!, 'journal.jsonl') };
}

type Killed = Awaited<ReturnType<typeof killed>>;

const linesOf = (journal: string): Line[] =>
  readFileSync(journal, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
const write = (journal: string, lines: readonly Line[]) =>
  writeFileSync(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));

const undo = (p: Project, execution_id: string) =>
  p.keyturn.plans.rollback({ execution_id, reason: 'it was killed', signer: p.ada });

const at = '2026-01-15T12:00:00.000Z';
const THEIRS = 'theirs';
const theirs = { sha256: sha256(Buffer.from(THEIRS)), size: THEIRS.length, mode: 0o640 };
const leaves = (path: string) => ({ kind: 'leaves', at, action_id: 'edit', path, state: theirs });

async function expectRefused({ p, execution_id, intent, journal }: Killed, lines: readonly Line[]) {
  const after = picture(p.root);
  write(journal, lines);
  await expectRefusal('JOURNAL_CORRUPT', () => p.keyturn.plans.previewRollback({ run: execution_id }));
  await expectRefusal('JOURNAL_CORRUPT', () => undo(p, execution_id));
  expect(picture(p.root)).toEqual(after);
  expect(await statusOf(p, intent), 'a refusal claims nothing').toBe('claimed');
}

async function expectUndone({ p, before, execution_id, intent }: Killed) {
  expect(await undo(p, execution_id)).toMatchObject({
    status: 'rolled_back',
    not_undone: ['ran'],
    instructions: [],
  });
  expect(picture(p.root)).toEqual(before);
  expect(await statusOf(p, intent)).toBe('rolled_back');
  await expectProvable(p);
}

describe('P5: the journal of a run that was killed', () => {
  it.each<[string, Line]>([
    ['calls a changed path untouched', { kind: 'untouched', at, paths: ['a', 'new/n'] }],
    ['calls a folder that the run made untouched', { kind: 'untouched', at, paths: ['new'] }],
    ['begins an action that the run did not come to', { kind: 'started', at, action_id: 'never' }],
    ['ends an action', { kind: 'ended', at, action_id: 'ran', ok: false }],
    ['calls the run finished', { kind: 'finished', at, status: 'SUCCESS' }],
    ['calls the run rolled back', { kind: 'rolled_back', at, status: 'rolled_back', paths: ['a'] }],
  ])('with a line more that %s changes nothing', async (_, line) => {
    const one = await killed();
    write(one.journal, [...linesOf(one.journal), line]);
    await expectUndone(one);
  });

  it.each([
    ['a', []],
    ['z', []],
    ['out.csv', [ASKING]],
  ])(
    'with a line more that claims the change of another program at %s does not undo that change',
    async (path, asking) => {
      const { p, execution_id, journal } = await killed(...asking);
      writeFileSync(join(p.root, path), THEIRS);
      const { mode } = statSync(join(p.root, path));
      write(journal, [...linesOf(journal), { ...leaves(path), state: { ...theirs, mode: mode & 0o7777 } }]);
      const { status, paths } = await undo(p, execution_id);
      expect(status).toBe('stuck');
      expect(paths.filter(({ done }) => !done)).toMatchObject([{ path, code: 'CHANGED_SINCE_RUN' }]);
      expect(readFileSync(join(p.root, path), 'utf8')).toBe(THEIRS);
    },
  );

  it('without any one of the lines that announced something is refused, and nothing is touched', async () => {
    const one = await killed(ASKING);
    const lines = linesOf(one.journal);
    expect(lines.map(({ kind }) => kind)).toEqual(['started', 'leaves', 'ended', 'started', 'ended']);
    for (const i of lines.keys()) if (i < 4) await expectRefused(one, lines.toSpliced(i, 1));
    await expectRefused(one, []);
    rmSync(one.journal);
    await expectRefusal('JOURNAL_CORRUPT', () => undo(one.p, one.execution_id));
    write(one.journal, lines);
    await expectUndone(one);
  });

  it('with another line in place of one that announced something is refused, and nothing is touched', async () => {
    const one = await killed(ASKING);
    const lines = linesOf(one.journal);
    const edits: ((line: Line) => object)[] = [
      () => ({ at }),
      () => ({ action_id: 'edit' }),
      ({ kind }) => (kind === 'leaves' ? { state: theirs } : { action_id: 'never' }),
      ({ kind }) => (kind === 'leaves' ? { state: null } : { action_id: 'make' }),
      ({ kind }) => (kind === 'leaves' ? { path: 'a' } : { action_id: 'late' }),
    ];
    for (const [i, line] of lines.slice(0, -1).entries())
      for (const edit of edits) await expectRefused(one, lines.with(i, { ...line, ...edit(line) }));
    await expectRefused(one, lines.toReversed());
    await expectRefused(one, [{ kind: 'untouched', at, paths: ['a'] }, ...lines]);
    write(one.journal, lines.slice(0, -1));
    await expectUndone(one);
  });

  it('keeps a folder that another program made just before the run came to it', async () => {
    const { p, execution_id } = await killedAfter('make', ({ root }) => mkdirSync(join(root, 'new')));
    expect((await undo(p, execution_id)).status).toBe('rolled_back');
    expect(picture(p.root)).toHaveProperty('new');
    expect(picture(p.root)).not.toHaveProperty('new/n');
  });
});

describe('P5: the journal of a run that goes on', () => {
  const journalIn = ({ root }: Project) => {
    const reports = join(root, 'agent_outputs/reports');
    return join(reports, readdirSync(reports)[0]!, 'journal.jsonl');
  };
  const untouched = `${JSON.stringify({ kind: 'untouched', at, paths: ['a'] })}\n`;

  it('is recorded as the run wrote it, whatever another program wrote into it', async () => {
    const p = await project({ a: 'one', z: 'old' }, REGISTRY);
    const { report } = await ran(
      p,
      planWith([]),
      when('late', () => appendFileSync(journalIn(p), untouched)),
    );
    expect(report.result).toBe('success');
    const after = picture(p.root);
    await expectRefusal('JOURNAL_CORRUPT', () => undo(p, report.execution_id));
    expect(picture(p.root)).toEqual(after);
  });

  it('does not keep the run from undoing what it did, whatever another program wrote into it', async () => {
    const p = await project({ a: 'one', z: 'old' });
    const before = picture(p.root);
    const { report } = await ran(
      p,
      planOf([replace('edit', 'a', 'one', 'two'), replace('late', 'z', 'old', 'new')]),
      when('late', () => {
        appendFileSync(journalIn(p), untouched);
        rmSync(join(p.root, 'z'));
      }),
    );
    expect(report.result).toBe('rolled_back');
    const { z: _, ...others } = before;
    expect(picture(p.root)).toEqual(others);
  });
});
