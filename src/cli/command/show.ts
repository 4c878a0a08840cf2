import { visible } from '../../canonical/visible.ts';
import type { Entry, IntentState, Keyturn, Review } from '../../keyturn.ts';
import { indented } from '../../lane/visible.ts';
import { Refusal } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { changesBetween } from '../changes.ts';
import { requireId } from '../operand.ts';
import { reading } from '../project.ts';
import type { Result } from '../schema.ts';
import { askedBy, reviewScreen, stdoutLook } from '../screen.ts';
import { painted, standingOf } from '../standing.ts';
import { storyLines, storyOf } from '../story.ts';
import { fields } from '../table.ts';

export function show(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  return reading(call, async (keyturn) => {
    const now = new Date();
    const state = await keyturn.intent(intent_id);
    const seen = await unlessErased(() => keyturn.review(intent_id));
    const entries = await keyturn.story(intent_id);
    const outputs = outputsOf(entries);
    const story = await storyOf(keyturn, entries);
    const changes = await changesOf(keyturn, state, seen);
    const output = call.options.output ? await lastOutput(keyturn, outputs) : null;
    const result: Result<'show'> = {
      intent: { ...state, standing: standingOf(state, now) },
      envelope: seen?.envelope ?? null,
      effect: seen ? { ...seen.effect } : null,
      story,
      changes,
      outputs,
      output: output && { stdout: textOf(output.stdout), stderr: textOf(output.stderr) },
    };
    const lines = [
      ...intentLines(state, seen, now),
      ...changes.map((line) => `Changed: ${line}`),
      ...historyLines(state, outputs),
      'Story:',
      ...storyLines(story),
      ...outputLines(output),
    ];
    return { result, lines };
  });
}

/** What is asked for differently than in the intent that this one replaces. */
async function changesOf(
  keyturn: Keyturn,
  { replaces }: IntentState,
  seen: Review | null,
): Promise<string[]> {
  if (replaces === null) return [];
  const before = await unlessErased(() => keyturn.review(replaces));
  return before && seen ? changesBetween(before.envelope, seen.envelope) : ['one of the two was erased'];
}

/** The words may be gone; what the ledger says about them is not. */
async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refusal && error.code === 'OBJECT_MISSING') return null;
    throw error;
  }
}

function intentLines(state: IntentState, seen: Review | null, now: Date): string[] {
  const look = stdoutLook(now);
  if (seen) return [...reviewScreen(seen, look), `Effect digest: ${state.effect_digest}`];
  const { paint } = look;
  return [
    ...fields([
      ['Intent', paint('bold', state.intent_id)],
      ['Hash', state.hash],
      ['Status', painted(standingOf(state, now), paint)],
      ['Asked by', askedBy(state)],
      ['Tool', state.tool],
      ['Effect digest', state.effect_digest],
    ]),
    'What was asked for was erased. The ledger still holds its digests.',
  ];
}

interface Output {
  readonly execution_id: string;
  /** `null` where nothing was printed. */
  readonly stdout: string | null;
  readonly stderr: string | null;
}

/** Which outputs each run left behind, by digest. */
function outputsOf(story: readonly Entry[]): Output[] {
  return story.flatMap(({ kind, body }) => {
    if (kind !== 'execution.finished') return [];
    const finished = body as unknown as {
      execution_id: string;
      stdout: { digest: string | null };
      stderr: { digest: string | null };
    };
    const { execution_id, stdout, stderr } = finished;
    return [{ execution_id, stdout: stdout.digest, stderr: stderr.digest }];
  });
}

function historyLines(
  { approvals, capabilities, runs, rollback }: IntentState,
  outputs: readonly Output[],
): string[] {
  return [
    ...approvals.map(
      ({ by, signed_at, expires_at }) => `Approved by ${by} at ${signed_at}, until ${expires_at}`,
    ),
    ...capabilities.map(
      ({ capability_id, by, expires_at, status }) =>
        `Capability ${capability_id} granted by ${by}, until ${expires_at}: ${status}`,
    ),
    ...runs.flatMap(({ execution_id, claimed_at, result, exit_code, executor }) => {
      const kept = outputs.find((output) => output.execution_id === execution_id);
      return [
        `Run ${execution_id} at ${claimed_at} on ${visible(executor.host)}: ${result ?? 'NO END IS RECORDED'}`,
        ...(exit_code === null ? [] : [`  exit code ${exit_code}`]),
        ...(kept ? [`  stdout ${kept.stdout ?? 'empty'}`, `  stderr ${kept.stderr ?? 'empty'}`] : []),
      ];
    }),
    ...(rollback
      ? [
          `Rolled back by ${rollback.by} at ${rollback.claimed_at}: ${rollback.result ?? 'NO END IS RECORDED'}`,
        ]
      : []),
  ];
}

interface LastOutput {
  readonly stdout: Uint8Array | null;
  readonly stderr: Uint8Array | null;
}

async function lastOutput(keyturn: Keyturn, outputs: readonly Output[]): Promise<LastOutput | null> {
  const last = outputs.at(-1);
  if (!last) return null;
  const read = (digest: string | null) =>
    digest === null ? Buffer.alloc(0) : unlessErased(() => keyturn.output(digest));
  return { stdout: await read(last.stdout), stderr: await read(last.stderr) };
}

function outputLines(output: LastOutput | null): string[] {
  if (!output) return [];
  const shown = (bytes: Uint8Array | null) => (bytes ? indented(bytes) : ['  It was erased.']);
  return ['Tool output:', ...shown(output.stdout), 'Error output:', ...shown(output.stderr)];
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes && Buffer.from(bytes).toString('utf8');
}
