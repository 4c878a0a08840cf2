import type { Envelope } from './envelope.ts';

/** What is told about an intent beside its envelope, and is no more than the envelope says. */
export interface ToldIntent {
  readonly proposer: string;
  readonly on_behalf_of: string | null;
  readonly expires_at: string;
  readonly actions: readonly string[];
  readonly replaces: string | null;
  readonly undoes: string | null;
  readonly effect_digest: string;
  readonly choices: readonly { readonly effect_digest: string }[];
}

type Said = Pick<
  Envelope,
  'issuer' | 'on_behalf_of' | 'expiry' | 'requested_actions' | 'replaces' | 'undoes' | 'effect' | 'alternates'
>;

/** The hash covers only the envelope: whatever else is told about an intent has to be the same. */
export function isTold(envelope: Said, told: ToldIntent): boolean {
  const choices = [envelope.effect, ...envelope.alternates].map(({ digest }) => digest as string);
  return (
    envelope.issuer === told.proposer &&
    envelope.on_behalf_of === told.on_behalf_of &&
    envelope.expiry === told.expires_at &&
    envelope.requested_actions.join(' ') === told.actions.join(' ') &&
    envelope.replaces === told.replaces &&
    envelope.undoes === told.undoes &&
    choices.includes(told.effect_digest) &&
    choices.join() === told.choices.map(({ effect_digest }) => effect_digest).join()
  );
}
