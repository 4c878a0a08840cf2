import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect } from 'vitest';
import type { Plan } from '../../../src/plan/model.ts';
import { inspectRun } from '../../../src/plan/rollback/inspect.ts';
import { loadManifest, MANIFEST_NAME } from '../../../src/plan/rollback/manifest.ts';
import { rollBack } from '../../../src/plan/rollback/roll-back.ts';
import { hasTools, setAcl, setAttribute } from '../../support/attributes.ts';
import { killedAfter } from '../../support/processes.ts';
import {
  action,
  create,
  derive,
  everything,
  journalOf,
  lay,
  modify,
  pipelinesOf,
  plan,
  REPORTS,
  remove,
  rename,
} from './story.ts';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** One file, so that a child is up in a moment. */
export async function bundleChild(): Promise<{ path: string; remove: () => void }> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-child-'));
  const path = join(folder, 'child.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./child.ts', import.meta.url))],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    external: ['@duckdb/node-api', 'tsx'],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Every kind of change, with folders, a chain of edits and renames, in a tree with a bystander. */
export const SMALL: Plan = plan([
  modify('1', 'a', 'one', 'two'),
  create('2', 'new/deep/n', 'fresh'),
  rename('3', 'b', 'c'),
  rename('4', 'a', 'b'),
  modify('5', 'b', 'two', 'three'),
  remove('6', 'sub/gone'),
  // These are prepared long before their turn.
  modify('7', 'sub/e', 'one', 'two'),
  modify('8', 'f', 'one', 'two'),
  action('9', 'FILE_MODIFY', 'sub/e', { type: 'mode_change', mode: '0755' }),
  action('10', 'SCHEMA_UPDATE', 's.json', {
    type: 'json_add_property',
    path: '$.properties',
    key: 'n',
    value: { type: 'number' },
  }),
]);

/** A pipeline cannot be undone, so it has a plan of its own, between two changes that can. */
export const PIPED: Plan = plan([
  modify('1', 'a', 'one', 'two'),
  action('2', 'PIPELINE_RUN', 'note', { pipeline: 'note' }),
  modify('3', 'f', 'one', 'two'),
]);

/** Where the tool of the pipeline writes a line each time that it runs: not part of the project's picture. */
const NOTES = 'agent_logs/notes';
const REGISTRY = {
  version: 1,
  tools: [
    {
      name: 'note',
      summary: 'Writes a line.',
      executable: '/bin/sh',
      args: ['-c', `echo ran >> ${NOTES}`],
      sandbox: 'none',
      run_as: userInfo().username,
      undo: 'none',
    },
  ],
  pipelines: [{ name: 'note', summary: 'One step.', steps: [{ tool: 'note' }] }],
};

export async function layProject(
  root: string,
  made: Plan = SMALL,
): Promise<{ effect_file: string; before: Record<string, string> }> {
  lay(root, { a: 'one', b: 'bee', 'sub/gone': 'gone', 'sub/bystander': 'b', 'sub/e': 'one e', f: 'one f' });
  lay(root, {
    's.json': '{"type":"object","properties":{}}',
    [NOTES]: '',
  });
  lay(root, { 'tools.yaml': JSON.stringify(REGISTRY) }, 0o444);
  if (hasTools) {
    for (const path of ['a', 'sub/gone']) setAcl(join(root, path), 'u:1234:rw', 'g:5678:r');
    for (const path of ['b', 'f', 'sub/gone']) setAttribute(join(root, path), 'user.k', path);
  }
  const effect_file = join(root, 'agent_outputs.json');
  const effect = await derive(root, made, { pipelines: pipelinesOf(root) });
  writeFileSync(effect_file, JSON.stringify(effect));
  return { effect_file, before: everything(root) };
}

interface Killed {
  /** A process of the task was: itself, or one that it started, after which it did not end well. */
  readonly killed: boolean;
  readonly output: string;
}

/**
 * Kills at the `when`th call of any of these: the call itself does not happen. strace ends with the last of the processes that
 * it follows; one that would never end is left after `timeout_ms`.
 */
