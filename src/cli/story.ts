import { visible } from '../canonical/visible.ts';
import {
  type Absence,
  type Entry,
  type IntentState,
  isAbsent,
  Keyturn,
  type Shown,
  type Story,
  type Told,
} from '../keyturn.ts';
import { indented } from '../lane/visible.ts';
import { refuse } from '../refusal.ts';
import { stdoutPainter } from './paint.ts';
import type { Result } from './schema.ts';
import { askedBy, reviewScreen, stdoutLook } from './screen.ts';
import { painted, standingOf } from './standing.ts';
import { fields } from './table.ts';

/** What the last run printed, where it is to be shown. */
export interface Printed {
  readonly stdout: Uint8Array | Absence;
  readonly stderr: Uint8Array | Absence;
}

/** How a story is shown, from whatever it was told. */
export interface View {
  readonly now: Date;
  /** The effect, for a plan that has not run with every change as a diff; null where it is not there. */
  readonly shown: Shown | null;
  readonly alternates: readonly Shown[];
  readonly printed: Printed | null;
  /** Reports of finished runs that are not in the project. */
  readonly reports_missing: readonly { readonly execution_id: string; readonly names: readonly string[] }[];
}

export function storyResult({ intent, asked, told, outputs, changes }: Story, view: View): Result<'show'> {
  const { printed, now } = view;
  return {
    intent: { ...intent, standing: standingOf(intent, now) },
    envelope: isAbsent(asked) ? null : asked.envelope,
    effect: isAbsent(asked) ? null : ({ ...asked.effect } as never),
    shown: view.shown,
    alternates: view.alternates,
    story: [...told],
    changes: changes && [...changes],
    outputs: [...outputs],
    reports_missing: view.reports_missing.map(({ execution_id, names }) => ({
      execution_id,
      names: [...names],
    })),
    output: printed && { stdout: textOf(printed.stdout), stderr: textOf(printed.stderr) },
  };
}

export function storyLines(story: Story, view: View): string[] {
  return [
    ...intentLines(story, view),
    ...changeLines(story),
    ...historyLines(story),
    ...view.reports_missing.map(
      ({ execution_id, names }) =>
        `Missing reports: ${names.join(', ')}. Make them again: keyturn plan report ${execution_id}`,
    ),
    'Story:',
    ...story.told.flatMap(({ seq, at, words, decision }) => [
      `  ${seq}  ${at}  ${visible(words)}`,
      ...decisionLines(decision, '     '),
    ]),
    ...outputLines(view.printed),
  ];
}

const ABSENT: Readonly<Record<Extract<Absence, string>, string>> = {
  erased: 'was erased. The ledger still holds its digests.',
  missing: 'is gone, and no entry says that it was removed.',
  'left out': 'is not in this file, which has no objects: ask for one that was written --with-objects.',
};

function whyAbsent(absence: Absence): string {
  if (typeof absence === 'string') return ABSENT[absence];
  const { at, by } = absence.expired;
  return `was removed by gc on ${at} by ${by}. The ledger still holds its digests.`;
}

function intentLines({ intent, asked }: Story, { now, shown, alternates }: View): string[] {
  const look = stdoutLook(now);
  if (!isAbsent(asked) && shown !== null) {
    const seen = { state: intent, envelope: asked.envelope, shown, alternates };
    return [...reviewScreen(seen, look), `Effect digest: ${intent.effect_digest}`];
  }
  const { paint } = look;
  return [
    ...fields([
      ['Intent', paint('bold', intent.intent_id)],
      ['Hash', intent.hash],
      ['Status', painted(standingOf(intent, now), paint)],
      ['Asked by', askedBy(intent)],
      ['Tool', intent.tool],
      ['Effect digest', intent.effect_digest],
    ]),
    `What was asked for ${whyAbsent(isAbsent(asked) ? asked : 'missing')}`,
  ];
}

/** An effect from a file is what its digest says, and its digest may be of anything: no shape of it is relied on. */
export function shownFromFile({ asked }: Story): Shown | null {
  if (isAbsent(asked)) return null;
  try {
    return Keyturn.showEffect(asked.effect as never);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse('SHAPE_INVALID', 'The effect is none that this version of Keyturn can show.');
  }
}

function changeLines({ intent, changes }: Story): string[] {
  if (changes === null) return [`What changed since ${intent.replaces} is not in this file.`];
  return changes.map((line) => `Changed: ${line}`);
}

function historyLines({ intent, outputs }: Story): string[] {
  const { approvals, capabilities, runs, rollback } = intent;
  return [
    ...approvals.map(
      ({ by, signed_at, expires_at }) => `Approved by ${by} at ${signed_at}, until ${expires_at}`,
    ),
    ...capabilities.map(
      ({ capability_id, by, expires_at, status }) =>
        `Capability ${capability_id} granted by ${by}, until ${expires_at}: ${status}`,
    ),
    ...runs.flatMap((run) => runLines(run, outputs)),
    ...(rollback
      ? [
          `Rolled back by ${rollback.by} at ${rollback.claimed_at}: ${rollback.result ?? 'NO END IS RECORDED'}`,
        ]
      : []),
  ];
}

function runLines(run: IntentState['runs'][number], outputs: Story['outputs']): string[] {
  const { execution_id, claimed_at, result, exit_code, executor, expired_at } = run;
  const kept = outputs.find((output) => output.execution_id === execution_id);
  return [
    `Run ${execution_id} at ${claimed_at} on ${visible(executor.host)}: ${result ?? 'NO END IS RECORDED'}`,
    ...(exit_code === null ? [] : [`  exit code ${exit_code}`]),
    ...(expired_at === null ? [] : [`  EXPIRED at ${expired_at}: its backups were given up`]),
    ...(kept ? [`  stdout ${kept.stdout ?? 'empty'}`, `  stderr ${kept.stderr ?? 'empty'}`] : []),
  ];
}

function outputLines(printed: Printed | null): string[] {
  if (!printed) return [];
  const shown = (bytes: Uint8Array | Absence) =>
    isAbsent(bytes) ? [`  It ${whyAbsent(bytes).split('. ')[0]!.replace(/\.$/, '')}.`] : indented(bytes);
  return ['Tool output:', ...shown(printed.stdout), 'Error output:', ...shown(printed.stderr)];
}

function textOf(bytes: Uint8Array | Absence): string | null {
  return isAbsent(bytes) ? null : Buffer.from(bytes).toString('utf8');
}

/** The entry as it is, and then in words. */
export function entryLines(
  { seq, at, kind, subject }: Entry,
  { words, decision }: Told,
  body: string,
): string[] {
  const paint = stdoutPainter();
  return [
    `${seq}  ${at}  ${paint('bold', kind)}  ${visible(subject)}`,
    `   ${visible(words)}`,
    ...decisionLines(decision, '   '),
    `   ${paint('dim', visible(body))}`,
  ];
}

function decisionLines(decision: Told['decision'], indent: string): string[] {
  if (decision === null) return [];
  return [`${indent}policies ${decision.snapshot.slice(0, 12)}: ${visible(decision.words)}`];
}
