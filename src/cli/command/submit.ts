import { codeOf } from '../../canonical/code.ts';
import { isDigest } from '../../canonical/digest.ts';
import { showEffect, type Result as Verb } from '../../keyturn.ts';
import { refuse } from '../../refusal.ts';
import { delegateOf, namesDelegate } from '../acting.ts';
import type { Answer, Call } from '../answer.ts';
import { meantBy, requireId } from '../operand.ts';
import { nextAt, type Opened, writing } from '../project.ts';
import { reviewScreen, stdoutLook } from '../screen.ts';
import { serviceOf } from '../service.ts';
import { fields } from '../table.ts';

/** Step 1 of 002 by a delegate: no terminal, no passphrase, only what a human delegated to its key. */
export function submit(call: Call): Promise<Answer> {
  const typed = requireId(call);
  const { hash: named, preview } = call.options;
  namesDelegate(call.options);
  if (named !== undefined && !isDigest(named)) refuse('HASH_MALFORMED');
  // No human looks here. A delegate elsewhere says which effect it means, or it would sign for any that the service names.
  if (named === undefined && !preview && serviceOf(call) !== null)
    refuse('USAGE', 'At a service, name the hash of what you looked at with --hash. --preview shows it.');
  return writing(call, async (keyturn) => {
    const { signer, delegation } = (await delegateOf(keyturn, call.options)) ?? refuse('USAGE');
    const intent_id = await meantBy(keyturn, 'intent', typed);
    if (preview) {
      const result = await keyturn.intents.previewSubmit({ intent_id, delegation });
      return { result, lines: previewLines(keyturn, result) };
    }
    const hash = await hashOf(keyturn, intent_id, delegation);
    if (named !== undefined && named !== hash) refuse('HASH_MISMATCH');
    const result = await keyturn.intents.submit({ intent_id, hash, signer, delegation });
    return { result, lines: toldLines(keyturn, result) };
  });
}

/** At a service it is computed here, from the effect, and what is signed has to be about that effect. */
async function hashOf(keyturn: Opened, intent_id: string, delegation: string): Promise<string> {
  if (keyturn.service === undefined) return (await keyturn.intents.get({ intent_id })).hash;
  return (await keyturn.intents.previewSubmit({ intent_id, delegation })).intent.hash;
}

function previewLines(keyturn: Opened, seen: Verb<'intents.previewSubmit'>): string[] {
  const { intent, envelope, effect, alternate_effects, approver } = seen;
  const shown = showEffect(effect);
  const alternates = alternate_effects.map((one) => showEffect(one));
  const next = `keyturn submit ${intent.intent_id} --hash ${intent.hash} --delegation ID --agent-key FILE`;
  return [
    ...reviewScreen({ intent, envelope, shown, alternates }, stdoutLook(new Date())),
    '',
    '[OK] Nothing is signed',
    ...fields([
      [
        'Approves',
        approver === null ? 'no, a human still has to approve it' : `YES, as an approval of ${approver.by}`,
      ],
      ['Next', nextAt(keyturn, next)],
    ]),
  ];
}

function toldLines(
  keyturn: Opened,
  { intent_id, hash, by, approver, expires_at }: Verb<'intents.submit'>,
): string[] {
  return [
    `[OK] ${by} submitted ${intent_id}`,
    ...fields([
      ['Hash', hash],
      ['Code', codeOf(hash)],
      ...(approver === null
        ? ([['Next', nextAt(keyturn, 'a human has to approve it: keyturn review')]] as const)
        : ([
            ['Approved', `by the delegation of ${approver}, until ${expires_at}`],
            ['Next', nextAt(keyturn, `keyturn grant ${intent_id}`)],
          ] as const)),
    ]),
  ];
}
