/**
 * `npm run findings [-- ID … --exhaustive]`: for each finding of docs/findings.md, runs its tests at the commit before the one
 * that mended it, where they must fail by an assertion, and then here, where they must pass. Ends with 1 when one of them did
 * not. Several commits may have the trailer `Mends: ID`: a test file belongs to the one that added it, or else to the first.
 *
 * The older tree gets the test files, and what tests share, from here. What it must not get is the mend: everything else
 * is as it was. A test that cannot even be loaded there shows nothing, and is reported as such.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './setup.mjs';

const FOLDER = 'test/findings';
const words = process.argv.slice(2);
const exhaustive = words.includes('--exhaustive');
const chosen = words.filter((word) => !word.startsWith('-')).map((word) => word.toUpperCase());

/** `S5` is shown by `s05-….test.ts`. */
const prefixOf = (id) => `${id[0].toLowerCase()}${id.slice(1).padStart(2, '0')}-`;

const findings = readFileSync(join(root, 'docs/findings.md'), 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  // What is shown by the tests of what was built has no commit before which they could run.
  .filter(([, id, , , tests]) => /^[SPTU]\d+$/.test(id ?? '') && !/^`test\/(?!findings\/)/.test(tests))
  .map(([, id]) => ({ id, files: filesOf(id) }));

function filesOf(id) {
  const all = readdirSync(join(root, FOLDER))
    .filter((name) => name.startsWith(prefixOf(id)) && name.endsWith('.test.ts'))
    .map((name) => `${FOLDER}/${name}`);
  const quick = all.filter((file) => !file.endsWith('.exhaustive.test.ts'));
  // A finding that only slow tests show is shown by them.
  return exhaustive || quick.length === 0 ? all : quick;
}

/** The commit that mended what the file shows. */
function mendOf(id, file) {
  const format = '--format=%H %(trailers:key=Mends,valueonly,separator=%x20)';
  const mends = git('log', '--reverse', format)
    .split('\n')
    .map((line) => line.trim().split(/[\s,]+/))
    .flatMap(([commit, ...ids]) => (ids.includes(id) ? [commit] : []));
  const added = git('log', '--follow', '--diff-filter=A', '--format=%H', '--', file).split('\n');
  return mends.find((commit) => added.includes(commit)) ?? mends[0];
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
  return stdout.toString();
}

/** Interrupted or not, no tree is left behind. */
const trees = new Set();
process.once('exit', () => {
  for (const folder of trees) rmSync(folder, { recursive: true, force: true });
});
process.on('SIGINT', () => process.exit(130));

/** The tree before a commit, with this tree's node_modules and these folders from here. */
function treeBefore(commit, overlaid) {
  const folder = mkdtempSync(join(tmpdir(), 'keyturn-before-'));
  trees.add(folder);
  const archive = spawnSync('git', ['archive', `${commit}^`], { cwd: root, maxBuffer: 1 << 30 });
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout });
  if (archive.status !== 0 || unpacked.status !== 0) throw new Error(`cannot unpack ${commit}^`);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const path of overlaid) cpSync(join(root, path), join(folder, path), { recursive: true, force: true });
  return folder;
}

/** Every test of the files, and whether it passed. `loaded` is false when a file could not even be read. */
function run(folder, files) {
  const out = join(folder, 'node_modules/.cache', `findings-${process.pid}.json`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--maxWorkers=1', '--reporter=json', `--outputFile=${out}`, ...files];
  const { signal } = spawnSync(process.execPath, args, {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, CI: '1' },
  });
  if (signal !== null) process.exit(130);
  try {
    return JSON.parse(readFileSync(out, 'utf8')).testResults.map(({ name, message, assertionResults }) => ({
      file: name.slice(name.indexOf(FOLDER)),
      message: message.split('\n', 1)[0],
      passed: assertionResults.filter(({ status }) => status === 'passed').length,
      failed: assertionResults.filter(({ status }) => status === 'failed').length,
      asserted: assertionResults.filter(({ failureMessages }) => isAssertion(failureMessages)).length,
    }));
  } catch (error) {
    return files.map((file) => ({ file, message: error.message, passed: 0, failed: 0, asserted: 0 }));
  } finally {
    rmSync(out, { force: true });
  }
}

const isAssertion = (messages) => messages.some((text) => text.startsWith('AssertionError'));

/** What tests share may have changed since, and then fits one of the two trees only. */
const OVERLAYS = [[FOLDER, 'test/support'], [FOLDER], ['test']];

/** The result of one file before the mend: with the first overlay under which it can be loaded. */
function runBefore(commit, file) {
  let last = null;
  for (const overlay of OVERLAYS) {
    const folder = treeBefore(commit, overlay);
    try {
      [last] = run(folder, [file]);
      if (last.asserted > 0) return last;
    } finally {
      rmSync(folder, { recursive: true, force: true });
      trees.delete(folder);
    }
  }
  return last;
}

const expectsFailure = (file) => readFileSync(join(root, file), 'utf8').includes('it.fails(');

function beforeLine(commit, file) {
  if (commit === undefined) {
    return expectsFailure(file)
      ? { ok: true, text: 'EXPECTED TO FAIL' }
      : { ok: false, text: 'no commit says that it mends this' };
  }
  const { passed, failed, asserted, message } = runBefore(commit, file);
  if (asserted > 0) return { ok: true, text: `FAILED BEFORE (${asserted} of ${passed + failed})` };
  if (passed + failed === 0) return { ok: false, text: `could not run before: ${message}` };
  return { ok: false, text: failed > 0 ? 'could not run before: no assertion failed' : 'PASSED BEFORE' };
}

function nowLine(file) {
  const [{ passed, failed, message }] = run(root, [file]);
  if (failed === 0 && passed > 0)
    return { ok: true, text: `${expectsFailure(file) ? 'AS EXPECTED' : 'PASSES'} NOW (${passed})` };
  return { ok: false, text: `FAILS NOW (${failed} of ${passed + failed}) ${message}` };
}

let bad = 0;
for (const { id, files } of findings.filter(({ id }) => chosen.length === 0 || chosen.includes(id))) {
  if (files.length === 0) {
    bad += 1;
    console.log(`${id.padEnd(4)} has no test`);
  }
  for (const file of files) {
    const [before, now] = [beforeLine(mendOf(id, file), file), nowLine(file)];
    if (!before.ok || !now.ok) bad += 1;
    console.log(`${id.padEnd(4)} ${before.text}, ${now.text}  ${file}`);
  }
}
process.exitCode = bad === 0 ? 0 : 1;
