import { refuse } from '../../refusal.ts';
import type { Action, ActionEffect, PipelineStep } from '../model.ts';
import type { Handler } from './handler.ts';

/** What knows the registered pipelines and runs their steps, under the sandbox of `tool/`. */
export interface Pipelines {
  /** The steps in order, as the registry and the files are now: part of what is approved. */
  resolve(action: Action<'PIPELINE_RUN'>): Promise<readonly PipelineStep[]> | readonly PipelineStep[];
  /** Must refuse steps that are not the approved ones, and end when the signal is aborted. */
  run(action: ActionEffect<'PIPELINE_RUN'>, options: PipelineOptions): Promise<PipelineResult>;
}

export interface PipelineOptions {
  readonly signal: AbortSignal;
  readonly timeout_ms: number;
  /** Held by whatever a step starts, as long as that lives. */
  readonly lock?: string;
}

export interface PipelineResult {
  readonly ok: boolean;
  /** One sentence for the report. */
  readonly output: string;
}

/** PIPELINE_RUN: what it does outside stays done, so its undo is `none` and the approver sees that. */
export function createPipelineRunHandler(pipelines: Pipelines | undefined): Handler<'PIPELINE_RUN'> {
  const known = () => pipelines ?? refuse('RUNNER_MISSING', 'No pipelines are registered.');
  return {
    undo: 'none',

    async simulate(action) {
      return { changes: [], steps: await known().resolve(action) };
    },

    async execute(action, writer) {
      const runner = known();
      const { action_id } = action;
      writer.proceed();
      await writer.announce({ kind: 'started', at: writer.clock().toISOString(), action_id });
      let ok = false;
      try {
        const result = await runner.run(action, writer);
        ok = result.ok;
        if (!ok) refuse('PIPELINE_FAILED', result.output);
        return result.output;
      } finally {
        writer.journal({ kind: 'ended', at: writer.clock().toISOString(), action_id, ok });
      }
    },
  };
}
