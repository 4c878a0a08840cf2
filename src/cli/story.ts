import { codeOf } from '../canonical/code.ts';
import { canonicalText } from '../canonical/json.ts';
import { visible } from '../canonical/visible.ts';
import { isUnserved, type Result } from '../keyturn.ts';
import { indented } from '../lane/visible.ts';
import { stdoutPainter } from './paint.ts';
import { askedBy, reviewScreen, stdoutLook } from './screen.ts';
import { painted } from './status-word.ts';
import { fields } from './table.ts';

type Story = Result<'intents.story'>;
type Absence = NonNullable<Story['absent']>;
type Decision = Story['story'][number]['decision'];

export function storyLines(story: Story, now: Date): string[] {
  return [
    ...intentLines(story, now),
    ...changeLines(story),
    ...historyLines(story),
    ...(story.signers_known ? [] : ['Who may sign is not in this file: which approvals count is not known.']),
    ...undoneLines(story),
    ...waitLines(story),
    ...story.reports_missing.map(
      ({ execution_id, names }) =>
        `Missing reports: ${names.join(', ')}. Make them again: keyturn plan report ${execution_id}`,
    ),
    'Story:',
    ...story.story.flatMap(({ seq, at, words, decision }) => [
      `  ${seq}  ${at}  ${visible(words)}`,
      ...decisionLines(decision, '     '),
    ]),
    ...outputLines(story),
  ];
}

const ABSENT: Readonly<Record<Extract<Absence, string>, string>> = {
  erased: 'was erased. The ledger still holds its digests.',
  missing: 'is gone, and no entry says that it was removed.',
  'left out': 'is not in this file, which has no objects: ask for one that was written --with-objects.',
};

function whyAbsent(absence: Absence): string {
  if (typeof absence === 'string') return ABSENT[absence];
  const { at, by, archive } = absence.expired;
  const where = archive ? ` It is in the archive ${visible(archive.file)} (sha256 ${archive.sha256}).` : '';
  return `was removed by gc on ${at} by ${by}. The ledger still holds its digests.${where}`;
}

function intentLines({ intent, envelope, absent, shown, alternates, frozen }: Story, now: Date): string[] {
  const look = stdoutLook(now);
  if (envelope !== null && shown !== null) {
    const seen = { intent, envelope, shown, alternates, frozen };
    return [...reviewScreen(seen, look), `Effect digest: ${look.paint('dim', intent.effect_digest)}`];
  }
  const { paint } = look;
  return [
    ...fields([
      ['Tool', intent.tool],
      ['Asked by', askedBy(intent)],
      ['Status', painted(intent.status_word, paint)],
      ['Effect digest', intent.effect_digest],
      ['Intent', intent.intent_id],
      ['Hash', paint('dim', intent.hash)],
      ['Code', codeOf(intent.hash)],
    ]),
    `What was asked for ${whyAbsent(absent ?? 'missing')}`,
  ];
}

function undoneLines({ undone_by }: Story): string[] {
  if (undone_by === null) return [];
  const { intent_id, is_done } = undone_by;
  return [`${is_done ? 'Undone' : 'Its undo is not over: to be undone'} by ${intent_id}`];
}

function waitLines({ waits_for }: Story): string[] {
  if (!isUnserved(waits_for)) return [];
  return [`ORDERED, BUT NO EXECUTOR CALLED ${visible(waits_for.executor)} IS RUNNING: the order will lapse`];
}

function changeLines({ intent, changes }: Story): string[] {
  if (changes === null) return [`What changed since ${intent.replaces} is not in this file.`];
  return changes.map((line) => `Changed: ${line}`);
}

function historyLines({ intent, outputs, capability_words, run_words }: Story): string[] {
  const { approvals, capabilities, runs, rollback } = intent;
  const paint = stdoutPainter();
  const became = (word: Parameters<typeof painted>[0] | undefined) =>
    word === undefined ? 'not known' : painted(word, paint);
  const orderNow = (id: string) => capability_words.find((one) => one.capability_id === id)?.status_word;
  const runNow = (id: string) => run_words.find((one) => one.execution_id === id)?.status_word;
  return [
    ...approvals.map(
      ({ by, signed_at, expires_at }) => `Approved by ${by} at ${signed_at}, until ${expires_at}`,
    ),
    ...capabilities.map(
      ({ capability_id: id, by, ordered_at }) =>
        `Run ordered by ${by} at ${ordered_at}, capability ${id}: ${became(orderNow(id))}`,
    ),
    ...runs.flatMap((run) => runLines(run, outputs, became(runNow(run.execution_id)))),
    ...(rollback
      ? [
          `Rolled back by ${rollback.by} at ${rollback.claimed_at}: ${rollback.result ?? 'no end of it is recorded'}`,
        ]
      : []),
  ];
}

type Intent = Story['intent'];

function runLines(run: Intent['runs'][number], outputs: Story['outputs'], became: string): string[] {
  const { execution_id, claimed_at, exit_code, executor, expired_at } = run;
  const kept = outputs.find((output) => output.execution_id === execution_id);
  return [
    `Run ${execution_id} at ${claimed_at} on ${visible(executor.host)}: ${became}`,
    ...(exit_code === null ? [] : [`  exit code ${exit_code}`]),
    ...(expired_at === null ? [] : [`  EXPIRED at ${expired_at}: its backups were given up`]),
    ...(kept ? [`  stdout ${kept.stdout ?? 'empty'}`, `  stderr ${kept.stderr ?? 'empty'}`] : []),
  ];
}

function outputLines({ output, intent }: Story): string[] {
  if (!output) return [];
  const shown = (stream: 'stdout' | 'stderr') =>
    'absent' in output
      ? [`  It ${whyAbsent(output.absent).split('. ')[0]!.replace(/\.$/, '')}.`]
      : indented(Buffer.from(output[stream]));
  // What a server answers may speak to the person who reads it.
  if (intent.effect === 'mcp') return ['Answer, IN THE WORDS OF THE SERVER:', ...shown('stdout')];
  return ['Tool output:', ...shown('stdout'), 'Error output:', ...shown('stderr')];
}

/** The entry as it is, and then in words. */
export function entryLines(entry: Result<'ledger.entries'>['entries'][number]): string[] {
  const { seq, at, kind, subject, body, words, decision = null } = entry;
  const paint = stdoutPainter();
  return [
    `${seq}  ${at}  ${paint('bold', kind)}  ${visible(subject)}`,
    `   ${visible(words)}`,
    ...decisionLines(decision, '   '),
    `   ${paint('dim', visible(canonicalText(body)))}`,
  ];
}

function decisionLines(decision: Decision, indent: string): string[] {
  if (decision === null) return [];
  return [`${indent}policies ${decision.snapshot.slice(0, 12)}: ${visible(decision.words)}`];
}
