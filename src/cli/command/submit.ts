import { refuse } from '../../refusal.ts';
import { delegateOf, namesDelegate } from '../acting.ts';
import type { Answer, Call } from '../answer.ts';
import { requireId } from '../operand.ts';
import { writing } from '../project.ts';
import type { Result } from '../schema.ts';
import { fields } from '../table.ts';

/** Step 1 of 002 by a delegate: no terminal, no passphrase, only what a human delegated to its key. */
export function submit(call: Call): Promise<Answer> {
  const intent_id = requireId(call);
  namesDelegate(call.options);
  return writing(call, async (keyturn) => {
    const { hash } = await keyturn.intent(intent_id);
    const { signer, delegation } = (await delegateOf(keyturn, call.options)) ?? refuse('USAGE');
    const { body } = await keyturn.submit({ intent_id, hash, signer, delegation });
    const { by, expires_at } = body;
    const approver = body.approver?.by ?? null;
    const result: Result<'submit'> = { intent_id, hash, by, delegation, approver, expires_at };
    return { result, lines: toldLines(result) };
  });
}

function toldLines({ intent_id, hash, by, approver, expires_at }: Result<'submit'>): string[] {
  return [
    `[OK] ${by} submitted ${intent_id}`,
    ...fields([
      ['Hash', hash],
      ...(approver === null
        ? ([['Next', 'a human has to approve it: keyturn review']] as const)
        : ([
            ['Approved', `by the delegation of ${approver}, until ${expires_at}`],
            ['Next', `keyturn grant ${intent_id}`],
          ] as const)),
    ]),
  ];
}
