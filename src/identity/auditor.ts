/** The role of a human who reads everything and acts on nothing. */
export const AUDITOR = 'auditor';

export function isAuditor({
  kind,
  roles,
}: {
  readonly kind: 'human' | 'agent';
  readonly roles: readonly string[];
}): boolean {
  return kind === 'human' && roles.includes(AUDITOR);
}
