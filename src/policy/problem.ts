/** One thing that is wrong with a policy set, and where. */
export interface PolicyProblem {
  readonly file: string;
  readonly line: number;
  /** Null when it is not about one policy, or the policy has no id. */
  readonly policy: string | null;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

interface Subject {
  readonly file: string;
  readonly line: number;
  readonly id: string;
}

export function about(
  { file, line, id }: Subject,
  message: string,
  severity: PolicyProblem['severity'] = 'error',
): PolicyProblem {
  return { file, line, policy: id || null, message, severity };
}

export function atLine(file: string, line: number, message: string): PolicyProblem {
  return { file, line, policy: null, message, severity: 'error' };
}

/** The problem as one sentence that names its place. */
export function sentenceOf({ file, line, policy, message }: PolicyProblem): string {
  const subject = policy === null ? '' : ` the policy "${policy}"`;
  return `${file}, line ${line}:${subject} ${message}.`;
}
