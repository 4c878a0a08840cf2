import { visible } from '../../canonical/visible.ts';
import { type Keyturn, parseDuration } from '../../keyturn.ts';
import { explain, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { unlock, whoActs } from '../human.ts';
import { showAll } from '../pager.ts';
import { reading, writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

type Policy = Parameters<Keyturn['previewGc']>[0];
type Preview = Awaited<ReturnType<Keyturn['previewGc']>>;
type Run = Preview['removes'][number];
type Outcome = Awaited<ReturnType<Keyturn['gc']>>[number];

/** Lists what would go, then asks the human, then removes exactly that. */
export function gc(call: Call): Promise<Answer> {
  const policy = policyOf(call.options);
  const { preview, reason, as } = call.options;
  if (preview)
    return reading(call, async (keyturn) => {
      const found = await keyturn.previewGc(policy);
      return { result: resultOf(found, null, null), lines: previewLines(found), is_long: true };
    });
  if (reason === undefined) refuse('USAGE', 'Say why with --reason, or look first with --preview.');
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, as);
    const found = await keyturn.previewGc(policy);
    if (found.removes.length === 0)
      return { result: resultOf(found, null, null), lines: previewLines(found), is_long: true };
    const outcomes = await atTerminal((terminal) => askAndRemove(keyturn, terminal, found, name, reason));
    return answerOf(found, outcomes, name);
  });
}

function policyOf({ olderThan, keepMb, undoableToo = false }: Options): Policy {
  if (olderThan === undefined && keepMb === undefined)
    refuse('USAGE', 'Say --older-than AGE, --keep-mb N, or both.');
  if (keepMb !== undefined && !/^(0|[1-9][0-9]{0,8})$/.test(keepMb))
    refuse('USAGE', '--keep-mb is a whole number of megabytes.');
  return {
    ...(olderThan !== undefined && { older_than_s: parseDuration(olderThan) }),
    ...(keepMb !== undefined && { keep_bytes: Number(keepMb) * 1_000_000 }),
    undoable_too: undoableToo,
  };
}

async function askAndRemove(
  keyturn: Keyturn,
  terminal: Terminal,
  found: Preview,
  name: string,
  reason: string,
): Promise<Outcome[]> {
  await showAll(terminal, previewLines(found));
  if (found.removes.some(({ undoable }) => undoable)) await requireGivenUp(terminal);
  const signer = await unlock(keyturn, terminal, name);
  return keyturn.gc({ runs: found.removes, reason, signer });
}

async function requireGivenUp(terminal: Terminal): Promise<void> {
  if ((await terminal.ask('Type "no undo" to give up the undo: ')).trim() !== 'no undo')
    refuse('CONFIRMATION_DECLINED', 'Only "no undo" gives it up. Nothing was removed.');
}

function previewLines({ removes, keeps }: Preview): string[] {
  const undo = removes.filter(({ undoable }) => undoable);
  return [
    removes.length === 0
      ? 'There are no backups to remove.'
      : `Backups to remove: ${removes.length} run(s), ${bytesOf(removes)} bytes, the oldest first`,
    ...removes.map(
      (run) => `${runLine(run)}${run.begun ? ', expired before: the rest of them is removed' : ''}`,
    ),
    ...undo.map(
      ({ execution_id }) => `!!! THE UNDO IS LOST: ${execution_id} can no longer be rolled back !!!`,
    ),
    ...(keeps.length === 0 ? [] : [`Backups that stay: ${keeps.length} run(s), ${bytesOf(keeps)} bytes`]),
    ...keeps.map(
      (run) => `${runLine(run)}${run.kept === null ? '' : `: ${run.kept}. ${explain(run.kept).meaning}`}`,
    ),
    'Manifests, journals and reports of all runs stay, and so does every object in the store.',
  ];
}

function runLine({ execution_id, at, files, bytes, folder }: Run): string {
  return `  ${execution_id}, ended ${at}: ${files} file(s), ${bytes} bytes in ${visible(folder)}/backups`;
}

function bytesOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { bytes }) => sum + bytes, 0);
}

function answerOf(found: Preview, outcomes: readonly Outcome[], by: string): Answer {
  const result = resultOf(found, outcomes, by);
  const failed = outcomes.filter(({ removed }) => !removed);
  const gone = outcomes.filter(({ removed }) => removed);
  const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0);
  const lines = [
    `[${failed.length === 0 ? 'OK' : 'ERROR'}] ${by} removed the backups of ${gone.length} run(s), ${freed} bytes`,
    ...failed.map(
      ({ execution_id, expired, message }) =>
        `  ${execution_id}: ${expired ? 'expired, but not all of its backups are gone' : 'kept'}: ${visible(message ?? '')}`,
    ),
  ];
  const [first] = failed;
  if (!first) return { result, lines };
  return { result, lines, refusal: new Refusal(first.code!, first.message ?? undefined) };
}

function resultOf(
  { removes, keeps }: Preview,
  outcomes: readonly Outcome[] | null,
  by: string | null,
): Result<'gc'> {
  return { removes: [...removes], keeps: [...keeps], removed: outcomes && [...outcomes], by };
}
