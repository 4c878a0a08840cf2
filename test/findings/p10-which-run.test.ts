import { describe, expect, it } from 'vitest';
import { create, planOf, planProjects, ran, run, runnable } from '../journey/plan-story.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';

const project = planProjects();

const ask = ({ keyturn }: Project, run: string) => keyturn.plans.previewRollback({ run });
const pathsOf = async (p: Project, run: string) => (await ask(p, run)).paths.map(({ path }) => path);

describe('P10: which run is undone', () => {
  it('is said by an execution, an intent, the beginning of either, or as the last one', async () => {
    const p = await project();
    const first = await ran(p, planOf([create('1', 'a')]));
    const second = await ran(p, planOf([create('1', 'b')]));
    const { execution_id } = first.report;
    for (const name of [
      execution_id,
      first.intent_id,
      execution_id.slice(0, 13),
      first.intent_id.slice(0, 13),
    ])
      expect(await pathsOf(p, name), name).toEqual(['a']);
    expect(await pathsOf(p, 'last')).toEqual(['b']);
    expect(second.report.result).toBe('success');
  });

  it('is refused where it names none, several, or is too short or no id', async () => {
    const p = await project();
    expect((await expectRefusal('EXECUTION_NOT_FOUND', () => ask(p, 'last'))).message).toBe(
      'No plan has run yet.',
    );
    const { intent_id } = await runnable(p, planOf([create('1', 'waits')]));
    const waiting = await expectRefusal('EXECUTION_NOT_FOUND', () => ask(p, intent_id));
    expect(waiting.message).toContain('No run has this id');
    const runs = [];
    for (let i = 0; i < 2; i++) runs.push(await ran(p, planOf([create('1', `f${i}`)])));
    await expectRefusal('EXECUTION_NOT_FOUND', () => ask(p, '00000000-0000-0000'));
    await expectRefusal('ID_MALFORMED', () => ask(p, ''));
    await expectRefusal('ID_MALFORMED', () => ask(p, 'abc'));
    await expectRefusal('ID_MALFORMED', () => ask(p, '../../etc'));
    expect(runs).toHaveLength(2);
  });

  it('is refused where several runs fit, and says which', async () => {
    const p = await project();
    const ids = ['1', '2'].map((last) => `abcdabcd-0000-4000-8000-00000000000${last}`);
    for (const intent_id of ids)
      await run(p, await runnable(p, planOf([create('1', intent_id)]), { intent_id }));
    const refusal = await expectRefusal('ID_AMBIGUOUS', () => ask(p, 'abcdabcd-0000'));
    expect(refusal.message).toContain('2 runs fit');
    expect(await pathsOf(p, ids[0]!)).toEqual([ids[0]]);
  });
});
