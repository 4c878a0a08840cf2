import { visible } from '../../canonical/visible.ts';
import type { Result as VerbResult } from '../../keyturn.ts';
import { explain, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { possible, signAsked, whoActs } from '../human.ts';
import { meantBy, requireDigest } from '../operand.ts';
import { reading, writing } from '../project.ts';
import { requireConfirmed, tellAt } from '../question.ts';
import { atTerminal, type Terminal } from '../terminal.ts';

type Erasure = VerbResult<'ledger.explainErase'>;

export function erase(call: Call): Promise<Answer> {
  const typed = requireDigest(call);
  const { preview, reason } = call.options;
  if (preview)
    return reading(call, async (keyturn) => {
      const digest = await meantBy(keyturn, 'object', typed);
      const erasure = await keyturn.ledger.explainErase({ digest });
      return { result: erasure, lines: erasureLines(erasure) };
    });
  if (reason === undefined) refuse('USAGE', 'Say why with --reason, or look first with --preview.');
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const digest = await meantBy(keyturn, 'object', typed);
    const erasure = await keyturn.ledger.explainErase({ digest });
    const { holders, undo } = erasure;
    const asked = await possible(keyturn, name, (signer) =>
      keyturn.ledger.erase({ digest, reason, signer, holders, undo }),
    );
    const result = await atTerminal(async (terminal) => {
      await askAbout(terminal, erasure);
      return signAsked(keyturn, terminal, asked);
    });
    return { result, lines: [`[OK] ${name} erased ${digest}. The ledger keeps its digest`] };
  });
}

async function askAbout(terminal: Terminal, erasure: Erasure): Promise<void> {
  for (const line of erasureLines(erasure)) tellAt(terminal, line);
  const { digest, holders, undo } = erasure;
  if (holders > 1)
    await requireWord(terminal, `Type ${holders} to erase it for all ${holders}: `, String(holders));
  if (undo.length > 0) await requireWord(terminal, 'Type "no undo" to give up the undo: ', 'no undo');
  // Not its first characters: those may be what was typed before anything was read.
  const end = digest.slice(-8);
  await requireWord(terminal, `Type ${end} to erase it: `, end);
}

function requireWord(terminal: Terminal, question: string, word: string): Promise<void> {
  const wrong = `Only "${word}" erases it.`;
  return requireConfirmed(terminal, question, { isAnswer: (typed) => typed === word, wrong });
}

/** What it is, what goes with it, what rests on it, and what is lost. */
function erasureLines(erasure: Erasure): string[] {
  const { digest, bytes, objects, kept, holders, named_by, stops, undo, replay } = erasure;
  const [self, ...together] = objects;
  const of = new Map(named_by.map((one) => [one.subject, one]));
  return [
    `Object ${digest}: ${self!.role === null ? 'no entry names it' : article(self!.role)}, ${bytes} bytes`,
    ...together.map((one) => `  with it goes ${article(one.role!)} ${one.digest}`),
    ...[...of.values()].map(({ subject, seq, at }) => `  held by ${visible(subject)}, entry ${seq}, ${at}`),
    ...(holders > of.size ? [`  and by ${holders - of.size} more`] : []),
    ...(kept === null ? [] : [explain('OBJECT_KEPT').meaning]),
    ...stops.map(
      (one) => `It stops ${visible(one)}: that can no longer be approved, run, retried or answered`,
    ),
    ...undo.map((one) => `!!! THE UNDO IS LOST: ${visible(one)} can no longer be rolled back !!!`),
    ...replay.map((one) => `The decisions on the way to ${visible(one)} can no longer be replayed`),
    'The ledger keeps the digest and still verifies. The same bytes are never stored again.',
    'Copies elsewhere stay: exports and proofs with objects, backups, reports under agent_outputs/.',
  ];
}

function article(role: string): string {
  return /^[aeiou]/.test(role) ? `an ${role}` : `a ${role}`;
}
