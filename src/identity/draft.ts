import { randomUUID } from 'node:crypto';
import { refuse } from '../refusal.ts';
import { type Proof, type Signer, verifyProof } from './act.ts';
import { isMadeLater } from './made.ts';
import type { Passkey } from './passkey.ts';
import type { Principal } from './principal.ts';
import { unsigned } from './unsigned.ts';

/**
 * An act up to its signature: what a human is to see and to sign. Nothing was written, and no process has to keep it: the process that
 * finishes it draws the act up again and compares.
 */
export interface Draft {
  readonly by: string;
  readonly key: string;
  /** When it was drawn up. Its deadline is counted from here. */
  readonly at: string;
  /** What the id of the thing that the act makes follows from, if it makes one: see `drawnId`, and `asDrawn` for a proposal. */
  readonly id: string;
  /** What is signed, as canonical JSON. */
  readonly statements: readonly string[];
}

/** Anything that needs a signer. */
type Acting<T> = (signer: Signer) => Promise<T>;

/** Who would sign. */
export type Drafting = Pick<Signer, 'name' | 'public_key' | 'earlier'>;

/** With a passkey, where that would. */
interface Rehearsing extends Drafting {
  readonly passkey?: Passkey | null;
}

/** Draws an act up: it is rehearsed, and what it would have signed is kept. What would refuse it, refuses it here. */
export async function draftAct(
  who: Drafting,
  person: Principal | null,
  now: Date,
  act: Acting<unknown>,
): Promise<Draft> {
  const id = randomUUID();
  const used = person?.credentials.find(({ public_key }) => public_key === who.public_key);
  const passkey = used?.kind === 'passkey' ? used : null;
  let statements: string[] | null = null;
  const halt = (): never => {
    throw REHEARSED;
  };
  await rehearseAct({ ...who, passkey }, (signer) =>
    act({
      ...signer,
      drawn: { at: now, id },
      sign: async (all) => {
        // A proof is for all that was drawn up at once.
        if (statements !== null) halt();
        statements = all.map((one) => Buffer.from(one).toString('utf8'));
        return signer.sign(all);
      },
    }),
  );
  if (statements === null) refuse('ACT_CHANGED', 'There is nothing left to sign: it is done.');
  return { by: who.name, key: who.public_key, at: now.toISOString(), id, statements };
}

/** Thrown where an act that is rehearsed would be written. */
export const REHEARSED: unique symbol = Symbol('rehearsed');

/**
 * Asks everything that would refuse the act, also what its commit would refuse, before a human is asked to sign. Every verb knows a
 * signer that only rehearses, and writes nothing for it.
 */
export async function rehearseAct(
  { passkey = null, ...who }: Rehearsing,
  act: Acting<unknown>,
): Promise<void> {
  const sign: Signer['sign'] = async (all) => all.map(() => unsigned(passkey));
  try {
    await act({ ...who, is_rehearsal: true, sign });
  } catch (error) {
    if (error !== REHEARSED) throw error;
  }
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
