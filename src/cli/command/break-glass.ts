import { visible } from '../../canonical/visible.ts';
import type { Answer, Call } from '../answer.ts';
import { breakGlassBanner } from '../capability-lines.ts';
import { possible, requirePossible, signAsked, whoActs } from '../human.ts';
import { meantBy, requireId } from '../operand.ts';
import { painter } from '../paint.ts';
import { nextAt, type Opened, writing } from '../project.ts';
import { say } from '../say.ts';
import type { Result } from '../schema.ts';
import { atTerminal } from '../terminal.ts';
import { showReview } from './approve.ts';

/** One of two humans goes past a freeze and past what the policies forbid. Each such act is an entry of its own. */
export function breakGlass(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const name = await whoActs(keyturn, call.options.as);
    const seen = await keyturn.intents.review({ intent_id });
    const { hash } = seen.intent;
    // Also what the policies say, which a rehearsal leaves to the act.
    await requirePossible(keyturn, { intent_id, hash }, name, 'break_glass');
    const asked = await possible(keyturn, name, (signer) =>
      keyturn.runs.breakGlass({ intent_id, hash, reason, signer }),
    );
    const result = await atTerminal(async (terminal) => {
      const shout = breakGlassBanner(`${name} for ${intent_id}: ${visible(reason)}`);
      const paint = painter(true);
      await showReview(
        terminal,
        seen,
        shout.map((line) => paint('alarm', line)),
      );
      return signAsked(keyturn, terminal, asked);
    });
    if (!call.options.json) say(2, breakGlassBanner(`${result.humans.join(' and ')} for ${intent_id}`));
    return { result, lines: toldLines(keyturn, result) };
  });
}

function toldLines(keyturn: Opened, { intent_id, by, broken }: Result<'break-glass'>): string[] {
  return [
    `[OK] ${by} used break-glass for ${intent_id}`,
    broken
      ? `Next: ${nextAt(keyturn, `keyturn grant ${intent_id}`)}`
      : 'Next: a second human has to do the same: keyturn break-glass',
  ];
}
