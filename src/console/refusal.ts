import type { ReasonCode } from '../refusal.ts';

/** Stands in the page for `src/refusal.ts`, without the texts of all reasons: what the service refuses, it tells itself. */
export class Refusal extends Error {
  readonly code: ReasonCode;

  constructor(code: ReasonCode, message: string = code) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

export function refuse(code: ReasonCode, message?: string): never {
  throw new Refusal(code, message);
}
