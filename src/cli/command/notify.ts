import { visible } from '../../canonical/visible.ts';
import { notifyLimits } from '../../limits.ts';
import { type ReasonCode, Refusal, refuse } from '../../refusal.ts';
import type { Answer, Call } from '../answer.ts';
import { readingHere } from '../project.ts';
import type { Result } from '../schema.ts';

/** Each target is tried once. What does not arrive is a refusal, so that a script notices. */
export async function test(call: Call): Promise<Answer> {
  const [wanted] = call.operands as [string | undefined];
  const { deliver } = await import('../../serve/notify/deliver.ts');
  const { testMessage } = await import('../../serve/notify/message.ts');
  return readingHere(call, async (keyturn) => {
    const { address, targets } = keyturn.host.notifyTargets();
    const names = wanted === undefined ? [...targets.keys()] : [wanted];
    if (names.length === 0) refuse('NOTIFY_TARGET_UNKNOWN', 'This host has no target of notifications.');
    const found: Result<'notify test'>['targets'] = [];
    for (const name of names) {
      const target =
        targets.get(name) ?? refuse('NOTIFY_TARGET_UNKNOWN', `This host has no target "${name}".`);
      const message = testMessage(address ?? 'http://localhost:7717', new Date().toISOString());
      found.push({
        target: name,
        ...(await deliver(keyturn, target, message, AbortSignal.timeout(notifyLimits.test_ms))),
      });
    }
    const lines = found.map(
      ({ target, outcome, words }) =>
        `${outcome === 'delivered' ? '[OK]' : '[FAILED]'} ${target}: ${visible(words)}`,
    );
    const result = { targets: found };
    const failed = found.find(({ outcome }) => outcome !== 'delivered');
    if (!failed) return { result, lines };
    const why = new Refusal(
      (failed.code as ReasonCode | null) ?? 'NOTIFY_FAILED',
      `${failed.target}: ${visible(failed.words)}`,
    );
    return { result, lines, refusal: why };
  });
}
