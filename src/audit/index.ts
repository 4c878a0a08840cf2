/**
 * The package `keyturn/audit`: all that an auditor needs to check a ledger, an export or a proof and to read what it tells. It has no
 * store, no policy engine and no file: it runs in Node and in a browser.
 */
export type { Entry, SealedEntry } from '../ledger/entry.ts';
export { type Head, keyFingerprint, openHead } from '../ledger/head.ts';
export {
  append,
  EMPTY_TREE,
  rootOf,
  type Tree,
  type TreeRoot,
  verifyConsistency,
  verifyInclusion,
} from '../ledger/merkle.ts';
export { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../ledger/note.ts';
export type { VerifiedBundle } from '../ledger/prove.ts';
export type { VerifiedLedger } from '../ledger/verify.ts';
export { explain, type ReasonCode, Refusal } from '../refusal.ts';
export {
  type Absence,
  type Output,
  type ReadObject,
  readOutput,
  type Story,
  type Told,
  tellEntries,
  tellIntent,
} from '../story/tell.ts';
export { type Excerpt, type ExcerptRequest, excerptOfExport, excerptOfProof } from './excerpt.ts';
export {
  type AuditEntriesOptions,
  type AuditedExport,
  type AuditOptions,
  auditEntries,
  auditExport,
  type Founder,
} from './ledger.ts';
export { type AuditedProof, type AuditProofOptions, auditProof } from './proof.ts';
export { auditSegments } from './segments.ts';
export type { Source } from './source.ts';
