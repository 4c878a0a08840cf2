import { randomUUID } from 'node:crypto';
import { sha256 } from '../canonical/digest.ts';
import { refuse } from '../refusal.ts';
import { type Proof, type Signer, verifyProof } from './act.ts';
import { isMadeLater } from './made.ts';
import type { Passkey } from './passkey.ts';

/**
 * An act up to its signature: what a human is to see and to sign. Nothing was written, and no process has to keep it: the process that
 * finishes it draws the act up again and compares.
 */
export interface Draft {
  readonly by: string;
  readonly key: string;
  /** When it was drawn up. Its deadline is counted from here. */
  readonly at: string;
  /** The id of what the act makes, if it makes something that has one. */
  readonly id: string;
  /** What is signed, as canonical JSON. */
  readonly statements: readonly string[];
}

/** Anything that needs a signer. */
type Acting<T> = (signer: Signer) => Promise<T>;

/** Draws an act up: everything that the act itself looks at before it is signed is looked at, and refuses as it would. */
export async function draftAct(
  { name, public_key }: Pick<Signer, 'name' | 'public_key'>,
  now: Date,
  act: Acting<unknown>,
): Promise<Draft> {
  const id = randomUUID();
  let statements: string[] | null = null;
  // Ends the act where it would have been signed.
  const halted = Symbol('drawn up');
  const signer: Signer = {
    name,
    public_key,
    drawn: { at: now, id },
    sign: async (all) => {
      statements = all.map((one) => Buffer.from(one).toString('utf8'));
      return Promise.reject(halted);
    },
  };
  try {
    await act(signer);
  } catch (error) {
    if (error !== halted) throw error;
  }
  if (statements === null) refuse('ACT_CHANGED', 'There is nothing left to sign: it is done.');
  return { by: name, key: public_key, at: now.toISOString(), id, statements };
}

/** Thrown where an act that is rehearsed would be written. */
export const REHEARSED: unique symbol = Symbol('rehearsed');

/** Who would sign; with a passkey where that would. */
interface Rehearsing extends Pick<Signer, 'name' | 'public_key'> {
  readonly passkey?: Passkey;
}

/**
 * Asks everything that would refuse the act, also what its commit would refuse, before a human is asked to sign. Every verb knows a
 * signer that only rehearses, and writes nothing for it.
 */
export async function rehearseAct(
  { name, public_key, passkey }: Rehearsing,
  act: Acting<unknown>,
): Promise<void> {
  const sign: Signer['sign'] = async (all) => all.map(() => (passkey ? noTouch(passkey) : NO_PROOF));
  try {
    await act({ name, public_key, is_rehearsal: true, sign });
  } catch (error) {
    if (error !== REHEARSED) throw error;
  }
}

/** Has the shape of a proof, and verifies nothing. */
const NO_PROOF = Buffer.alloc(64).toString('base64');

/** The same of this passkey: made where it was enrolled, by its kind of authenticator. */
function noTouch({ rp_id, origins, can_sync }: Passkey): Proof {
  const authenticator_data = Buffer.alloc(37);
  authenticator_data.write(sha256(rp_id), 'hex');
  authenticator_data[32] = can_sync ? 0x08 : 0;
  const client_data = JSON.stringify({ type: '', challenge: '', origin: origins[0] });
  return {
    authenticator_data: authenticator_data.toString('base64url'),
    client_data: Buffer.from(client_data).toString('base64url'),
    signature: Buffer.alloc(64).toString('base64url'),
    touch: null,
  };
}

/** Ends a draft: the act is drawn up again, and the proofs count only if what was signed is what would be signed now. */
export async function finishDraft<T>(
  draft: Draft,
  now: Date,
  proofs: readonly Proof[],
  act: Acting<T>,
): Promise<T> {
  const { by, key, at, id, statements } = draft;
  if (isMadeLater(at, now.toISOString()))
    refuse('MADE_IN_FUTURE', 'The draft is of a time that has not come yet.');
  return act({
    name: by,
    public_key: key,
    drawn: { at: new Date(at), id },
    sign: async (all) => {
      if (all.length !== statements.length || all.some((one, i) => !isText(one, statements[i]!)))
        refuse('ACT_CHANGED');
      // The commit looks again. Here it is asked before anything follows from the signature.
      if (proofs.length !== all.length) refuse('SIGNATURE_INVALID', 'There is not one proof for each act.');
      for (const [i, one] of all.entries()) verifyProof(one, key, proofs[i]!, 'A proof does not verify.');
      return proofs;
    },
  });
}

function isText(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes).equals(Buffer.from(text, 'utf8'));
}
