import { isWithin } from '../../intent/path.ts';
import { type PathGlobs, pathGlobs } from './glob.ts';

/** The three groups of 004 section 9.1. Touching one of them needs a second approver. */
export const protectedGroups = ['critical', 'important', 'agent_system'] as const;
export type ProtectedGroup = (typeof protectedGroups)[number];

export type ProtectedFiles = Readonly<Record<ProtectedGroup, readonly string[]>>;

/** `own` are Keyturn's own files: open to no plan, under any approval. */
export type Protection = Readonly<Record<'own' | ProtectedGroup, PathGlobs>>;

/**
 * What 004 names, and what makes code run later, outside of Keyturn and without an approval: the next install, build, commit, editor
 * window, shell or pipeline would run what was written there. A name without a slash is protected at every depth. A nested
 * repository has hooks too, and `git~1` is the short name of `.git` on some file systems.
 */
const GROUPS: ProtectedFiles = {
  critical: [
    ...['**/.git/**', '**/git~?/**', '.env', '.env.*', 'credentials.json', 'secrets.*'],
    // Files that hold tokens.
    ...['.npmrc', '.yarnrc.yml', '.pypirc', '.netrc', '**/.ssh/**'],
  ],
  important: [
    ...['requirements.txt', 'pyproject.toml', 'setup.py', '.pre-commit-config.yaml'],
    // Packages: what an install fetches and runs.
    ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', '.yarnrc', '**/.yarn/**'],
    ...[
      'pnpm-lock.yaml',
      'pnpm-workspace.yaml',
      '.pnpmfile.cjs',
      'bunfig.toml',
      'bun.lock',
      'deno.json',
      'deno.jsonc',
    ],
    ...[
      'requirements-*.txt',
      'setup.cfg',
      'Pipfile',
      'Pipfile.lock',
      'poetry.lock',
      'uv.lock',
      'tox.ini',
      'noxfile.py',
    ],
    ...['conftest.py', 'sitecustomize.py', 'usercustomize.py', '*.pth'],
    ...[
      'Gemfile',
      'Gemfile.lock',
      'Cargo.toml',
      'Cargo.lock',
      'build.rs',
      '**/.cargo/**',
      'go.mod',
      'go.sum',
    ],
    ...['composer.json', 'composer.lock', 'pom.xml', '**/.mvn/**', 'mvnw', 'gradlew', '**/gradle/wrapper/**'],
    ...['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties'],
    // Builds and tasks.
    ...[
      'Makefile',
      'GNUmakefile',
      '*.mk',
      'CMakeLists.txt',
      'justfile',
      '.justfile',
      'Rakefile',
      'Taskfile.yml',
      'Taskfile.yaml',
    ],
    ...[
      'Dockerfile',
      'Dockerfile.*',
      'docker-compose*.yml',
      'docker-compose*.yaml',
      'compose.yml',
      'compose.yaml',
    ],
    ...['Procfile', 'Vagrantfile', 'flake.nix', 'shell.nix', 'default.nix'],
    // Pipelines.
    ...[
      '**/.github/workflows/**',
      '**/.github/actions/**',
      '.gitlab-ci.yml',
      '**/.circleci/**',
      'Jenkinsfile',
    ],
    ...['azure-pipelines.yml', 'bitbucket-pipelines.yml', '.travis.yml', '.drone.yml', '**/.buildkite/**'],
    // Hooks and filters of git.
    ...[
      '**/.husky/**',
      '**/.githooks/**',
      'lefthook.yml',
      'lefthook.yaml',
      '.gitmodules',
      '.gitattributes',
      '.gitconfig',
    ],
    // Editors, their containers, and the settings of agents.
    ...['**/.vscode/**', '**/.idea/**', '**/.devcontainer/**', '.devcontainer.json', '*.code-workspace'],
    ...['.mcp.json', '**/.cursor/**', '**/.claude/**'],
    // Shells, and what sets them up.
    ...[
      '.envrc',
      '.bashrc',
      '.bash_profile',
      '.bash_login',
      '.bash_logout',
      '.bash_aliases',
      '.profile',
      '.inputrc',
    ],
    ...[
      '.zshrc',
      '.zshenv',
      '.zprofile',
      '.zlogin',
      '.zlogout',
      'config.fish',
      '.tool-versions',
      'mise.toml',
      '.mise.toml',
    ],
  ],
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
 * What is protected. More can be added, nothing taken away: a configuration that comes with a plan comes from the author of
 * the plan. `registries` are the paths of the tool registries of the project.
 */
export function protectionWith(
  added: Partial<ProtectedFiles> = {},
  registries: readonly string[] = DEFAULT_REGISTRIES,
): Protection {
  const group = (name: ProtectedGroup) => pathGlobs([...GROUPS[name], ...(added[name] ?? [])]);
  return {
    own: pathGlobs([...OWN.map(anchored), ...registries.map(anchored), TEMPORARY]),
    critical: group('critical'),
    important: group('important'),
    agent_system: group('agent_system'),
  };
}

/** A pattern without a slash would match at any depth. `x/**` matches `x` as well, so this pins one file to the root. */
function anchored(path: string): string {
  return path.includes('/') ? path : `${path}/**`;
}

/** The strongest protection of a path; null when it has none. A twin of a protected path is protected like it. */
export function protectionOf(path: string, protection: Protection): 'own' | ProtectedGroup | null {
  if (protection.own.matches(path)) return 'own';
  return protectedGroups.find((group) => protection[group].matches(path)) ?? null;
}

/** What a tool may write is folders. Which protected paths such a folder is, lies in, or holds at the place where a project has them. */
export function protectedWithin(path: string, protection: Protection): string[] {
  const name = path.replace(/^\//, '');
  if (protectedGroups.some((group) => protection[group].matches(name))) return [path];
  if (path.startsWith('/')) return [];
  return protectedGroups.flatMap((group) =>
    protection[group].patterns.filter((pattern) => isWithin(placeOf(pattern), path)),
  );
}

/** Where a project has what a pattern names: a name that is protected at every depth is looked for at the root. */
function placeOf(pattern: string): string {
  return pattern.replace(/^\*\*\//, '').replace(/\/\*\*$/, '');
}
