import * as z from 'zod';
import { type Category, explain, type ReasonCode, Refusal } from '../refusal.ts';

/** What a category of reasons is in HTTP. */
const BY_CATEGORY: Readonly<Record<Category, number>> = {
  VALIDATION_ERROR: 400,
  FILE_SYSTEM_ERROR: 409,
  PERMISSION_ERROR: 403,
  DEPENDENCY_ERROR: 409,
  INTERNAL_ERROR: 500,
};

/** The reasons that HTTP has a better word for. */
const BY_CODE: { readonly [C in ReasonCode]?: number } = {
  CALLER_UNPROVEN: 401,
  TOKEN_INVALID: 401,
  LINK_SPENT: 401,
  MESSAGE_SIGNATURE_INVALID: 401,
  MESSAGE_REPLAYED: 401,
  ENROLMENT_UNKNOWN: 404,
  ROUTE_UNKNOWN: 404,
  INTENT_NOT_FOUND: 404,
  EXECUTION_NOT_FOUND: 404,
  PRINCIPAL_UNKNOWN: 404,
  CREDENTIAL_UNKNOWN: 404,
  CAPABILITY_UNKNOWN: 404,
  DELEGATION_UNKNOWN: 404,
  METHOD_WRONG: 405,
  ACT_CHANGED: 409,
  ACT_LATE: 409,
  DECISION_STALE: 409,
  ORDER_OPEN: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  REPLAY_DIFFERS: 409,
  AGENT_REPLAY_DIFFERS: 409,
  INPUT_TOO_LARGE: 413,
  MEDIA_TYPE_WRONG: 415,
  HOST_UNKNOWN: 421,
  PROPOSALS_LIMITED: 429,
  CALLER_LIMITED: 429,
  LOGIN_UNAVAILABLE: 503,
  DISK_FULL: 503,
  WRITE_FAILED: 503,
  STORE_MISSING: 503,
  STORE_CORRUPT: 503,
  STORE_READ_ONLY: 503,
  STORE_UNREACHABLE: 503,
  STORE_BUSY: 503,
  STORE_DENIED: 503,
  STORE_TLS: 503,
  LEDGER_BROKEN: 503,
  LEDGER_TRUNCATED: 503,
  LEDGER_FORKED: 503,
  LEDGER_FOREIGN: 503,
  KEPT_HEAD_INVALID: 503,
  CLOCK_BEHIND: 503,
  CLOCK_AHEAD: 503,
};

export function httpStatusOf(code: ReasonCode): number {
  return BY_CODE[code] ?? BY_CATEGORY[explain(code).category];
}

/** The same where a refusal stands in an answer. */
export const problemTold = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  number: z.int(),
  advice: z.string(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

/** A refusal as RFC 9457 has it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ReasonCode;
  readonly number: number;
  readonly advice: string;
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** An error that is no refusal is not told to the caller: its text could hold secrets. */
export function problemOf(error: unknown): Problem {
  const refusal = error instanceof Refusal ? error : new Refusal('INTERNAL');
  const { code, message: detail, advice, facts } = refusal;
  const { number, meaning: title } = explain(code);
  return {
    type: `urn:keyturn:reason:${code}`,
    title,
    status: httpStatusOf(code),
    detail,
    code,
    number,
    advice,
    facts,
  };
}
