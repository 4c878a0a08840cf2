import { codeOf } from '../../canonical/code.ts';
import { refuse } from '../../refusal.ts';
import { delegateOf, namesDelegate } from '../acting.ts';
import type { Answer, Call } from '../answer.ts';
import { meantBy, requireId } from '../operand.ts';
import { writingHere } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';

/** Step 1 of 002 by a delegate: no terminal, no passphrase, only what a human delegated to its key. */
export function submit(call: Call): Promise<Answer> {
  const typed = requireId(call);
  namesDelegate(call.options);
  return writingHere(call, async (keyturn) => {
    const intent_id = await meantBy(keyturn, 'intent', typed);
    const { hash } = await keyturn.intents.get({ intent_id });
    const { signer, delegation } = (await delegateOf(keyturn, call.options)) ?? refuse('USAGE');
    const result = await keyturn.intents.submit({ intent_id, hash, signer, delegation });
    return { result, lines: toldLines(result) };
  });
}

function toldLines({ intent_id, hash, by, approver, expires_at }: Result<'submit'>): string[] {
  return [
    `[OK] ${by} submitted ${intent_id}`,
    ...fields([
      ['Hash', hash],
      ['Code', codeOf(hash)],
      ...(approver === null
        ? ([['Next', 'a human has to approve it: keyturn review']] as const)
        : ([
            ['Approved', `by the delegation of ${approver}, until ${expires_at}`],
            ['Next', `keyturn grant ${intent_id}`],
          ] as const)),
    ]),
  ];
}
