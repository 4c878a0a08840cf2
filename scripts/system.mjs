/** The programs that the sandbox and the crash tests need from the system. */

import { spawnSync } from 'node:child_process';
import { run } from './setup.mjs';

const NEEDED = [
  { program: 'bwrap', package: 'bubblewrap', for: 'every test of a sandboxed tool' },
  { program: 'strace', package: 'strace', for: 'the crash and disk-failure tests' },
  { program: 'prlimit', package: 'util-linux', for: 'every test of a limited tool' },
  { program: 'setfattr', package: 'attr', for: 'every test of extended attributes' },
  { program: 'setfacl', package: 'acl', for: 'every test of access control lists' },
  { program: 'python3', package: 'python3', for: 'the example in Python' },
  { program: 'flock', package: 'util-linux', for: 'every test of the lane' },
];

function works(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function missingOf(needed) {
  return needed.filter(({ program }) => !works(program, '--version'));
}

/** Only the exhaustive tests start a browser, and it is large. */
const BROWSER = {
  program: 'chromium',
  package: 'chromium',
  for: 'the console, passkeys and keyturn/audit in a browser (the exhaustive tests)',
};

/** Installs what is missing where it may. Returns one loud line for each thing that will not be tested. */
export async function systemPackages({ exhaustive = false } = {}) {
  const missing = () => missingOf(exhaustive ? [...NEEDED, BROWSER] : NEEDED);
  const packages = [...new Set(missing().map((need) => need.package))];
  if (packages.length > 0 && process.getuid?.() === 0 && works('apt-get', '--version')) {
    console.log(`Installing ${packages.join(' ')} (apt-get) ...`);
    const env = { DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env });
  }
  const lines = missingOf([...NEEDED, BROWSER]).map(
    (need) => `${need.program} (package ${need.package}) is missing: ${need.for}`,
  );
  if (works('bwrap', '--version') && !works('bwrap', '--ro-bind', '/', '/', '--unshare-all', 'true')) {
    lines.push('bwrap may not make namespaces on this machine: every test of a sandboxed tool');
  }
  return lines;
}

export function printLoudly(lines) {
  if (lines.length === 0) return;
  console.warn(`\n${'!'.repeat(80)}`);
  for (const line of lines) console.warn(`!! NOT RUN. ${line}`);
  console.warn(`${'!'.repeat(80)}\n`);
}