export function killAtCall(
  child: string,
  args: readonly string[],
  calls: string,
  when: number,
  timeout_ms?: number,
): Killed {
  const strace = ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`];
  const inject = ['-e', `inject=${calls}:signal=KILL:when=${when}`];
  const ran = spawnSync('strace', [...strace, ...inject, process.execPath, child, ...args], {
    encoding: 'utf8',
    killSignal: 'SIGKILL',
    ...(timeout_ms !== undefined && { timeout: timeout_ms }),
    // The calls are counted for each thread.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  return { killed: !endedWell(args, ran.stdout), output: ran.stdout };
}

/** What each task of a child prints when it was not killed. */
const LAST_WORDS: Readonly<Record<string, string>> = {
  run: 'SUCCESS',
  rollback: 'rolled_back',
  gc: 'removed',
  'gc-objects': 'removed',
};

/** Where the task is named depends on the child. */
const endedWell = (args: readonly string[], output: string) =>
  output.includes(LAST_WORDS[args.find((one) => Object.hasOwn(LAST_WORDS, one)) ?? ''] ?? 'rolled_back');

/**
 * Lets the `when`th call of any of these fail for want of space, with `+` all after it too, and says whether there was one. It may be
 * a call on one of node's own pipes, which no disk can fill and after which node can wait for ever: then it is killed. A child that did
 * not come to the call and did not end well either is an error: a sweep would take it for the end of the calls.
 */
export function fullAtCall(
  child: string,
  args: readonly string[],
  calls: string,
  when: number | `${number}+`,
): boolean {
  const trace = join(mkdtempSync(join(realpathSync(tmpdir()), 'keyturn-trace-')), 'calls');
  const strace = ['-f', '-qq', '-o', trace, '-e', `trace=${calls}`];
  const inject = ['-e', `inject=${calls}:error=ENOSPC:when=${when}`];
  const bounded = ['timeout', '--signal=KILL', '30', process.execPath, child, ...args];
  const { status } = spawnSync('strace', [...strace, ...inject, ...bounded], {
    stdio: 'ignore',
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  const reached = readFileSync(trace, 'utf8').includes('(INJECTED)');
  rmSync(dirname(trace), { recursive: true });
  if (!reached && status !== 0) throw new Error(`It ended with ${status} before call ${when} of ${calls}.`);
  return reached;
}

export async function killAfter(child: string, args: readonly string[], delay_ms: number): Promise<Killed> {
  const started = spawn(process.execPath, [child, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { killed, said } = await killedAfter(started, delay_ms);
  return { killed, output: said };
}

/** After a crash: what was done can be told, and the rollback brings every byte back, however often it is run. */
export async function expectRecoverable(root: string, before: Record<string, string>): Promise<void> {
  if (!existsSync(join(root, REPORTS, MANIFEST_NAME))) {
    expect(everything(root), 'no manifest yet, so nothing was touched').toEqual(before);
    return;
  }
  const manifest = loadManifest(root, REPORTS);
  const { paths } = await inspectRun(manifest, root, journalOf(root).lines);
  for (const { state } of paths) expect(['untouched', 'done', 'begun']).toContain(state);
  const outcome = await rollBack(manifest, { root, journal: journalOf(root) });
  expect(outcome).toMatchObject({ status: 'rolled_back', instructions: [] });
  expect(everything(root)).toEqual(before);
  expect((await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root) })).status).toBe(
    'rolled_back',
  );
  expect(everything(root)).toEqual(before);
}

/** After a crash of a plan with a pipeline: it ran once or not at all, what it may have done is said, and all else is as before. */
export async function expectPipedOnce(root: string, before: Record<string, string>): Promise<void> {
  const ran = readFileSync(join(root, NOTES), 'utf8');
  expect(['', 'ran\n']).toContain(ran);
  if (existsSync(join(root, REPORTS, MANIFEST_NAME))) {
    const { actions } = await inspectRun(loadManifest(root, REPORTS), root, journalOf(root).lines);
    if (ran !== '') expect(actions).toMatchObject([{ action_id: '2' }]);
    await rollBack(loadManifest(root, REPORTS), { root, journal: journalOf(root) });
  }
  expect(everything(root)).toEqual(before);
  expect(readFileSync(join(root, NOTES), 'utf8')).toBe(ran);
}
