import * as z from 'zod';
import { once } from '../canonical/once.ts';
import type { Holder } from '../capability/proof.ts';
import type { OnOutput } from '../effect/child.ts';
import { cancelRun } from '../journey/cancel.ts';
import type { Progress } from '../journey/derived.ts';
import { liveOutput, liveStep } from '../journey/live.ts';
import type { Presented } from '../journey/present.ts';
import type { LookRequest } from '../journey/ready.ts';
import type { Report } from '../journey/record.ts';
import { outputOf, recordedEnd } from '../journey/result.ts';
import { look, type Preview, preview, run } from '../journey/run.ts';
import { liveProgress } from '../journey/run-words.ts';
import { limits } from '../limits.ts';
import { printedText } from '../story/tell.ts';
import { intentNow } from './decide.ts';
import { effect } from './effect.ts';
import { capabilityScope, conditions } from './order.ts';
import {
  askedHash,
  askedId,
  digest,
  id,
  intent,
  name,
  output,
  publicKey,
  reasonCode,
  time,
} from './parts.ts';
import { shown } from './shown.ts';
import { here, type OpenProject, read, write } from './verb.ts';

const meant = {
  intent_id: askedId,
  hash: askedHash,
  /** The text of one from elsewhere, such as one that was made narrower; without it the one that was ordered here. */
  capability: z.string().optional(),
};

/** The key of who a capability is bound to. */
type Held = { readonly holder_key?: Holder | undefined };

type Watched = Held & {
  readonly abort?: AbortSignal | undefined;
  readonly isWanted?: (() => boolean) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onClaimed?: ((execution_id: string) => void) | undefined;
  readonly onOutput?: OnOutput | undefined;
  readonly onRecorded?: (() => void) | undefined;
  readonly or_elsewhere?: boolean | undefined;
};

const looked = once(() =>
  z
    .strictObject({
      intent,
      effect: effect(),
      /** Confined as the capability confines it. */
      shown,
      /** What allows the run. */
      capability: z.strictObject({
        capability_id: id,
        by: name,
        scope: capabilityScope,
        conditions,
        holder: publicKey.nullable(),
        expires_at: time,
        /** How many times it was made narrower. */
        depth: z.int(),
        /** Two humans went past the policies, or past a freeze. */
        break_glass: z.boolean(),
      }),
      /** For `run`: that this is what was shown. */
      seen: digest,
    })
    .meta({ id: 'preview' }),
);

const report = once(() =>
  z
    .strictObject({
      execution_id: id,
      intent_id: id,
      capability_id: id,
      tool: name,
      result: z.enum(['success', 'failure', 'partial', 'rolled_back']),
      /** Why it is no success. */
      reason_code: reasonCode.nullable(),
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      started_at: time,
      finished_at: time,
      /** As text: what is not UTF-8 is replaced. Of a plan, its report as JSON. */
      stdout: z.string(),
      stderr: z.string(),
      /** How many bytes it printed beyond what is kept. */
      left_out: z.strictObject({ stdout: z.int(), stderr: z.int() }),
      /** Where the reports of a plan are; `null` for a tool. */
      folder: z.string().nullable(),
      /** Why not all of them are there; `plans.report` makes them again. */
      reports_missing: reasonCode.nullable(),
    })
    .meta({ id: 'report' }),
);

