import { visible } from '../../canonical/visible.ts';
import { Keyturn } from '../../keyturn.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { actAs, whoActs } from '../human.ts';
import { painter } from '../paint.ts';
import { closingProject, folderOf } from '../project.ts';

/** After a restore, or when the kept head was lost: a human says that the ledger is to go on from here. */
export async function acceptHead(call: Call): Promise<Answer> {
  const reason = call.options.reason!;
  const at = folderOf(call);
  const { message } = await refusalAt(at);
  return closingProject(await Keyturn.open({ at, head: 'accept' }), async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const result = await actAs(
      keyturn,
      name,
      (signer) => keyturn.ledger.acceptHead({ reason, signer }),
      () => [painter(true)('alarm', visible(message)), ...ADVICE],
    );
    const { entries, by, forgets } = result;
    const frozen =
      'Everything is frozen, and what was proposed before never runs. Look at what happened since, then `keyturn unfreeze`.';
    const done = `[OK] ${by} accepted the ledger of ${entries} entries. It goes on from there`;
    return { result, lines: forgets ? [done, frozen] : [done] };
  });
}

const ADVICE = [
  'What was recorded in entries that are missing is forgotten: runs, rejections, revoked keys and tokens, freezes.',
  'Once you accept, everything is frozen, and nothing that was proposed before runs. Find out what happened since, and revoke again what was revoked, before you unfreeze.',
];

/** Why the project cannot be opened. If it can, or for another reason cannot, there is nothing to accept. */
async function refusalAt(at: string): Promise<Refusal> {
  try {
    await (await Keyturn.open({ at, mode: 'read' })).close();
  } catch (error) {
    if (error instanceof Refusal && ABOUT_HEADS.has(error.code)) return error;
    throw error;
  }
  return refuse('USAGE', 'The kept head fits the ledger. There is nothing to accept.');
}

const ABOUT_HEADS: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'KEPT_HEAD_INVALID',
  'LEDGER_TRUNCATED',
  'LEDGER_FORKED',
]);
