import * as z from 'zod';
import { once } from '../canonical/once.ts';
import { breakGlass } from '../journey/break-glass.ts';
import { requireIntent } from '../journey/context.ts';
import { listCapabilities, listRuns } from '../journey/list-runs.ts';
import { type InDoubt, inDoubt } from '../journey/look.ts';
import { revokeCapability } from '../journey/revoke.ts';
import * as settling from '../journey/settle.ts';
import { goingRun, stop } from '../journey/stop.ts';
import { limits } from '../limits.ts';
import { executing } from './execute.ts';
import {
  askedId,
  digest,
  goal,
  id,
  name,
  page,
  pageEnd,
  recorded,
  runRecord,
  searched,
  time,
  why,
} from './parts.ts';
import { CAPABILITY_WORDS, RUN_WORDS } from './statuses.ts';
import { act, nothing, read } from './verb.ts';

export const begun = once(() =>
  z.strictObject({
    execution_id: id,
    intent_id: id,
    tool: name,
    since: time,
    host: z.string(),
    pid: z.int(),
    /** What this machine sees of it. `alive`: its process, or something that it started, is at work. `killed`: it was ended half way. */
    state: z.enum(['alive', 'dead', 'other-host', 'killed']),
    /** As lists say it: `running` while its process works on it, on any host. What outlived that process is `alive`, and `IN DOUBT`. */
    status_word: z.enum(RUN_WORDS),
  }),
);

export function begunOf({ state, run, life, status_word }: InDoubt) {
  return {
    execution_id: run.execution_id,
    intent_id: state.intent_id,
    tool: state.tool,
    since: run.claimed_at,
    host: run.executor.host,
    pid: run.executor.pid,
    state: state.status === 'partial' ? ('killed' as const) : life,
    status_word,
  };
}

/** What the lists of runs and of capabilities can be of. */
const found = {
  intent_id: askedId.optional(),
  tool: z.string().optional(),
  proposer: z.string().optional(),
  /** A part of the goal, the tool or the proposer, in any case. */
  text: searched,
};
/** What they tell of the intent. */
const of = { intent_id: id, proposer: name, goal };

