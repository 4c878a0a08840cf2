/**
 * `npm test`: installs what it needs, checks types, style, dead code and the boundary of the agent core, builds, runs the
 * tests that are quick, and ends with a line such as `12 passed, 0 failed, 0 skipped`. `--exhaustive` runs all the others,
 * whose files end in `.exhaustive.test.ts`, 62 minutes at most. With `--again` a file that failed runs once more, alone: on a machine
 * with two busy cores a test can be late. What passes then is named as unstable; what fails twice has failed.
 * Other arguments go to vitest: `npm test -- test/gate`.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root, runBin, setup } from './setup.mjs';
import { printLoudly, systemPackages } from './system.mjs';

/** Not the Markdown: biome would pad every table to its widest cell. */
const STYLED = ['src', 'test', 'bench', 'demo', 'scripts', 'package.json', 'vitest.config.ts'];

const EXHAUSTIVE_MS = 62 * 60_000;
/** For all files that run again. */
const AGAIN_MS = 12 * 60_000;

/** Keyturn itself runs on Node 20.12; the bundler inside vitest does not. */
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`The tests need Node 20.19 or later. This is Node ${process.versions.node}.`);
  process.exit(1);
}

const started = Date.now();
const exhaustive = process.argv.includes('--exhaustive');
const again = process.argv.includes('--again');
const filters = process.argv.slice(2).filter((arg) => !['--exhaustive', '--again'].includes(arg));

/** A check that fails counts as one failed test, so that the last line never says less than the exit code. */
const failedSteps = [];

async function step(name, act) {
  const from = Date.now();
  process.stdout.write(`== ${name}\n`);
  const ok = await act().catch((error) => {
    console.error(error.message.split('\n', 1)[0]);
    return false;
  });
  console.log(`   ${name}: ${ok ? 'ok' : 'FAILED'} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
  if (!ok) failedSteps.push(name);
  return ok;
}

const passes = (packageName, bin, ...args) => runBin(packageName, bin, args).then((code) => code === 0);

/**
 * The tests run in a session of their own: they never have a controlling terminal, and what they
 * leave behind ends with them.
 */
async function vitest(
  outputFile,
  { files = filters, limit_ms = exhaustive && EXHAUSTIVE_MS - (Date.now() - started) } = {},
) {
  let group;
  const killGroup = () => {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  let late = false;
  const deadline = limit_ms && setTimeout(outOfTime, limit_ms);
  function outOfTime() {
    late = true;
    console.error(`\nKilled: the tests took more than ${Math.round(limit_ms / 60_000)} minutes.`);
    killGroup();
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      killGroup();
      process.exit(1);
    });
  }
  const args = [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${outputFile}`,
    ...(files === filters ? [] : ['--no-file-parallelism']),
    ...files,
  ];
  const code = await runBin('vitest', 'vitest', args, {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: filters.length > 0 && !exhaustive ? {} : { KEYTURN_TESTS: exhaustive ? 'exhaustive' : 'quick' },
    onStart: (child) => {
      group = child.pid;
    },
  });
  clearTimeout(deadline);
  killGroup();
  return code === 0 && !late;
}

function reportIn(outputFile) {
  try {
    return JSON.parse(readFileSync(outputFile, 'utf8'));
  } catch (error) {
    console.error(`There is no test report: ${error.message}`);
    return null;
  }
}

/** The counts from vitest's own report. A file that could not be loaded is a failure too. */
function countsOf(results, ok) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { status, assertionResults } of results) {
    for (const result of assertionResults) {
      counts[result.status === 'passed' || result.status === 'failed' ? result.status : 'skipped'] += 1;
    }
    if (status === 'failed' && !assertionResults.some((r) => r.status === 'failed')) counts.failed += 1;
  }
  if (counts.passed + counts.failed === 0) console.error('No test ran.');
  if ((!ok || counts.passed === 0) && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** Only tests that failed, and only a few: more than that is no accident of a busy machine. */
const MOST_AGAIN = 6;

async function failedOnceMore(folder, report) {
  const failed = report.testResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0 || failed.length > MOST_AGAIN) return null;
  const files = failed.map(({ name }) => name);
  console.log(`\n== once more, alone: ${files.join(' ')}`);
  const outputFile = join(folder, 'again.json');
  const ok = await vitest(outputFile, { files, limit_ms: AGAIN_MS });
  const second = reportIn(outputFile);
  if (!second || second.testResults.length !== failed.length) return null;
  const results = report.testResults.map(
    (one) => second.testResults.find(({ name }) => name === one.name) ?? one,
  );
  for (const { name, assertionResults } of failed) {
    if (results.find((one) => one.name === name).status === 'failed') continue;
    const tests = assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => fullName);
    unstable.push(`${name}: ${tests.join('; ') || 'could not be loaded'}`);
  }
  return countsOf(results, ok);
}

/** Tests that failed beside others and passed alone. Each is a test, or a program, to mend. */
const unstable = [];

async function tests() {
  const folder = mkdtempSync(join(tmpdir(), 'keyturn-report-'));
  try {
    const outputFile = join(folder, 'report.json');
    console.log('== tests');
    const ok = await vitest(outputFile);
    const report = reportIn(outputFile);
    const second = !ok && again && report ? await failedOnceMore(folder, report) : null;
    return second ?? countsOf(report?.testResults ?? [], ok);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await setup();
const notRun = await systemPackages({ exhaustive });
printLoudly(notRun);
/** The longest check, on one core. The tests do not wait for it; the last line does. */
let types = Promise.resolve();
if (!exhaustive) {
  types = step('types (tsc)', () => passes('typescript', 'tsc', '-p', 'tsconfig.json'));
  const styled = STYLED.filter((path) => existsSync(join(root, path)));
  await step('style (biome)', () => passes('@biomejs/biome', 'biome', 'check', ...styled));
  await step('the boundary of the agent core', async () => {
    const { status } = spawnSync('sh', ['scripts/check_agent_execution_core.sh'], {
      cwd: root,
      stdio: 'inherit',
    });
    return status === 0;
  });
  await step('dead code (knip)', () => passes('knip', 'knip', '--no-progress'));
}
const built = await step('build (esbuild)', () => build({ types: exhaustive }).then(() => true));
// Without a build the tests would judge an older program.
const counts = built ? await tests() : { passed: 0, failed: 0, skipped: 0 };
await types;

printLoudly(notRun);
for (const name of failedSteps) console.error(`FAILED: ${name}`);
for (const line of unstable) console.error(`UNSTABLE, failed once and passed alone: ${line}`);
counts.failed += failedSteps.length;
console.log(`Took ${((Date.now() - started) / 1000).toFixed(0)} s.`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
