import * as z from 'zod';
import { fieldLimits, limits } from '../limits.ts';
import {
  attempt,
  body,
  by_executor,
  decision,
  digest,
  prose,
  reason_code,
  signed,
  time,
  title,
  uuid,
} from './shape.ts';
import { UNDONE_FROM } from './undone.ts';

/** What one stream printed. The object is sealed, so no two runs share one; of nothing there is none. */
export const capture = z
  .strictObject({ digest: digest.nullable(), bytes: z.int().min(0), truncated: z.boolean() })
  .refine(({ digest, bytes }) => (digest === null) === (bytes === 0), 'names an object of nothing');

/** The process that took a claim: enough to tell later whether it is still alive. */
const executor = z.strictObject({
  host: z.string().min(1).max(fieldLimits.host_chars),
  boot_id: z.string().min(1).max(limits.name_chars),
  pid: z.int().min(1),
  started: z.string().min(1).max(limits.name_chars),
  /** Of the machine, hashed; absent in older entries and where a machine has none. */
  machine: digest.optional(),
  /** Of one opened project in that process. */
  instance: uuid.optional(),
});

/** What happened to a run, from its claim to its undo. */
export const executionBodies = {
  'execution.claimed': body(() => ({
    execution_id: uuid,
    capability_id: uuid,
    /** What was presented: the token, or a chain that narrows it. */
    presented: digest,
    policy: digest,
    decision,
    attempt,
    hash: digest,
    effect_digest: digest,
    registry_digest: digest,
    tool: title,
    /** Where a plan keeps its backups and reports, relative to the project: known before anything is changed. */
    reports: z.string().min(1).max(fieldLimits.address_chars).nullable(),
    executor,
    ...by_executor,
  })),
  /** Everything that a plan will change was backed up. From here on it may be changed. */
  'execution.checkpointed': body(() => ({
    execution_id: uuid,
    /** Of the rollback manifest, without what its later status says. */
    manifest: digest,
    ...by_executor,
  })),
  /** A plan wrote down what it is about to do, where no path will show it. It does that only after this is recorded. */
  'execution.announced': body(() => ({
    execution_id: uuid,
    /** Of the journal of the run, up to here. */
    journal: digest,
    ...by_executor,
  })),
  'execution.refused': body(() => ({
    hash: digest,
    capability_id: uuid.nullable(),
    reason_code,
    decision: decision.nullable(),
  })),
  /** A human ends a run that goes on, wherever that is. */
  'execution.stopped': body(() => ({ execution_id: uuid, reason: prose, ...signed })),
  /** Something that had to hold while it ran no longer did. What is outstanding for the intent is revoked with it. */
  'violation.detected': body(() => ({
    execution_id: uuid,
    reason_code,
    decision: decision.nullable(),
    revoked: z.array(uuid).max(limits.outstanding_capabilities),
    ...by_executor,
  })),
  'execution.finished': body(() => ({
    execution_id: uuid,
    capability_id: uuid,
    attempt,
    tool: title,
    result: z.enum(['success', 'failure', 'partial', 'rolled_back']),
    reason_code: reason_code.nullable(),
    exit_code: z.int().nullable(),
    signal: z.string().max(fieldLimits.word_chars).nullable(),
    started_at: time,
    finished_at: time,
    stdout: capture,
    stderr: capture,
    /** The reports of a plan, by name. */
    reports: z.record(z.string().regex(/^[a-z_]{1,40}$/), digest),
    ...by_executor,
  })),
  'execution.resolved': body(() => ({
    execution_id: uuid,
    attempt,
    /** What the human saw: a run without an end, or one that ended and did not say how far it came. */
    settles: z.enum(['claimed', 'partial']),
    outcome: z.enum(['happened', 'did_not_happen']),
    reason: prose,
    ...signed,
  })),
  'retry.authorised': body(() => ({
    attempt,
    after: uuid,
    /** What the human saw: a run that failed, or one that was taken back. */
    from: z.enum(['failed', 'rolled_back']),
    hash: digest,
    /** The same effect again, or that of an alternate that the intent names. */
    effect_digest: digest,
    tool: title,
    reason: prose,
    ...signed,
  })),

  'rollback.claimed': body(() => ({
    execution_id: uuid,
    /** Counted from 1: a rollback that is stuck can be tried again. */
    round: z.int().min(1),
    /** The checkpoints to restore; none stands for all of them. */
    checkpoints: z.array(z.string().min(1).max(fieldLimits.reference_chars)).max(fieldLimits.values),
    /** Paths that this human leaves as they are. */
    except: z.array(z.string().min(1).max(fieldLimits.path_chars)).max(fieldLimits.values),
    /** The run as the human saw it: how it stood, and what its executor had recorded of it. */
    undoes: z.strictObject({
      status: z.enum(UNDONE_FROM),
      manifest: digest.nullable(),
      journal: digest.nullable(),
    }),
    executor,
    ...by_executor,
    reason: prose,
    ...signed,
  })),
  'rollback.finished': body(() => ({
    execution_id: uuid,
    round: z.int().min(1),
    /** `partial`: only the checkpoints that were asked for. `stuck`: some path could not be restored. */
    result: z.enum(['complete', 'partial', 'stuck']),
    report: digest,
    ...by_executor,
  })),
} as const;
