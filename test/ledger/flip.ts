import { verifyExport } from '../../src/ledger/export.ts';
import { Refusal } from '../../src/refusal.ts';
import { chunksOf, exportOf, sampleLedger } from './sample.ts';

export interface Sweep {
  readonly bits: number;
  readonly flipped: number;
  /** The bits whose flip was not refused. */
  readonly missed: number[];
}

/** Flips one bit after the other in the export of a ledger of 40 entries, and verifies each damaged copy. */
export async function flipBits(step: number): Promise<Sweep> {
  const bytes = await exportOf(sampleLedger(40));
  const bits = bytes.length * 8;
  const missed: number[] = [];
  let flipped = 0;
  for (let bit = 0; bit < bits; bit += step) {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    if (!(await isRefused(bytes))) missed.push(bit);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    flipped += 1;
  }
  await verifyExport(chunksOf(bytes));
  return { bits, flipped, missed };
}

/** Any reason will do, but an exception that is not a refusal is a failure of the verifier. */
async function isRefused(bytes: Uint8Array): Promise<boolean> {
  try {
    await verifyExport(chunksOf(bytes));
    return false;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return true;
  }
}
