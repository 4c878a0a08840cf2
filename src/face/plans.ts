import * as z from 'zod';
import { once } from '../canonical/once.ts';
import type { PlanSpec } from '../plan/spec.ts';
import { planEffect } from './effect.ts';
import { code, id, reasonCode } from './parts.ts';
import { shown } from './shown.ts';
import { act, read, write } from './verb.ts';

/** As they were written: what is wrong with them is told with its line. */
const texts = once(() =>
  z.strictObject({
    /** A task plan, or a task envelope with one inside. */
    plan: z.string(),
    /** The system config, when it is not part of an envelope. */
    config: z.string().nullable().optional(),
  }),
);
const problem = once(() =>
  z
    .strictObject({
      /** Which of the two texts it stands in. */
      source: z.enum(['plan', 'config']),
      line: z.int(),
      column: z.int(),
      pointer: z.string(),
      code: reasonCode,
      message: z.string(),
    })
    .readonly(),
);
/** A plan as `propose` takes it, from a file that an agent wrote. */
export const planSpec = once(
  () =>
    z.strictObject({
      plan: z.record(z.string(), z.json()),
      config: z.record(z.string(), z.json()).nullable(),
      task_id: z.string(),
    }) as unknown as z.ZodType<PlanSpec>,
);
const chosen = {
  /** Ids of checkpoints, of which `previewRollback` takes beginnings; all of them when empty. */
  checkpoints: z.array(z.string()).readonly().optional(),
  /** Paths that stay as they are. */
  except: z.array(z.string()).readonly().optional(),
  /** A human's word for a run whose host this machine cannot see. */
  host_is_dead: z.boolean().optional(),
};
const undone = once(() =>
  z
    .strictObject({
      execution_id: id,
      /** Those that were chosen, by their whole ids; all of them when empty. */
      checkpoints: z.array(z.string()).readonly(),
      status: z.enum(['rolled_back', 'stuck', 'preview']),
      paths: z
        .array(
          z
            .strictObject({
              checkpoint_id: id,
              path: z.string(),
              step: z.enum(['nothing', 'restore', 'remove', 'move_back', 'refuse', 'except']),
              done: z.boolean(),
              code: code.optional(),
              message: z.string().optional(),
            })
            .readonly(),
        )
        .readonly(),
      folders_removed: z.array(z.string()).readonly(),
      not_undone: z.array(z.string()).readonly(),
      instructions: z.array(z.string()).readonly(),
    })
    .meta({ id: 'rollback' }),
);

// The executor of plans is large, so it is loaded where it is needed.
const load = () => import('../journey/plan.ts');
const reports = () => import('../journey/plan-report.ts');
const rollbacks = () => import('../journey/rollback.ts');

/** Plans of changes to files, and their undo. */
export const plans = {
  read: read({
    open_to: 'anyone',
    about: 'Read a plan as an agent wrote it: what `propose` takes, or everything that is wrong with it.',
    input: texts,
    output: () =>
      z.union([
        z.strictObject({ spec: planSpec() }),
        z.strictObject({ problems: z.array(problem()).readonly() }),
      ]),
    run: async ({ context }, { plan, config = null }) => {
      const found = await (await load()).readPlan(context, { plan, config });
      return 'spec' in found ? { spec: found.spec } : { problems: found.problems };
    },
  }),

  validate: read({
    open_to: 'anyone',
    about:
      'Everything that is wrong with a plan, each with its place. An agent is told of its form alone: no file is looked at.',
    input: texts,
    output: () =>
      z.strictObject({
        plan_id: z.string().nullable(),
        actions: z.int(),
        /** `files`: that the plan fits the files as they are was checked, too. `form`: an agent asked, and no file was looked at. */
        checked: z.enum(['form', 'files']),
        problems: z.array(problem()).readonly(),
      }),
    run: async ({ context }, { plan, config = null }) =>
      (await load()).validatePlan(context, { plan, config }),
  }),

  preview: read({
    open_to: 'people',
    refuses: ['FILE_EXISTS'],
    about: 'What a plan would do to the files as they are now. Touches nothing.',
    input: () => z.strictObject({ spec: planSpec() }),
    output: () =>
      z.strictObject({
        plan_id: z.string(),
        effect: planEffect(),
        shown,
      }),
    run: async ({ context }, { spec }) => {
      const { effect, shown } = await (await load()).previewPlan(context, spec);
      return { plan_id: effect.plan_id, effect, shown };
    },
  }),

  report: write({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND', 'REPORTS_NOT_RECORDED'],
    about: 'Make the missing reports of a recorded run again. What is there stays as it is.',
    input: () => z.strictObject({ execution_id: z.string() }),
    output: () =>
      z.strictObject({
        execution_id: id,
        folder: z.string(),
        /** The reports that were missing and are there now. */
        written: z.array(z.string()).readonly(),
      }),
    run: async ({ context }, { execution_id }) => ({
      execution_id,
      ...(await (await reports()).reportPlan(context, execution_id)),
    }),
  }),

  missingReports: read({
    open_to: 'people',
    refuses: ['PATH_ESCAPES'],
    about: 'Which reports of a finished run, by the folder that its claim names, are not there.',
    input: () => z.strictObject({ folder: z.string() }),
    output: () => z.strictObject({ names: z.array(z.string()).readonly() }),
    run: async ({ layout }, { folder }) => ({
      names: await (await reports()).missingReports(layout.root, folder),
    }),
  }),

  previewRollback: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND', 'ROLLBACK_NOT_DUE'],
    about: 'What the rollback of a run would do: by its id, a beginning of it, its intent, or `last`.',
    input: () => z.strictObject({ run: z.string(), ...chosen }),
    output: undone,
    run: async ({ context }, { run, ...rest }) => (await rollbacks()).previewRollback(context, run, rest),
  }),

  rollback: act({
    open_to: 'people',
    about: 'Undo a run of a plan, whole, by checkpoint, or but for some paths.',
    input: () => z.strictObject({ execution_id: z.string(), reason: z.string(), ...chosen }),
    output: undone,
    run: async ({ context }, request) => (await rollbacks()).rollback(context, request),
  }),
};
