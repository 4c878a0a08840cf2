import { matchesAny } from './glob.ts';

/** The three groups of 004 section 9.1. Touching one of them needs a second approver. */
export const protectedGroups = ['critical', 'important', 'agent_system'] as const;
export type ProtectedGroup = (typeof protectedGroups)[number];

export type ProtectedFiles = Readonly<Record<ProtectedGroup, readonly string[]>>;

export interface Protection extends ProtectedFiles {
  /** Keyturn's own files: open to no plan, under any approval. */
  readonly own: readonly string[];
}

/** A nested repository has hooks too, and `git~1` is the short name of `.git` on some file systems. */
const GROUPS: ProtectedFiles = {
  critical: ['**/.git/**', '**/git~?/**', '.env', '.env.*', 'credentials.json', 'secrets.*'],
  important: ['requirements.txt', 'pyproject.toml', 'setup.py', '.pre-commit-config.yaml'],
  agent_system: [
    'agent/agent_rules.md',
    'agent_inspector/agent_inspector.md',
    'agent_executor/agent_executor.md',
  ],
};

const OWN: readonly string[] = [
  '.keyturn/**',
  'keyturn.yaml',
  'policies/**',
  'simulations/**',
  'agent_outputs/**',
  'agent_logs/**',
];

/** The temporary files of a run, whose names begin with it, are found and removed by a rollback. */
const TEMPORARY = '.kt-*';

const DEFAULT_REGISTRIES: readonly string[] = ['tools.yaml'];

/**
 * What is protected. More can be added, nothing taken away: a configuration that travels with a plan comes from whoever wrote
 * the plan. `registries` are the paths of the tool registries of the project.
 */
export function protectionWith(
  added: Partial<ProtectedFiles> = {},
  registries: readonly string[] = DEFAULT_REGISTRIES,
): Protection {
  return {
    own: [...OWN.map(anchored), ...registries.map(anchored), TEMPORARY],
    critical: [...GROUPS.critical, ...(added.critical ?? [])],
    important: [...GROUPS.important, ...(added.important ?? [])],
    agent_system: [...GROUPS.agent_system, ...(added.agent_system ?? [])],
  };
}

/** A pattern without a slash would match at any depth. `x/**` matches `x` as well, so this pins one file to the root. */
function anchored(path: string): string {
  return path.includes('/') ? path : `${path}/**`;
}

/** The strongest protection of a path; null when it has none. A twin of a protected path is protected like it. */
export function protectionOf(path: string, protection: Protection): 'own' | ProtectedGroup | null {
  if (matchesAny(protection.own, path)) return 'own';
  return protectedGroups.find((group) => matchesAny(protection[group], path)) ?? null;
}
