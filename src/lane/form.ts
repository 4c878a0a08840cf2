import type { Json, JsonObject } from '../canonical/json.ts';
import { isUuid } from '../canonical/uuid.ts';
import { refuse } from '../refusal.ts';

/** A line of `pending.jsonl` or `approved.jsonl`. It holds the hash of the intent, never its text. */
export interface IntentLine {
  readonly id: string;
  readonly timestamp: string;
  readonly hash: string;
}

/** A line of `executed.jsonl`: as 000 writes it (with or without `hash`), or as 001 does (with the other three). */
export interface ExecutedLine {
  readonly id: string;
  readonly timestamp: string;
  readonly outcome: Outcome | null;
}

type Outcome = 'started' | 'success' | 'failure';

/**
 * How one kind of line is understood. `parse` decides. `exact` is the source of a pattern for lines in the common
 * form: whatever it matches, `parse` accepts too; whatever it does not match goes through the strict parser.
 */
export interface Form<T> {
  readonly exact: string;
  parse(line: JsonObject): T;
}

const HEX = '[0-9a-f]';
const UUID = `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`;
const DATE = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?';
const TIME = `${DATE}[T ]${CLOCK}(?:Z|[+-]\\d\\d:?\\d\\d)?`;
const HASH = `"hash": ?"${HEX}{64}"`;
// No quote, no backslash, no control character: such a string means what it shows, and cannot hold another key.
const PLAIN = '[ !#-\\[\\]-~]+';
const EXIT = '(?:null|0|-?[1-9]\\d{0,9})';
const RUN = `"tool": ?"${PLAIN}", ?"exit_code": ?${EXIT}, ?"outcome": ?"(?:started|success|failure)"`;
const START = `\\{"id": ?"${UUID}", ?"timestamp": ?"${TIME}"`;

const time = new RegExp(`^${TIME}$`);
const digest = new RegExp(`^${HEX}{64}$`);
const outcomes: readonly Json[] = ['started', 'success', 'failure'];

/** As `isDigest` says it. Said again, because loading node:crypto costs a small check a tenth of its time. */
export function isHash(text: string): boolean {
  return digest.test(text);
}

export const intentForm: Form<IntentLine> = {
  exact: `${START}, ?${HASH}\\}`,
  parse: (line) => ({ ...idAndTime(line), hash: hashOf(line) }),
};

export const executedForm: Form<ExecutedLine> = {
  exact: `${START}(?:, ?(?:${HASH}|${RUN}))?\\}`,
  parse(line) {
    const known = idAndTime(line);
    // A record of 000 has the hash, or nothing more (its example 2); one of 001 has all of the others. Each field that
    // is there must be right, and half a record of 001 is none.
    if (Object.hasOwn(line, 'hash')) hashOf(line);
    else if (RUN_FIELDS.some((field) => Object.hasOwn(line, field)))
      for (const field of RUN_FIELDS) if (!Object.hasOwn(line, field)) malformed(field);
    return { ...known, outcome: runOf(line) };
  },
};

const RUN_FIELDS = ['tool', 'exit_code', 'outcome'] as const;

function idAndTime(line: JsonObject): { id: string; timestamp: string } {
  const { id, timestamp } = own(line, 'id', 'timestamp');
  if (typeof id !== 'string' || !isUuid(id)) malformed('id');
  if (typeof timestamp !== 'string' || !time.test(timestamp)) malformed('timestamp');
  return { id, timestamp };
}

function hashOf(line: JsonObject): string {
  const { hash } = own(line, 'hash');
  if (typeof hash !== 'string' || !isHash(hash)) malformed('hash');
  return hash;
}

function runOf(line: JsonObject): Outcome | null {
  const { tool, exit_code, outcome } = own(line, ...RUN_FIELDS);
  if (tool !== undefined && (typeof tool !== 'string' || tool === '')) malformed('tool');
  if (exit_code !== undefined && exit_code !== null && !Number.isSafeInteger(exit_code))
    malformed('exit_code');
  if (outcome !== undefined && !outcomes.includes(outcome)) malformed('outcome');
  return (outcome as Outcome | undefined) ?? null;
}

function own(line: JsonObject, ...fields: string[]): Record<string, Json | undefined> {
  return Object.fromEntries(
    fields.map((field) => [field, Object.hasOwn(line, field) ? line[field] : undefined]),
  );
}

function malformed(field: string): never {
  return refuse('SHAPE_INVALID', `The field "${field}" is missing or not as it must be.`);
}
