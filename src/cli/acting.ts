import { hasKey, Keyturn, type Signer } from '../keyturn.ts';
import { refuse } from '../refusal.ts';
import type { Options } from './answer.ts';
import { meantBy, requireTyped } from './operand.ts';
import type { Opened } from './project.ts';

/** A delegate of a human: acts with a key of its own, without a terminal and without a passphrase. */
interface Delegate {
  readonly signer: Signer;
  readonly delegation: string;
}

/** Whether the words name a delegate. Asked before the store is opened: malformed input leaves no trace. */
export function namesDelegate({ delegation, agentKey, as }: Options): boolean {
  if (delegation === undefined && agentKey === undefined) return false;
  if (delegation === undefined || agentKey === undefined)
    refuse('USAGE', '--delegation and --agent-key go together.');
  if (as !== undefined) refuse('USAGE', '--as names a human; a delegate acts with --agent-key.');
  requireTyped(delegation);
  return true;
}

export async function delegateOf(keyturn: Opened, options: Options): Promise<Delegate | null> {
  if (!namesDelegate(options)) return null;
  if (keyturn.service !== undefined && keyturn.agent === undefined)
    refuse(
      'CALLER_OTHER',
      `A human is logged in at ${keyturn.service}, and an agent acts as itself: keyturn login --as AGENT --agent-key FILE.`,
    );
  const delegation = await meantBy(keyturn, 'delegation', options.delegation!);
  return { delegation, signer: await ownerOf(keyturn, options.agentKey!) };
}

/** The name that this key is enrolled for. A name that is only claimed would be worth nothing. */
export async function ownerOf(keyturn: Opened, path: string): Promise<Signer> {
  // A service tells an agent of no other one, and refuses an act that the key of this one did not sign.
  if (keyturn.agent !== undefined) return Keyturn.agentSigner(keyturn.agent, path);
  const signer = Keyturn.agentSigner('', path);
  const owner = (await keyturn.people.list()).principals.find((principal) =>
    hasKey(principal, signer.public_key),
  );
  if (!owner) refuse('KEY_FILE_INVALID', `No one is enrolled with the key in ${path}.`);
  return { ...signer, name: owner.name };
}
