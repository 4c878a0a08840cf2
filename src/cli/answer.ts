import type { Refusal } from '../refusal.ts';

/** What was typed, once the command parser has understood it. */
export interface Call {
  /** Such as `ledger verify`. */
  readonly command: string;
  readonly operands: readonly string[];
  readonly options: Options;
}

/** Every option of every command. Which command takes which is said in commands.ts. */
export interface Options {
  readonly action?: readonly string[];
  /** `identity add --agent` says what is enrolled, `freeze --agent NAME` says who is stopped. */
  readonly agent?: boolean | string;
  readonly agentKey?: string;
  readonly alternate?: string;
  readonly application?: string;
  readonly approves?: boolean;
  readonly arg?: readonly string[];
  readonly as?: string;
  readonly audience?: string;
  readonly bundle?: string;
  readonly by?: string;
  readonly capability?: string;
  readonly category?: string;
  readonly checkpoint?: readonly string[];
  readonly client?: string;
  readonly condition?: readonly string[];
  readonly config?: string;
  readonly correlation?: string;
  readonly cursor?: string;
  readonly deep?: boolean;
  readonly delegateKey?: string;
  readonly delegation?: string;
  readonly digest?: string;
  readonly id?: string;
  readonly dryRun?: boolean;
  readonly env?: readonly string[];
  readonly move?: string;
  readonly envelope?: string;
  readonly except?: readonly string[];
  readonly figure?: readonly string[];
  readonly execute?: boolean;
  readonly file?: string;
  readonly and?: readonly string[];
  readonly executor?: string;
  readonly goal?: string;
  readonly hash?: string;
  readonly head?: readonly string[];
  readonly hold?: string;
  readonly home?: boolean;
  readonly holder?: string;
  readonly holderKey?: string;
  readonly host?: string;
  readonly hostIsDead?: boolean;
  readonly intent?: string;
  readonly json?: boolean;
  readonly keep?: string;
  readonly keepMb?: string;
  readonly key?: string;
  readonly keyOut?: string;
  readonly keys?: boolean;
  readonly kind?: string;
  readonly label?: string;
  readonly serves?: readonly string[];
  readonly language?: string;
  readonly last?: boolean;
  readonly limit?: string;
  readonly link?: boolean;
  readonly name?: string;
  readonly needs?: string;
  readonly olderThan?: string;
  readonly oidcClaim?: string;
  readonly oidcClient?: string;
  readonly oidcIssuer?: string;
  readonly oidcName?: readonly string[];
  readonly oidcSecretFile?: string;
  readonly orderedBy?: string;
  readonly out?: string;
  readonly outcome?: string;
  readonly output?: boolean;
  readonly packet?: boolean;
  readonly parallel?: string;
  readonly passkey?: boolean;
  readonly recoveryKey?: boolean;
  readonly plan?: string;
  readonly port?: string;
  readonly preview?: boolean;
  readonly publicUrl?: string;
  readonly project?: string;
  readonly queue?: string;
  readonly readableToo?: boolean;
  readonly reason?: string;
  readonly recent?: string;
  readonly registry?: string;
  readonly replaces?: string;
  readonly idempotencyKey?: string;
  readonly receipt?: string;
  readonly role?: readonly string[];
  readonly runAs?: string;
  readonly bearer?: string;
  readonly oauthIssuer?: string;
  readonly oauthClaim?: string;
  readonly controlPlane?: string;
  readonly oauthName?: readonly string[];
  readonly allow?: readonly string[];
  readonly schema?: string;
  readonly scope?: readonly string[];
  readonly secret?: readonly string[];
  readonly service?: string;
  readonly settings?: string;
  readonly sign?: boolean;
  readonly since?: string;
  readonly status?: string;
  readonly step?: string;
  /** `freeze --tenant` says what is stopped, `store copy --tenant NAME` whose ledger is copied. */
  readonly tenant?: boolean | string;
  readonly text?: string;
  readonly thread?: string;
  readonly token?: boolean;
  readonly tool?: string;
  readonly ttl?: string;
  readonly turn?: string;
  readonly undoableToo?: boolean;
  readonly until?: string;
  readonly user?: string;
  readonly uses?: string;
  readonly verifier?: string;
  readonly withObjects?: boolean;
  readonly withoutRoles?: boolean;
  readonly write?: boolean;
}

/** What a command has to say. One answer, two forms: lines for a person, `result` for `--json`. */
export interface Answer {
  /** What the verb answered, a no too; null where it was refused before there was an answer. */
  readonly result: object | null;
  /** What this command made on this host: a file, or a secret that is told only now. `result` is what the verb answered, and has neither. */
  readonly here?: object;
  readonly lines: readonly string[];
  /** The answer is no. Its lines go to stdout as they are, the reason goes to stderr. */
  readonly refusal?: Refusal;
  /** With `--json` its lines, which 000 and 001 fix, are among the facts. */
  readonly is_decision?: boolean;
  /** What stands beside the answer: on stderr, before the reason of a no. */
  readonly notes?: readonly string[];
  /** No line on stdout says that this is an error, so stderr says it the way it says every other one. */
  readonly is_plain?: boolean;
  /** What the process ends with where it is not 0 for a yes and 1 for a no: the exit code of a tool that ran. */
  readonly exit_code?: number;
  /** It can be longer than a screen: at a terminal it is shown page by page. */
  readonly is_long?: boolean;
}

export type Act = (call: Call) => Promise<Answer>;

/** A decision that said no, in the words of 000 and 001. */
export function denied(refusal: Refusal, lines: readonly string[], result: object | null = null): Answer {
  return { result, lines, refusal, is_decision: true };
}
