import { authorityReasons } from './reason/authority.ts';
import { contentReasons } from './reason/content.ts';
import { conversationReasons } from './reason/conversation.ts';
import { dependencyReasons } from './reason/dependency.ts';
import { fileSystemReasons } from './reason/file-system.ts';
import { internalReasons } from './reason/internal.ts';
import { mcpDependencyReasons } from './reason/mcp.ts';
import { permissionReasons } from './reason/permission.ts';
import { remoteDependencyReasons, remotePermissionReasons } from './reason/remote.ts';
import { validationReasons } from './reason/validation.ts';

export { didYouMean } from './reason/similar.ts';

/**
 * Every reason Keyturn can say no. One closed registry: code, number, what it means, what a human can do.
 *
 * The thousands digit is the category: 1 validation, 2 file system, 3 permission, 4 dependency, 5 internal.
 * Tests assert codes, never prose. `keyturn explain CODE` prints an entry.
 */
const reasons = {
  ...validationReasons,
  ...contentReasons,
  ...fileSystemReasons,
  ...permissionReasons,
  ...authorityReasons,
  ...remotePermissionReasons,
  ...dependencyReasons,
  ...remoteDependencyReasons,
  ...mcpDependencyReasons,
  ...internalReasons,
};

export type ReasonCode = keyof typeof reasons;
export type Category =
  | 'VALIDATION_ERROR'
  | 'FILE_SYSTEM_ERROR'
  | 'PERMISSION_ERROR'
  | 'DEPENDENCY_ERROR'
  | 'INTERNAL_ERROR';

const categories: readonly Category[] = [
  'VALIDATION_ERROR',
  'FILE_SYSTEM_ERROR',
  'PERMISSION_ERROR',
  'DEPENDENCY_ERROR',
  'INTERNAL_ERROR',
];

export interface Explanation {
  readonly code: ReasonCode;
  readonly number: number;
  readonly category: Category;
  readonly meaning: string;
  readonly advice: string;
}

export const reasonCodes: readonly ReasonCode[] = Object.keys(reasons) as ReasonCode[];

export function isReasonCode(text: string): text is ReasonCode {
  return Object.hasOwn(reasons, text);
}

export function explain(code: ReasonCode): Explanation {
  const [number, meaning, advice] = reasons[code];
  return { code, number, category: categories[Math.floor(number / 1000) - 1]!, meaning, advice };
}

/** A code of a conversation that is not a refusal: why it waits, went on or ended. */
export interface Remark {
  readonly code: string;
  readonly number: null;
  readonly category: 'CONVERSATION';
  readonly meaning: string;
  readonly advice: string;
}

export const remarks: readonly Remark[] = Object.entries(conversationReasons).map(
  ([code, [meaning, advice]]) => ({ code, number: null, category: 'CONVERSATION', meaning, advice }),
);

/** A refusal: thrown where it is found, caught once at the edge that talks to the caller. */
export class Refusal extends Error {
  readonly code: ReasonCode;
  /** What was checked and what was found. Shown to the human, so it holds no secrets. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ReasonCode, message?: string, facts: Record<string, string | number | boolean> = {}) {
    super(message ?? explain(code).meaning);
    this.name = 'Refusal';
    this.code = code;
    this.facts = facts;
  }

  /** What a human can do about it. */
  get advice(): string {
    return explain(this.code).advice;
  }
}

/** Stop here with a reason. */
export function refuse(
  code: ReasonCode,
  message?: string,
  facts?: Record<string, string | number | boolean>,
): never {
  throw new Refusal(code, message, facts);
}
