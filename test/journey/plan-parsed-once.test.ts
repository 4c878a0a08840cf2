import { Session } from 'node:inspector/promises';
import { describe, expect, it } from 'vitest';
import { Keyturn, type Result } from '../../src/keyturn.ts';
import { ready } from '../support/project.ts';
import { planOf, planProjects, proposed, replace, run, runnable, undo } from './plan-story.ts';

const project = planProjects();

/** How often V8 entered the parser of plans meanwhile: it counts calls itself, so nothing is replaced for the count. */
async function parsedDuring(act: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await act();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.endsWith('/src/plan/input/parse.ts'))
      .flatMap(({ functions }) => functions)
      .filter(({ functionName }) => functionName === 'parsePlan')
      .reduce((calls, { ranges }) => calls + ranges[0]!.count, 0);
  } finally {
    session.disconnect();
  }
}

const PLAN = planOf([replace('1', 'a', 'one', 'two'), replace('2', 'b', 'bee', 'cee')]);

describe('a plan is parsed', () => {
  it('once from the proposal to the record, and not at all by its rollback', async () => {
    const p = await project({ a: 'one', b: 'bee' });
    let report: Result<'runs.run'>;
    const calls = await parsedDuring(async () => {
      const intent = await proposed(p, PLAN);
      await p.keyturn.intents.review({ intent_id: intent.intent_id });
      await ready(p, intent);
      report = await run(p, intent);
      expect(report.result).toBe('success');
    });
    expect(calls).toBe(1);
    expect(await parsedDuring(() => undo(p, report))).toBe(0);
  });

  it('once by another process that reviews and runs it', async () => {
    const p = await project({ a: 'one', b: 'bee' });
    const intent = await runnable(p, PLAN);
    const calls = await parsedDuring(async () => {
      const other = await Keyturn.open({ at: p.root });
      await other.intents.review({ intent_id: intent.intent_id });
      expect((await run({ ...p, keyturn: other }, intent)).result).toBe('success');
      await other.close();
    });
    expect(calls).toBe(1);
  });
});