/** What was ordered, what ran, and what a human settles afterwards. */
export const runs = {
  ...executing,

  inDoubt: read({
    open_to: 'people',
    about:
      'Runs that started and whose end is not recorded, or that were killed half way: those that go on, and those in doubt.',
    input: nothing,
    output: () => z.strictObject({ runs: z.array(begun()) }),
    run: async ({ context }) => ({ runs: (await inDoubt(context)).map(begunOf) }),
  }),

  going: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND'],
    about: 'The run that a stop would end. Refused where there is none, or where a stop could not end it.',
    input: () =>
      z.strictObject({
        /** Its id or that of its intent, or the first characters of one; without it the only run that goes on. */
        run: z.string().max(limits.name_chars).optional(),
      }),
    output: begun,
    run: async ({ context }, { run = null }) => begunOf(await goingRun(context, run)),
  }),

  stop: act({
    open_to: 'people',
    about:
      'End a run that goes on, on this host or another. A tool is killed, a plan is rolled back; `waitFor` tells when.',
    input: () => z.strictObject({ execution_id: z.string(), reason: z.string() }),
    output: () => z.strictObject({ execution_id: id, intent_id: id, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await stop(context, request);
      return { execution_id: body.execution_id, intent_id: subject, by: body.by, reason: body.reason };
    },
  }),

  list: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND'],
    about: 'List runs, newest first, in pages.',
    input: () =>
      z.strictObject({
        status_word: z.enum(RUN_WORDS).optional(),
        ...found,
        /** The name or the public key of the executor that claimed it. */
        executor: z.string().optional(),
        ...page,
      }),
    output: () =>
      z.strictObject({
        runs: z
          .array(
            runRecord
              .extend({
                ...of,
                /** Where its intent stood after it: a later attempt does not change that. */
                status_word: z.enum(RUN_WORDS),
                /** What the executor is called now; null where none has its key. */
                executor_name: name.nullable(),
              })
              .readonly(),
          )
          .readonly(),
        ...pageEnd,
      }),
    run: async ({ context }, request) => {
      const { found, ...end } = await listRuns(context, request);
      return { runs: found, ...end };
    },
  }),

  capabilities: read({
    open_to: 'people',
    refuses: ['INTENT_NOT_FOUND'],
    about: 'List orders and the capabilities that were issued for them, newest first, in pages.',
    input: () =>
      z.strictObject({
        status_word: z.enum(CAPABILITY_WORDS).optional(),
        ...found,
        /** Who ordered it. */
        by: z.string().optional(),
        ...page,
      }),
    output: () =>
      z.strictObject({
        capabilities: z
          .array(
            recorded
              .extend({
                ...of,
                tool: name,
                /** The status as it is now: what was not issued or used in time has lapsed, or expired. */
                status_word: z.enum(CAPABILITY_WORDS),
              })
              .readonly(),
          )
          .readonly(),
        ...pageEnd,
      }),
    run: async ({ context }, request) => {
      const { found, ...end } = await listCapabilities(context, request);
      return { capabilities: found, ...end };
    },
  }),

  capability: read({
    open_to: 'people',
    about: 'Which intent a capability was ordered for; null where there is none of this id.',
    input: () => z.strictObject({ capability_id: z.string() }),
    output: () =>
      z.strictObject({ capability: z.strictObject({ capability_id: id, intent_id: id }).nullable() }),
    run: async ({ context }, { capability_id }) => {
      const found = await context.store.find('capability', capability_id);
      return { capability: found && { capability_id, intent_id: found.intent_id } };
    },
  }),

  revokeCapability: act({
    open_to: 'people',
    about: 'Take a capability back. A run that uses it is stopped.',
    input: () => z.strictObject({ capability_id: z.string(), reason: z.string() }),
    output: () => z.strictObject({ capability_id: id, intent_id: id, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await revokeCapability(context, request);
      return { capability_id: body.capability_id, intent_id: subject, by: body.by, reason: body.reason };
    },
  }),

  breakGlass: act({
    open_to: 'people',
    about: 'One of two humans goes past a freeze, and past what the policies forbid, for one attempt.',
    input: () => z.strictObject({ intent_id: z.string(), hash: z.string(), reason: z.string() }),
    output: () =>
      z.strictObject({
        intent_id: id,
        hash: digest,
        attempt: z.int(),
        /** Who has broken it so far. */
        humans: z.array(name),
        broken: z.boolean(),
        ...why,
      }),
    run: async ({ context }, request) => {
      const { subject, body } = await breakGlass(context, request);
      const { break_glass } = await requireIntent(context, subject);
      const humans = [...new Set(break_glass.map((one) => one.by))].sort();
      const { hash, attempt, by, reason } = body;
      return { intent_id: subject, hash, attempt, humans, broken: humans.length >= 2, by, reason };
    },
  }),

  retry: act({
    open_to: 'people',
    about: 'Authorise exactly one new attempt after a failure.',
    input: () =>
      z.strictObject({
        intent_id: z.string(),
        reason: z.string(),
        /** Another tool that the intent names, instead of the one that failed. */
        alternate: z.string().optional(),
      }),
    output: () => z.strictObject({ intent_id: id, hash: digest, attempt: z.int(), tool: name, ...why }),
    run: async ({ context }, request) => {
      const { subject, body } = await settling.retry(context, request);
      const { hash, attempt, tool, by, reason } = body;
      return { intent_id: subject, hash, attempt, tool, by, reason };
    },
  }),

  resolve: act({
    open_to: 'people',
    about: 'Settle a run in doubt by a human’s word.',
    input: () =>
      z.strictObject({
        execution_id: z.string(),
        outcome: z.enum(['happened', 'did_not_happen']),
        reason: z.string(),
        /** A human’s word for a run whose host this machine cannot see. */
        host_is_dead: z.boolean().optional(),
      }),
    output: () =>
      z.strictObject({
        execution_id: id,
        intent_id: id,
        outcome: z.enum(['happened', 'did_not_happen']),
        ...why,
      }),
    run: async ({ context }, request) => {
      const { subject, body } = await settling.resolve(context, request);
      const { execution_id, outcome, by, reason } = body;
      return { execution_id, intent_id: subject, outcome, by, reason };
    },
  }),

  replay: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND', 'OBJECT_MISSING'],
    about: 'Make every decision on the way to an execution again. One that differs is refused.',
    input: () => z.strictObject({ execution_id: z.string() }),
    output: () =>
      z.strictObject({
        execution_id: id,
        intent_id: id,
        steps: z
          .array(z.strictObject({ seq: z.int(), what: z.string(), outcome: z.string() }).readonly())
          .readonly(),
      }),
    run: async ({ context }, { execution_id }) =>
      (await import('../journey/replay.ts')).replay(context, execution_id),
  }),
};
