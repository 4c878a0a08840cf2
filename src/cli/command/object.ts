import type { Answer, Call } from '../answer.ts';
import { unlock, whoActs } from '../human.ts';
import { requireDigest } from '../operand.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { atTerminal } from '../terminal.ts';

export function erase(call: Call): Promise<Answer> {
  const digest = requireDigest(call);
  const reason = call.options.reason!;
  return writing(call, async (keyturn) => {
    const name = await whoActs(keyturn, call.options.as);
    const { body } = await atTerminal(async (terminal) =>
      keyturn.erase({ digest, reason, signer: await unlock(keyturn, terminal, name) }),
    );
    const result: Result<'object erase'> = { digest, by: body.by, reason };
    return { result, lines: [`[OK] ${body.by} erased ${digest}. The ledger keeps its digest`] };
  });
}
