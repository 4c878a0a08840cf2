import { type ReasonCode, Refusal } from '../../refusal.ts';

/** The one place where an error of PostgreSQL, of its driver, or of the network becomes a reason code. */
export function storeRefusal(error: unknown): unknown {
  if (error instanceof Refusal || !(error instanceof Error)) return error;
  if (isAnswer(error) && SWITCHED.has(error.code)) return new Refusal('WRITE_FAILED', POOLER);
  const code = isAnswer(error) ? answerCode(error) : driverCode(error as NodeJS.ErrnoException);
  return code ? new Refusal(code, `The store says: ${error.message}.`) : error;
}

/** Our own prepared statements are unknown, or there are others of their names: this is not the session they were made in. */
const SWITCHED: ReadonlySet<string> = new Set(['26000', '42P05']);
export const POOLER = 'The session changed under a statement: a pooler must be in session mode.';

/** A pooler, which takes no settings when a session begins. */
export function isPoolers(error: unknown): boolean {
  return isAnswer(error) && error.code === '08P01' && /startup parameter/.test(error.message);
}

/** For whatever the store is asked from outside. */
export async function mapped<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw storeRefusal(error);
  }
}

/** An error that the server sent, with its SQLSTATE. */
interface Answer extends Error {
  readonly code: string;
  readonly severity: string;
}

function isAnswer(error: unknown): error is Answer {
  return error instanceof Error && 'severity' in error && /^[0-9A-Z]{5}$/.test((error as Answer).code);
}

/** The session is gone, or was never there. What was asked before may have been done. */
export function isLost(error: unknown): boolean {
  // The server became a standby. The one that takes writes is another, or will be.
  if (isAnswer(error) && error.code === '25006') return true;
  const refusal = storeRefusal(error);
  return refusal instanceof Refusal && refusal.code === 'STORE_UNREACHABLE';
}

/** The server has no room for another connection now. Nothing was asked yet. */
export function isFull(error: unknown): boolean {
  return isAnswer(error) && error.code === '53300';
}

/** The server lives and said no: what it was asked did not happen. */
export function isNo(error: unknown): boolean {
  return isAnswer(error) && !isLost(error) && !/^(58|XX)/.test(error.code);
}

/** The server gave up one of two transactions that were in each other's way. */
export function isConflict(error: unknown): boolean {
  return isAnswer(error) && (error.code === '40001' || error.code === '40P01');
}

/** A row that must be unique is there already. */
export function isTaken(error: unknown): boolean {
  return isAnswer(error) && error.code === '23505';
}

/** There is no such table or schema. */
export function isMissingTable(error: unknown): boolean {
  return isAnswer(error) && (error.code === '42P01' || error.code === '3F000');
}

const EXACT: Readonly<Record<string, ReasonCode>> = {
  '3D000': 'STORE_MISSING',
  '25006': 'STORE_READ_ONLY',
  // The server ended a transaction that was idle or took too long, or does not take connections now.
  '25P03': 'STORE_UNREACHABLE',
  '25P04': 'STORE_UNREACHABLE',
  '57P01': 'STORE_UNREACHABLE',
  '57P02': 'STORE_UNREACHABLE',
  '57P03': 'STORE_UNREACHABLE',
  '57P05': 'STORE_UNREACHABLE',
  '42501': 'STORE_DENIED',
  '53100': 'DISK_FULL',
  '55P03': 'STORE_BUSY',
  '57014': 'STORE_BUSY',
  '58030': 'WRITE_FAILED',
};

const CLASS: Readonly<Record<string, ReasonCode>> = {
  '08': 'STORE_UNREACHABLE',
  '28': 'STORE_DENIED',
  // Two transactions in each other's way; too many connections or too little memory.
  '40': 'STORE_BUSY',
  '53': 'STORE_BUSY',
  // Our statements are fixed, so tables or rows are not the ones we made.
  '0A': 'STORE_CORRUPT',
  '22': 'STORE_CORRUPT',
  '23': 'STORE_CORRUPT',
  '3F': 'STORE_CORRUPT',
  '42': 'STORE_CORRUPT',
  P0: 'STORE_CORRUPT',
  XX: 'STORE_CORRUPT',
};

function answerCode({ code, message }: Answer): ReasonCode {
  // The server's list of who may connect has an entry for this role, but not without TLS.
  if (code === '28000' && /no encryption|SSL off/.test(message)) return 'STORE_TLS';
  return EXACT[code] ?? CLASS[code.slice(0, 2)] ?? 'INTERNAL';
}

const NETWORK = /^(ECONN|EPIPE|ENOTFOUND|EAI_|ETIMEDOUT|EHOST|ENET|ENOENT|EADDR)/;
const TLS = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

/** The driver has no codes for its own errors, only words. */
const WORDS: readonly (readonly [RegExp, ReasonCode])[] = [
  [/does not support SSL|SSL connection/, 'STORE_TLS'],
  [/client password must be|server returned error/, 'STORE_DENIED'],
  [/SCRAM-SERVER|SASL: Last message/, 'STORE_UNPROVEN'],
  [/SASL|password must be|authentication/i, 'STORE_DENIED'],
  [/Connection terminated|not queryable|timeout|socket/i, 'STORE_UNREACHABLE'],
];

function driverCode({ code = '', message }: NodeJS.ErrnoException): ReasonCode | undefined {
  if (TLS.test(code)) return 'STORE_TLS';
  if (NETWORK.test(code)) return 'STORE_UNREACHABLE';
  // Several addresses of one name were tried, and none answered.
  if (code === '' && message === '') return 'STORE_UNREACHABLE';
  return WORDS.find(([words]) => words.test(message))?.[1];
}
