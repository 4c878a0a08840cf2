import { randomUUID } from 'node:crypto';
import { refuse } from '../refusal.ts';
import type { Proof, Signer } from './act.ts';

/**
 * The signer of an act that may be decided more than once before it is written: the act is drawn up at one time, with one id, and its human
 * signs once. Each proof counts by itself, so an act that leaves out some of what was signed needs no other. A statement that was not
 * among them means that something changed that the human was shown.
 */
export function signingOnce(signer: Signer, now: Date): Signer {
  const { name, public_key, drawn = { at: now, id: randomUUID() }, is_rehearsal, earlier } = signer;
  const known = new Map<string, Proof>();
  return {
    name,
    public_key,
    drawn,
    ...(is_rehearsal && { is_rehearsal }),
    ...(earlier && { earlier }),
    sign: async (statements) => {
      const texts = statements.map((one) => Buffer.from(one).toString('utf8'));
      if (known.size === 0) {
        const proofs = await signer.sign(statements);
        if (proofs.length !== texts.length) refuse('SIGNATURE_INVALID', UNPROVEN);
        for (const [i, text] of texts.entries()) known.set(text, proofs[i]!);
      }
      return texts.map((text) => known.get(text) ?? refuse('ACT_CHANGED'));
    },
  };
}

const UNPROVEN = 'There is not one proof for each act.';
