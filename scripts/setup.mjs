/** What every command needs first: the locked packages, installed as the lockfile says. Uses nothing but node. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program with the terminal passed through. Resolves to its exit code; a signal or a failed start is 1. */
export function run(program, args, { env = {}, onStart, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
      ...options,
    });
    onStart?.(child);
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Runs a program of an installed package, by the file that its package.json names. */
export function runBin(packageName, bin, args, options) {
  const folder = join(root, 'node_modules', packageName);
  const { bin: bins } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return run(process.execPath, [join(folder, typeof bins === 'string' ? bins : bins[bin]), ...args], options);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch {
    return null;
  }
}

/** Says what is not as the lockfile wants it; `null` when nothing is. */
function outOfDate(folder) {
  const wanted = readJson(join(folder, 'package-lock.json'))?.packages;
  // npm writes what it installed into this file, as the last step of an install.
  const installed = readJson(join(folder, 'node_modules/.package-lock.json'))?.packages;
  if (!wanted) return 'there is no package-lock.json';
  if (!installed) return 'nothing is installed';
  for (const [path, { version, optional, devOptional }] of Object.entries(wanted)) {
    const found = installed[path]?.version;
    const mayBeAbsent = optional || devOptional;
    if (path !== '' && found !== version && !(mayBeAbsent && found === undefined)) {
      return `${path} is ${found ?? 'missing'}, not ${version}`;
    }
  }
  return null;
}

/** The lockfile must be the one of this package.json, or it locks something else. */
function requireLockfileInStep(folder) {
  const locked = readJson(join(folder, 'package-lock.json'))?.packages?.[''];
  const wanted = readJson(join(folder, 'package.json'));
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    if (JSON.stringify(sorted(locked?.[kind])) !== JSON.stringify(sorted(wanted[kind]))) {
      fail(
        `${join(folder, 'package-lock.json')} does not lock the ${kind} of package.json. Run npm install and commit the result.`,
      );
    }
  }
}

const sorted = (record = {}) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

function fail(message) {
  console.error(message);
  process.exit(1);
}

/**
 * `npm ci` refuses a lockfile that leaves out the binaries of other platforms. `npm install --no-save` installs the
 * same locked versions, checks the same digests and writes neither file; what `npm ci` adds is checked here.
 */
export async function setup(folder = '') {
  requireLockfileInStep(folder);
  if (outOfDate(folder) === null) return;
  console.log(`Installing the locked packages${folder && ` of ${folder}`} ...`);
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const [program, ...first] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
  const code = await run(program, [...first, ...args], { cwd: join(root, folder) });
  if (code !== 0) fail('The packages could not be installed.');
  const wrong = outOfDate(folder);
  if (wrong !== null) fail(`The installed packages are not the locked ones: ${wrong}.`);
}
