import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reviewScreen } from '../../src/cli/screen.ts';
import { showEffect } from '../../src/display/effect.ts';
import type { ActionEffect, PipelineStep, PlanEffect } from '../../src/plan/model.ts';
import { actionTypes } from '../../src/plan/operation.ts';
import type { ToolEffect } from '../../src/tool/effect.ts';
import { planProjects } from '../journey/plan-story.ts';
import { drawnInColour, inColour } from './drawn.ts';
import { action, plan, sqlStep, tool } from './effects.ts';
import { changedAt, mixtures, placesOf } from './from-schema.ts';

/** The only fields whose change no line shows. Each is a digest or an id, or follows from what is shown. */
const UNSHOWN: readonly RegExp[] = [
  /** A change of kind makes it another effect. */
  /(^|\.)(kind|action_type|sandbox)$/,
  /** Twelve characters of it are shown; the content itself is in the diff. */
  /changes\.\d+\.(before|after)\.(sha256|attributes)$/,
];

const isUnshown = (name: string) => UNSHOWN.some((pattern) => pattern.test(name));

const planProject = planProjects();

const linesOf = (effect: ToolEffect | PlanEffect) => drawnInColour(showEffect(effect));

/** Changes each place of an effect, one at a time, and looks at the lines. */
function expectEveryPlaceShown(effect: ToolEffect | PlanEffect): void {
  const before = linesOf(effect);
  for (const path of placesOf(effect)) {
    const name = path.join('.');
    if (isUnshown(name)) continue;
    if (linesOf(changedAt(effect, path)) === before)
      expect.fail(`a change of ${name} changes no line:\n${before}`);
  }
}

/** Gives an effect each field of another one, so that a field also becomes null, empty, or of another form. */
function expectEveryFieldShown<T extends ToolEffect | PlanEffect>(effect: T, other: T): void {
  for (const [field, mixed] of mixtures(effect, other))
    if (linesOf(mixed) === linesOf(effect)) expect.fail(`another ${field} changes no line`);
}

describe('every field of an effect is in a line that a human reads', () => {
  it('of a tool call', () => {
    fc.assert(fc.property(tool, expectEveryPlaceShown), { numRuns: 40, endOnFailure: true });
    fc.assert(fc.property(tool, tool, expectEveryFieldShown), { numRuns: 40, endOnFailure: true });
  });

  it.each(actionTypes)('of a plan with %s', (type) => {
    fc.assert(fc.property(plan(type), expectEveryPlaceShown), { numRuns: 6, endOnFailure: true });
    fc.assert(fc.property(plan(type), plan(type), expectEveryFieldShown), {
      numRuns: 10,
      endOnFailure: true,
    });
    fc.assert(
      fc.property(plan(type), action(type), action(type), (effect, one, other) => {
        const holding = (held: ActionEffect): PlanEffect => ({ ...effect, actions: [held] });
        // SQL has one text: that of a query file is changed above, with its operation as it is.
        for (const [field, mixed] of mixtures(one, other).filter(([name]) => name !== 'query_text'))
          if (linesOf(holding(mixed)) === linesOf(holding(one)))
            expect.fail(`another ${field} of an action changes no line`);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('of each step of a pipeline', () => {
    const steps = fc.oneof(fc.tuple(tool, tool), fc.tuple(sqlStep, sqlStep));
    fc.assert(
      fc.property(plan('PIPELINE_RUN'), action('PIPELINE_RUN'), steps, (effect, run, [one, other]) => {
        const holding = (step: PipelineStep): PlanEffect => ({
          ...effect,
          actions: [{ ...run, steps: [step] }],
        });
        const before = linesOf(holding(one));
        for (const [field, mixed] of mixtures<PipelineStep>(one, other))
          if (linesOf(holding(mixed)) === before) expect.fail(`another ${field} of a step changes no line`);
      }),
      { numRuns: 6, endOnFailure: true },
    );
  });

  it('of each alternate that a yes covers', async () => {
    const p = await planProject();
    const call = (name: string) => ({ kind: 'tool' as const, tool: name, arguments: {} });
    const { intent_id } = await p.keyturn.intents.propose({
      declared_goal: 'Try it.',
      effect: call('fail'),
      alternates: [{ ...call('say'), arguments: { word: 'x' } }],
      requested_actions: ['tool:fail', 'tool:say'],
    });
    const seen = await p.keyturn.intents.review({ intent_id });
    expect(seen.alternates).toHaveLength(1);
    const look = { paint: inColour, now: new Date(0), columns: 400 };
    const screen = (alternate: ToolEffect) =>
      reviewScreen({ ...seen, alternates: [showEffect(alternate)] }, look).join('\n');
    fc.assert(
      fc.property(tool, tool, (effect, other) => {
        const before = screen(effect);
        for (const path of placesOf(effect)) {
          const name = path.join('.');
          if (isUnshown(name)) continue;
          if (screen(changedAt(effect, path)) === before) expect.fail(`a change of ${name} changes no line`);
        }
        for (const [field, mixed] of mixtures(effect, other))
          if (screen(mixed) === before) expect.fail(`another ${field} changes no line`);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });

  it.each([true, null, 1, -0.5])('text is told from the value %j that it spells', (value) => {
    const holding = (given: unknown): PlanEffect => {
      const [effect] = fc.sample(plan('FILE_MODIFY'), { numRuns: 1, seed: 1 });
      const [first] = effect!.actions;
      return { ...effect!, actions: [{ ...first!, operation: { value: given } as never }] as never };
    };
    expect(linesOf(holding(value))).not.toBe(linesOf(holding(JSON.stringify(value))));
  });

  it('what the proposer chose is marked, and what the registry says is not', () => {
    fc.assert(
      fc.property(tool, (effect) => {
        const { headline } = showEffect(effect);
        const marked = headline.value.filter(({ from }) => from === 'agent').length > 0;
        expect(marked).toBe(effect.chosen.length > 0);
      }),
    );
  });
});
