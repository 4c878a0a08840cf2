import { isDigest } from '../canonical/digest.ts';
import { isUuid } from '../canonical/uuid.ts';
import { controllerLine, ELIGIBLE_LINE, Keyturn } from '../keyturn.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { refusalOf } from './tell.ts';

/** What the controller of 000 says: one line, and the reason behind a no. */
export interface Verdict {
  readonly line: string;
  readonly refusal: Refusal | null;
}

/** Asks the store of the project. Reads, answers, writes nothing; whatever goes wrong is a no. */
export async function askController(at: string, intent_id: string, hash: string): Promise<Verdict> {
  try {
    if (!isUuid(intent_id)) refuse('ID_MALFORMED');
    if (!isDigest(hash)) refuse('HASH_MALFORMED');
    await requireEligible(at, intent_id, hash);
    return { line: ELIGIBLE_LINE, refusal: null };
  } catch (error) {
    const refusal = refusalOf(error);
    return { line: lineOf(refusal), refusal };
  }
}

async function requireEligible(at: string, intent_id: string, hash: string): Promise<void> {
  const keyturn = await Keyturn.open({ at, mode: 'read' });
  try {
    const verdict = await keyturn.check(intent_id, hash);
    if (verdict.eligible) return;
    const { code, executed_at, words } = verdict;
    refuse(code, words, executed_at === null ? {} : { executed_at });
  } finally {
    await keyturn.close();
  }
}

export function lineOf({ code, details }: Refusal): string {
  return controllerLine(code, typeof details.executed_at === 'string' ? details.executed_at : null);
}
