/** The package `keyturn/ledger`: all that an auditor needs to check a ledger, an export or a proof, and no more. */
export { generateKeyPair, type KeyPair, keyPairFromSeed } from '../canonical/ed25519.ts';
export { Refusal } from '../refusal.ts';
export {
  type Entry,
  GENESIS,
  leafHash,
  openEntry,
  type SealedEntry,
  sealEntry,
} from './entry.ts';
export {
  type Contents,
  type ExportSource,
  type VerifiedExport,
  type VerifyExportOptions,
  verifyExport,
  writeExport,
} from './export.ts';
export { fingerprint, type Head, openHead, requireKey, signHead } from './head.ts';
export {
  append,
  consistencyRanges,
  EMPTY_ROOT,
  EMPTY_TREE,
  hashRanges,
  inclusionRanges,
  type Range,
  rootOf,
  type Tree,
  type TreeRoot,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
export {
  formatVerifierKey,
  openNote,
  parseVerifierKey,
  signNote,
  type VerifierKey,
  verifierKey,
} from './note.ts';
export type { ExportedObject } from './object.ts';
export {
  makeBundle,
  type ProofRequest,
  type VerifiedBundle,
  type VerifyBundleOptions,
  verifyBundle,
} from './prove.ts';
export { LedgerVerifier, type VerifiedLedger, type VerifyOptions, verifyLedger } from './verify.ts';
