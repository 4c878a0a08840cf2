import type { Proof } from './act.ts';
import { factsOf, type Passkey } from './passkey.ts';

/** How a human proved to be there. It follows from the credential that signed, never from what an event claims. */
export type HumanAssurance = 'key_file' | 'synced_passkey' | 'device_bound_passkey';

/** As policies count it. A delegation is 1: its human was there once, not for this act. */
export const HUMAN_ASSURANCE_LEVEL: Readonly<Record<HumanAssurance, number>> = {
  /** Copied with the file, opened by a passphrase. */
  key_file: 2,
  /** Cannot be phished, and is as safe as the account that syncs it. */
  synced_passkey: 3,
  /** Never leaves its device. */
  device_bound_passkey: 4,
};

/** `null` stands for a key file. What counts is that a passkey could be copied, not whether it was yet. */
export function assuranceOf(passkey: Pick<Passkey, 'can_sync'> | null): HumanAssurance {
  if (passkey === null) return 'key_file';
  return passkey.can_sync ? 'synced_passkey' : 'device_bound_passkey';
}

/** The same by what was signed: the fold takes an assertion only with the flag that its passkey was enrolled with. */
export function proofAssurance(proof: Proof): HumanAssurance {
  return assuranceOf(typeof proof === 'string' ? null : { can_sync: factsOf(proof).backup_eligible });
}
