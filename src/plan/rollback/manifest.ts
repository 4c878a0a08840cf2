import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type Digest, isDigest, sha256 } from '../../canonical/digest.ts';
import { canonicalBytes, parseJson } from '../../canonical/json.ts';
import { readFileBeneath } from '../../durable/beneath.ts';
import { closePlace, openPlace, putOver, syncFolderOf } from '../../durable/beneath-write.ts';
import { describeIssue } from '../../event/event.ts';
import { planLimits } from '../../limits.ts';
import { refuse } from '../../refusal.ts';
import type { FileState, PathChange, PlanEffect } from '../model.ts';
import { isPin, sameState } from '../state/pin.ts';
import { stageBytes } from '../state/stage.ts';

/**
 * `rollback_manifest.json`: 004 section 4.3, and what a restore needs besides. It is the journal of the run: it is on
 * disk before the first change, and says for each path what was there and what the plan would leave there. So the state
 * of every path tells by itself how far the run came.
 */

export const MANIFEST_NAME = 'rollback_manifest.json';

const digest = z.string().refine(isDigest, 'is not a SHA-256 digest');
const nanoseconds = z.string().regex(/^-?\d{1,30}$/);
export const fileStateSchema = z.strictObject({
  sha256: digest,
  size: z.int().min(0),
  mode: z.int().min(0).max(0o7777),
  attributes: digest.optional(),
});

const checkpointSchema = z.strictObject({
  checkpoint_id: z.uuid(),
  file_path: z.string().min(1),
  /** Relative to the project root; null where nothing was there. */
  backup_location: z.string().min(1).nullable(),
  original_hash: digest.nullable(),
  original_size: z.int().min(0).nullable(),
  operation_to_reverse: z.enum(['CREATE', 'MODIFY', 'DELETE', 'RENAME']),
  restore_command: z.string(),
  original_mode: z.int().min(0).max(0o7777).nullable(),
  /** Of the access control list and the extended attributes; the backup has them too. */
  original_attributes: digest.nullable(),
  original_owner: z.strictObject({ uid: z.int(), gid: z.int() }).nullable(),
  original_mtime_ns: nanoseconds.nullable(),
  original_atime_ns: nanoseconds.nullable(),
  /** What the plan leaves at the path, after one action after the other. `unknown` is told by the journal. */
  states: z.array(z.union([fileStateSchema.nullable(), z.literal('unknown')])),
  action_ids: z.array(z.string()),
  /** Paths that one action changes together can only be restored together: they share this number. */
  chain: z.int().min(0),
});

export const manifestSchema = z.strictObject({
  manifest_id: z.uuid(),
  plan_id: z.string(),
  task_id: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  status: z.enum(['ACTIVE', 'EXECUTED', 'EXPIRED']),
  rolled_back_at: z.string().nullable(),
  checkpoints: z.array(checkpointSchema),
  /** The last change is undone first. */
  rollback_order: z.array(z.uuid()),
  auto_rollback_script: z.string().nullable(),
  notes: z.string(),
  reports_folder: z.string().min(1),
  plan_digest: digest,
  folders_created: z.array(z.string()),
  /** Temporary files of this run begin with it. It is random, so a file that has it was made by this run and may be removed. */
  temporary_prefix: z.string().regex(/^\.kt-[0-9a-f]{32}-$/),
  /** Actions that no rollback undoes. */
  irreversible: z.array(z.string()),
});

export type RollbackManifest = Readonly<z.infer<typeof manifestSchema>>;
export type Checkpoint = Readonly<z.infer<typeof checkpointSchema>>;

export function parseManifest(bytes: Uint8Array): RollbackManifest {
  const parsed = manifestSchema.safeParse(parseJson(bytes, planLimits.manifest_bytes));
  return parsed.success ? parsed.data : refuse('MANIFEST_CORRUPT', describeIssue(parsed.error));
}

export function loadManifest(root: string, reports_folder: string): RollbackManifest {
  const { bytes } = readFileBeneath(root, `${reports_folder}/${MANIFEST_NAME}`, planLimits.manifest_bytes);
  const manifest = parseManifest(bytes);
  // It is written again when it was executed, and must not be led elsewhere.
  if (manifest.reports_folder !== reports_folder)
    refuse('MANIFEST_CORRUPT', `It belongs to ${manifest.reports_folder}.`);
  return manifest;
}

