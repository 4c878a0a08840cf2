import { counted } from '../../canonical/counted.ts';
import { visible } from '../../canonical/visible.ts';
import { type Keyturn, parseDuration, type Request, type Result as Verbs } from '../../keyturn.ts';
import { explain, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call, Options } from '../answer.ts';
import { type Possible, possible, signAsked, whoActs } from '../human.ts';
import { showAll } from '../pager.ts';
import { reading, writingHere } from '../project.ts';
import { requireConfirmed } from '../question.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

type Policy = Request<'system.previewGc'>;
type Preview = Verbs<'system.previewGc'>;
type Run = Preview['removes'][number];
type Outcome = Verbs<'system.gc'>;
type Objects = Preview['objects'];
type Stays = Objects['keeps'][number]['why'];

/** Lists what would go, then asks the human, then removes exactly that. */
export function gc(call: Call): Promise<Answer> {
  const policy = policyOf(call.options);
  const { preview, reason, as } = call.options;
  if (preview)
    return reading(call, async (keyturn) => {
      const found = await keyturn.system.previewGc(policy);
      return { result: found, lines: previewLines(found), is_long: true };
    });
  if (reason === undefined) refuse('USAGE', 'Say why with --reason, or look first with --preview.');
  return writingHere(call, async (keyturn) => {
    const name = await whoActs(keyturn, as);
    const found = await keyturn.system.previewGc(policy);
    if (found.removes.length + found.objects.removes.length === 0)
      return { result: found, lines: previewLines(found), is_long: true };
    const { removes: runs, objects } = found;
    const asked = await possible(keyturn, name, (signer) =>
      keyturn.system.gc({ runs, objects: objects.removes, reason, signer }),
    );
    const outcome = await atTerminal((terminal) => askAndRemove(keyturn, terminal, found, asked));
    return answerOf(outcome, name);
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
  asked: Possible<Outcome>,
): Promise<Outcome> {
  await showAll(terminal, previewLines(found));
  if (undoLostBy(found).length > 0)
    await requireConfirmed(terminal, 'Type "no undo" to give up the undo: ', {
      isAnswer: (typed) => typed === 'no undo',
      wrong: 'Only "no undo" gives it up.',
    });
  return signAsked(keyturn, terminal, asked);
}

/** Executions and conversations that can no longer be undone afterwards. */
function undoLostBy({ removes, objects }: Preview): string[] {
  const runs = removes.filter(({ undoable }) => undoable).map(({ execution_id }) => execution_id);
  return [...new Set([...runs, ...objects.removes.flatMap(({ undo }) => undo)])];
}

function previewLines(found: Preview): string[] {
  const { removes, keeps, objects } = found;
  return [
    removes.length === 0
      ? 'There are no backups to remove.'
      : `Backups to remove: ${counted(removes.length, 'run')}, ${bytesOf(removes)} bytes, the oldest first`,
    ...removes.map(
      (run) => `${runLine(run)}${run.begun ? ', expired before: the rest of them is removed' : ''}`,
    ),
    ...(keeps.length === 0
      ? []
      : [`Backups that stay: ${counted(keeps.length, 'run')}, ${bytesOf(keeps)} bytes`]),
    ...keeps.map(
      (run) => `${runLine(run)}${run.kept === null ? '' : `: ${run.kept}. ${explain(run.kept).meaning}`}`,
    ),
    ...objectLines(objects),
    ...undoLostBy(found).map(
      (one) => `!!! THE UNDO IS LOST: ${visible(one)} can no longer be rolled back !!!`,
    ),
    'Manifests, journals and reports of all runs stay. The ledger keeps the digest of every object and still verifies.',
  ];
}

const STAYS: Readonly<Record<Stays, string>> = {
  rules: 'decisions rest on them: policies, capabilities, simulations, catalogs',
  in_use: 'an intent or a conversation that is not over needs them',
  undoable: 'an undo that is still possible needs them',
  unnamed: 'no entry names them',
  damaged: 'OBJECT_CORRUPT. They are not what their digests say',
  new_or_small: 'too new, within the size, or too small to be worth an entry',
};

/** What belongs to the same intents is one line: a digest says nothing to a person, and --json has them. */
function objectLines({ removes, keeps }: Objects): string[] {
  const of = new Map<string, Objects['removes'][number][]>();
  for (const one of removes) {
    const key = one.subjects.join(' ');
    if (!of.get(key)?.push(one)) of.set(key, [one]);
  }
  return [
    removes.length === 0
      ? 'There are no objects to remove.'
      : `Objects to remove: ${removes.length}, ${bytesOf(removes)} bytes, the oldest first. What they hold can no longer be shown or replayed`,
    ...[...of.values()].map(heldLine),
    ...keeps.map(
      ({ why, objects, bytes, digests }) =>
        `Objects that stay: ${objects}, ${bytes} bytes: ${STAYS[why]}${isNamed(why) ? `: ${digests.join(', ')}` : ''}`,
    ),
  ];
}

/** What is not as Keyturn leaves it, a human may want to look at. */
function isNamed(why: Stays): boolean {
  return why === 'unnamed' || why === 'damaged';
}

function heldLine(objects: Objects['removes']): string {
  const [first, ...others] = objects[0]!.subjects;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const roles = [...new Set(objects.map(({ role }) => role))].join(', ');
  return `  of ${visible(first!)}${more}, last named ${objects.at(-1)!.at}: ${counted(objects.length, 'object')}, ${bytesOf(objects)} bytes (${roles})`;
}

function runLine({ execution_id, at, files, bytes, folder }: Run): string {
  return `  ${execution_id}, ended ${at}: ${counted(files, 'file')}, ${bytes} bytes in ${visible(folder)}/backups`;
}

function bytesOf(all: readonly { readonly bytes: number }[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}

function answerOf(result: Outcome, by: string): Answer {
  const { runs, objects } = result;
  const failed = runs.filter(({ removed }) => !removed);
  const gone = runs.filter(({ removed }) => removed);
  const why = [...failed, objects].find(({ code }) => code !== null);
  const lines = [
    `[${why ? 'ERROR' : 'OK'}] ${by} removed the backups of ${counted(gone.length, 'run')}, ${bytesOf(gone)} bytes, and ${counted(objects.objects, 'object')}, ${objects.bytes} bytes`,
    ...failed.map(
      ({ execution_id, expired, message }) =>
        `  ${execution_id}: ${expired ? 'expired, but not all of its backups are gone' : 'kept'}: ${visible(message ?? '')}`,
    ),
    ...(objects.kept.length === 0
      ? []
      : [`  Needed now, and kept: ${counted(objects.kept.length, 'object')}`]),
    ...(objects.code === null ? [] : [`  The other objects stay: ${visible(objects.message ?? '')}`]),
  ];
  if (!why) return { result, lines };
  return { result, lines, refusal: new Refusal(why.code!, why.message ?? undefined) };
}
