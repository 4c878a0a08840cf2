import { visible } from '../canonical/visible.ts';
import { explain, type ReasonCode } from '../refusal.ts';

/** Where the lane has its own way on, its advice replaces the general one. */
const advices: Readonly<Partial<Record<ReasonCode, string>>> = {
  APPROVAL_MISSING: 'Run `keyturn lane review`.',
  ALREADY_EXECUTED: 'Queue a new intent if it is wanted again.',
  RUN_IN_DOUBT: 'Find out what happened. In the lane this id stays blocked for good.',
  RECORDING_FAILED: 'Find out what happened. In the lane this id stays blocked for good.',
  EFFECT_CHANGED: 'Find out who changed it, then run the command again.',
  EXECUTABLE_CHANGED: 'Find out who changed it, then run the command again.',
};

/** A reason as the edges show it: the code, what was found, what a human can do. */
export interface ShownReason {
  readonly code: ReasonCode;
  readonly message: string;
  readonly advice: string;
}

export function reasonOf({
  code,
  message,
}: {
  readonly code: ReasonCode;
  readonly message: string;
}): ShownReason {
  return { code, message: visible(message), advice: advices[code] ?? explain(code).advice };
}

/** The one line for standard error. */
export function reasonLine(reason: ShownReason): string {
  return `${reason.code}: ${reason.message} ${reason.advice}`;
}
