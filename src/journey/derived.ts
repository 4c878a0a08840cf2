import type { Digest } from '../canonical/digest.ts';
import type { ResourceScope } from '../capability/scope.ts';
import type { OnOutput } from '../effect/child.ts';
import type { Secrets } from '../effect/secret.ts';
import type { Event } from '../event/event.ts';
import type { McpEffect } from '../mcp-call/effect.ts';
import type { PlanProgress } from '../plan/engine/outcome.ts';
import type { PlanEffect } from '../plan/model.ts';
import type { ReasonCode } from '../refusal.ts';
import type { ToolEffect } from '../tool/effect.ts';

/** What an intent would do. Its canonical bytes are what the human approves. */
export type Effect = ToolEffect | PlanEffect | McpEffect;

/** An effect as the world is now, with a hand on everything that doing it needs. */
export interface Derived {
  readonly effect: Effect;
  readonly registry_digest: Digest;
  readonly registry_bytes: Uint8Array;
  /** The tool, or the id of the plan. */
  readonly name: string;
  readonly approvals_needed: number;
  /** What it takes from files, to be kept beside the proposal; looked at only when it is proposed. */
  readonly contents: readonly Uint8Array[];
  /** Refuses, with the reason, an effect that is not the approved one. */
  requireSame(approved: Effect): void;
  /** Whether deriving it again would give the same, where that can be told without doing it. */
  isStillTrue?(): boolean;
  /**
   * Everything that can be refused before the claim. What is opened here stays open until `close`. The scope is that of the
   * capability: a tool's sandbox is made from it. The secrets are all that the effect names. What a server was asked for at `since_ms` or later
   * need not be asked for again.
   */
  prepare(scope: ResourceScope, secrets: Secrets, since_ms?: number): Prepared | Promise<Prepared>;
}

export interface Prepared {
  /** Where a plan will keep its backups and reports: part of the claim, so that a crash cannot lose them. */
  readonly reports: string | null;
  run(options: RunOptions): Promise<Ended>;
  close(): void;
}

export interface RunOptions {
  readonly execution_id: string;
  /** Records the manifest of a plan, durably, before anything is changed. */
  readonly checkpointed: (manifest: Digest) => Promise<void>;
  /** Records the journal of a plan, durably, before what its last line announces is done. */
  readonly announced: (journal: Digest) => Promise<void>;
  readonly abort?: AbortSignal;
  readonly onStep?: (step: RunStep) => void;
  readonly onOutput?: OnOutput;
}

/** What a plan begins or has done, out of so many actions. */
export type RunStep = PlanProgress & { readonly of: number };

/** How far a plan has come. */
export interface Progress {
  readonly done: number;
  readonly of: number;
  readonly what: string;
}

/** What is at work; null where only something of it is done. */
export function progressOf(step: RunStep): Progress | null {
  const { phase, of } = step;
  if (phase === 'action') return { done: step.number - 1, of, what: step.action_id };
  return phase === 'action_done' ? null : { done: phase === 'done' ? of : 0, of, what: phase };
}

/** How it ended, whatever it was. */
export interface Ended {
  readonly result: Event<'execution.finished'>['body']['result'];
  readonly reason_code: ReasonCode | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly reports: Readonly<Record<string, Uint8Array>>;
  /** What is left to do once the record is durable, such as reports for people. The record does not wait for it. */
  readonly afterRecord?: () => Promise<void>;
}

export interface Captured {
  readonly bytes: Uint8Array;
  readonly total: number;
  readonly truncated: boolean;
}