/** What the ledger keeps of a manifest. Its status is written again later, so it is not part of it. */
export function manifestDigest(manifest: RollbackManifest): Digest {
  return sha256(canonicalBytes({ ...manifest, status: 'ACTIVE', rolled_back_at: null }));
}

/** Writes the manifest whole and durably, over the one that was there. Returns its digest, which the ledger keeps. */
export async function saveManifest(root: string, manifest: RollbackManifest): Promise<Digest> {
  const digest = manifestDigest(manifest); // refuses what JSON cannot say exactly
  const place = openPlace(root, `${manifest.reports_folder}/${MANIFEST_NAME}`);
  try {
    // Another name each time: what a killed process left under an earlier one would refuse every later save.
    const temporary = `${manifest.temporary_prefix}manifest-${randomBytes(8).toString('hex')}`;
    await stageBytes(place, temporary, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), {
      mode: 0o600,
    });
    putOver(place, temporary);
    await syncFolderOf(place);
    return digest;
  } finally {
    closePlace(place);
  }
}

/**
 * The manifest must be the one of this approved plan, whole. The attacker changed manifest and backup together, to have the
 * rollback write something, spare something or call it done: before and after were approved, and it may hold nothing else.
 */
export function requireManifestOf(manifest: RollbackManifest, effect: PlanEffect): void {
  if (manifest.plan_digest !== effect.plan_digest) refuse('MANIFEST_CORRUPT', 'It belongs to another plan.');
  const changes = changesByPath(effect);
  const paths = new Set(manifest.checkpoints.map(({ file_path }) => file_path));
  if (paths.size !== manifest.checkpoints.length || paths.size !== changes.size)
    refuse('MANIFEST_CORRUPT', 'It does not have one checkpoint for each path of the plan.');
  for (const checkpoint of manifest.checkpoints)
    requireCheckpointOf(checkpoint, changes.get(checkpoint.file_path));
  for (const folder of manifest.folders_created) {
    if (!effect.folders.includes(folder)) refuse('MANIFEST_CORRUPT', `The plan makes no folder ${folder}.`);
  }
  const lasting = effect.actions.filter(({ undo }) => undo === 'none').map(({ action_id }) => action_id);
  if (lasting.join() !== manifest.irreversible.join())
    refuse('MANIFEST_CORRUPT', 'It says something else about what can be undone.');
}

/** All that the plan does to each path, in order. */
export function changesByPath(effect: PlanEffect): Map<string, PathChange[]> {
  const changes = new Map<string, PathChange[]>();
  for (const change of effect.actions.flatMap((action) => action.changes)) {
    if (!isPin(change)) changes.set(change.path, [...(changes.get(change.path) ?? []), change]);
  }
  return changes;
}

function requireCheckpointOf(checkpoint: Checkpoint, changes: readonly PathChange[] = []): void {
  const { file_path, states } = checkpoint;
  const before = changes[0]?.before ?? null;
  const same =
    changes.length === states.length &&
    sameOutcome(before, originalOf(checkpoint)) &&
    changes.every(({ after }, i) => sameOutcome(after, states[i]!));
  if (!same) refuse('MANIFEST_CORRUPT', `${file_path} is not what was approved.`);
}

function sameOutcome(a: FileState | null | 'unknown', b: FileState | null | 'unknown'): boolean {
  return a === 'unknown' || b === 'unknown' ? a === b : sameState(a, b);
}

/** The state before the run. */
export function originalOf(checkpoint: Checkpoint): FileState | null {
  const { original_hash: sha256, original_size: size, original_mode: mode, original_attributes } = checkpoint;
  if (sha256 === null || size === null || mode === null) return null;
  return { sha256, size, mode, ...(original_attributes !== null && { attributes: original_attributes }) };
}

/** Node sets times in doubles; what is lost is below this. */
const TIME_SLACK_NS = 1_000n;

/** Whether a file has the time of the one that was there before the run. */
export function hasItsTimes(
  { mtime_ns }: { readonly mtime_ns: bigint },
  { original_mtime_ns }: Checkpoint,
): boolean {
  if (original_mtime_ns === null) return true;
  const off = mtime_ns - BigInt(original_mtime_ns);
  return off < TIME_SLACK_NS && off > -TIME_SLACK_NS;
}
