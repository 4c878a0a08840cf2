import type { Act, Call } from './answer.ts';

/** One command as the person sees it. What it does is loaded only when it is called. */
export interface Spec extends Declared {
  readonly load: () => Promise<Act>;
}

/** A command of the lane: it asks no project, and prints the lines and the JSON of 000 and 001 itself. Answers with the exit code. */
export interface LaneSpec extends Declared {
  readonly answers: () => Promise<(call: Call) => Promise<number>>;
}

interface Declared {
  /** One word, or a group and a word. */
  readonly name: string;
  readonly about: string;
  readonly operands?: readonly Operand[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly string[];
  /** It is refused at a service (HOST_ONLY), whatever its options are: docs/service.md says why. */
  readonly host_only?: true;
}

export interface Operand {
  /** `<id>`, or `[id]` where it may be left out. */
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
}

export interface OptionSpec {
  readonly flags: string;
  readonly about: string;
  readonly required?: true;
  /** May be given several times. Any other option that is given twice is refused. */
  readonly many?: true;
  /** The command itself says what it makes of a value without text. */
  readonly may_be_empty?: true;
  readonly choices?: readonly string[];
}

/** `check` and `run` take the whole id: 000 and 001 fix their form. */
export const wholeId: Operand = { name: '<id>', about: 'the id of the intent' };
export const id: Operand = { name: '<id>', about: 'the id of the intent, or its first 4 or more characters' };
export const execution: Operand = {
  name: '<execution>',
  about: 'the id of the execution, or its first 4 or more characters',
};
export const hash: Operand = { name: '<hash>', about: 'the hash of the intent' };
export const as: OptionSpec = {
  flags: '--as <human>',
  about: 'who acts; needed when several have a key here',
};
export const reason: OptionSpec = {
  flags: '--reason <text>',
  about: 'why; it is signed and kept',
  required: true,
};
export const out: OptionSpec = {
  flags: '--out <file>',
  about: 'write to this new file instead of standard output',
};

/** What every list takes beside what it is of. */
export const pages: readonly OptionSpec[] = [
  { flags: '--tool <name>', about: 'only calls of this tool, or the plan of this id' },
  { flags: '--since <time>', about: 'since then: a time, or an age such as 2h' },
  { flags: '--until <time>', about: 'before then' },
  { flags: '--limit <n>', about: 'at most this many; 50 unless told' },
  { flags: '--cursor <text>', about: 'go on where the page before ended' },
];
/** What a list that shows goals takes, too. */
export const withText: OptionSpec = {
  flags: '--text <text>',
  about: 'only where goal, tool or proposer hold this text',
};
export const ofIntent: OptionSpec = {
  flags: '--intent <id>',
  about: 'only those of this intent: its id, or its first 4 or more characters',
};

/** A delegate acts with its own key, in the place of a human. */
export const delegationId: OptionSpec = {
  flags: '--delegation <id>',
  about: 'the delegation that allows it: its id, or its first 4 or more characters',
};
export const agentKey: OptionSpec = {
  flags: '--agent-key <file>',
  about: 'the key of the agent; no passphrase is asked',
};
export const role: OptionSpec = { flags: '--role <role>', about: 'a role; once for each', many: true };
export const scope: OptionSpec = {
  flags: '--scope <reach>',
  about: 'read=PATH, write=PATH, network, unconfined, pipeline=NAME, or nothing; once for each',
  many: true,
};
export const condition: OptionSpec = {
  flags: '--condition <fact>',
  about: 'environment=prod, host=H, hours=9-17 (UTC), not-before=TIME or file=PATH:SHA256; once for each',
  many: true,
};
/** What a freeze stops. Without any of them: everything. */
export const frozen: readonly OptionSpec[] = [
  { flags: '--agent <name>', about: 'what this one proposed' },
  { flags: '--tool <name>', about: 'this tool, or the plan of this id' },
  { flags: '--tenant', about: 'this tenant' },
];

export const ID = '5f0c9a52-7c1f-4f0e-9a55-0d6f2f4e8f11';
export const HASH = 'd74524813b020264a1b9e1f35b9c01f2f5cd01233e1f48e0ce5a7f14d8d1a9b0';