/** A run: what it would do, doing it, and what it printed. */
export const executing = {
  look: write({
    open_to: 'people',
    about: 'What a run would do, looked at as a run would. What it refuses is recorded, as an attempt.',
    input: () => z.strictObject(meant),
    output: looked,
    here: here<Held>('holder_key'),
    run: async ({ context }, asked) => previewOf(context, await look(context, lookOf(asked))),
  }),

  preview: read({
    open_to: 'people',
    about: 'The same, and nothing is recorded.',
    input: () => z.strictObject(meant),
    output: looked,
    here: here<Held>('holder_key'),
    run: async ({ context }, asked) => previewOf(context, await preview(context, lookOf(asked))),
  }),

  run: write({
    open_to: 'people',
    about: 'Run it here, once, and record how it ended.',
    input: () =>
      z.strictObject({
        ...meant,
        /** What `look`, `intents.turn` or `intents.grant` answered. Asking with it is the yes: there is no default. */
        seen: z.string(),
      }),
    output: report,
    here: here<Watched>(
      'holder_key',
      'abort',
      'isWanted',
      'onProgress',
      'onClaimed',
      'onOutput',
      'onRecorded',
      'or_elsewhere',
    ),
    run: async ({ context }, { capability, holder_key, ...asked }) => {
      const presented = presentedBy({ capability, holder_key });
      const { reports: _, ...ended } = await run(context, { capability: presented, ...asked });
      return reportOf(ended);
    },
  }),

  output: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND'],
    about: 'What a run printed, as text; or why that is not there. Empty while it runs.',
    input: () => z.strictObject({ execution_id: askedId }),
    output: () => output,
    run: ({ context }, { execution_id }) => outputOf(context, execution_id),
  }),

  report: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND'],
    about: 'How a run ended, as `run` tells it where it runs, for a run of any executor. From the record.',
    input: () => z.strictObject({ execution_id: askedId }),
    output: () =>
      z.strictObject({
        /** `null` while its end is not recorded. Why reports of a plan are missing, only its host knows: `plans.missingReports`. */
        run: report().nullable(),
      }),
    run: async ({ context }, { execution_id }) => {
      const end = await recordedEnd(context, execution_id);
      return { run: end && reportOf({ ...end, reports_missing: null }) };
    },
  }),

  live: read({
    open_to: 'people',
    refuses: ['EXECUTION_NOT_FOUND'],
    about:
      'What a run prints and which steps of a plan it has come to, while it goes on. Ask again with the positions of the last answer; it is no part of any proof.',
    input: () =>
      z.strictObject({
        execution_id: askedId,
        /** From where on: `next` of the last answer. */
        stdout_after: position,
        stderr_after: position,
        /** How many steps are known: `steps_next` of the last answer. */
        steps_after: position,
        wait_ms: waiting(),
      }),
    output: () =>
      z.strictObject({
        execution_id: id,
        intent_id: id,
        /** `lost`: its process is gone, and nothing says how it ended. `ended`: it is recorded; ask on while there is more. */
        state: z.enum(['going', 'lost', 'ended']),
        /**
         * Where this comes from: what the run has printed so far on this host; the record; nowhere, because it goes on at another host and is
         * seen once it is recorded; nowhere, because what was recorded is not stored any more.
         */
        source: z.enum(['live', 'record', 'other host', 'gone']),
        stdout: livePart(),
        stderr: livePart(),
        /** Of a plan, while it goes on. Its report has all of them. */
        steps: z.array(liveStep).readonly(),
        steps_next: z.int(),
      }),
    here: here<{ readonly signal?: AbortSignal | undefined }>('signal'),
    run: async ({ context }, request) => {
      const { progress: _, ...told } = await liveOutput(context, request);
      return told;
    },
  }),

  cancel: write({
    open_to: 'proposer',
    refuses: ['EXECUTION_NOT_FOUND'],
    about:
      'Ask the process that runs a call to stop it, on any host that shares the ledger. Nothing is recorded but how the run ended; `stop` is the act of a human.',
    input: () => z.strictObject({ execution_id: askedId }),
    output: () =>
      z.strictObject({ /** False where it is over, or nothing here reaches its host. */ asked: z.boolean() }),
    run: async ({ context }, { execution_id }) => ({ asked: await cancelRun(context, execution_id) }),
  }),

  progress: read({
    open_to: 'proposer',
    refuses: ['EXECUTION_NOT_FOUND'],
    about:
      'How far the call of an MCP server has come while it goes on, in numbers, as its server says. It is no part of any proof.',
    input: () =>
      z.strictObject({
        execution_id: askedId,
        /** Which progress is known: that of the last answer. */
        progress_after: z.number().optional(),
        wait_ms: waiting(),
      }),
    output: () =>
      z.strictObject({
        /** As in `live`. */
        state: z.enum(['going', 'lost', 'ended']),
        progress: liveProgress.nullable(),
      }),
    here: here<{ readonly signal?: AbortSignal | undefined }>('signal'),
    run: async ({ context }, request) => {
      // What else is told of the run is no news here.
      const beyond = Number.MAX_SAFE_INTEGER;
      const others = { stdout_after: beyond, stderr_after: beyond, steps_after: beyond };
      const { state, progress } = await liveOutput(context, { ...request, ...others });
      return { state, progress };
    },
  }),
};

const position = z.int().min(0).default(0);

/** How long to wait for something new. */
const waiting = once(() =>
  z
    .int()
    .min(0)
    .max(limits.live_wait_s * 1000)
    .default(0),
);

const livePart = once(() =>
  z
    .strictObject({
      /** Without secrets. Lines are kept; other characters that are not seen, or that steer a terminal, are written as escapes. */
      text: z.string(),
      /** Bytes of the stream up to here. */
      next: z.int(),
      /** How many bytes it printed beyond what is kept; while it goes on, as it was last counted. */
      dropped: z.int(),
      /** There is more at once. */
      has_more: z.boolean(),
    })
    .readonly()
    .meta({ id: 'live-part' }),
);

type Asked = Pick<LookRequest, 'intent_id' | 'hash'> & Held & { readonly capability?: string | undefined };

function lookOf({ intent_id, hash, ...presented }: Asked): LookRequest {
  return { intent_id, hash, capability: presentedBy(presented) };
}

type Presenting = Pick<Asked, 'capability' | 'holder_key'>;

function presentedBy({ capability: text, holder_key: holder }: Presenting): Presented {
  return { ...(text !== undefined && { text }), ...(holder && { holder }) };
}

async function previewOf(
  context: OpenProject['context'],
  { state, effect, shown, seen, capability }: Preview,
): Promise<z.output<ReturnType<typeof looked>>> {
  const { recorded, held } = capability;
  const { scope, conditions, holder, expires_at } = held.claims;
  const { capability_id, by, issued } = recorded;
  const allows = {
    scope,
    conditions,
    holder,
    expires_at,
    depth: held.depth,
    break_glass: issued.break_glass,
  };
  const intent = await intentNow(context, state);
  return { intent, effect, shown, capability: { capability_id, by, ...allows }, seen };
}

type Printed = Readonly<Record<'stdout' | 'stderr', { readonly bytes: Uint8Array; readonly total: number }>>;
type Ended = Omit<Report, 'reports' | keyof Printed> & Printed;

function reportOf({ stdout, stderr, ...ended }: Ended): z.output<ReturnType<typeof report>> {
  return {
    ...ended,
    stdout: printedText(stdout.bytes),
    stderr: printedText(stderr.bytes),
    left_out: { stdout: stdout.total - stdout.bytes.length, stderr: stderr.total - stderr.bytes.length },
  };
}
