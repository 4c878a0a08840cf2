import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { applyEdit } from '../src/plan/edit/apply.ts';
import { editOperationSchema } from '../src/plan/edit/operation.ts';
import { peakMb } from './memory.ts';
import { createProject, grant, openProject, type Project } from './project.ts';
import { median, timed, usual } from './timing.ts';

export interface PlanTimes {
  readonly bare_ms: number;
  readonly run_ms: number;
  readonly whole_ms: number;
  readonly rollback_ms: number;
  /** Each against the bare loop of its own round: the disk is not as quick in one second as in the next. */
  readonly run_ratio: number;
  readonly rollback_ratio: number;
}

const FILES = 100;

/** The bare loop, a governed plan over the same files, and its rollback, in turn. */
export async function measurePlans({
  root,
  rounds,
  bytes,
}: {
  root: string;
  rounds: number;
  bytes: number;
}): Promise<PlanTimes> {
  const project = await createProject(root);
  writeFiles(root, bytes);
  const times: { bare: number; run: number; whole: number; rollback: number }[] = [];
  for (let i = 0; i <= rounds; i++) {
    const bare = await timed(() => bareLoop(root, i));
    const { run, whole, execution_id } = await runPlan(project, i);
    const request = { execution_id, reason: 'bench', signer: project.ada };
    const rollback = await timed(async () => {
      const { status } = await project.keyturn.plans.rollback(request);
      if (status !== 'rolled_back') throw new Error(`the rollback is ${status}`);
    });
    if (i > 0) times.push({ bare, run, whole, rollback });
  }
  await project.keyturn.close();
  return {
    bare_ms: usual(times.map(({ bare }) => bare)),
    run_ms: usual(times.map(({ run }) => run)),
    whole_ms: usual(times.map(({ whole }) => whole)),
    rollback_ms: usual(times.map(({ rollback }) => rollback)),
    run_ratio: median(times.map(({ bare, run }) => run / bare)),
    rollback_ratio: median(times.map(({ bare, rollback }) => rollback / bare)),
  };
}

/** A project with large files. A process of its own makes it, so that the memory for that is not counted. */
export async function layPlanMemory({ root, bytes }: { root: string; bytes: number }): Promise<null> {
  const { keyturn } = await createProject(root);
  await keyturn.close();
  writeFiles(root, bytes);
  return null;
}

/** The most memory that a process needs for a plan over those files, from its start to its end. */
export async function measurePlanMemory({ root }: { root: string }): Promise<{ peak_mb: number }> {
  // As the command line does: the policy engine is not optimised for one run.
  setFlagsFromString('--liftoff-only');
  const project = await openProject(root);
  await runPlan(project, 1);
  await project.keyturn.close();
  return { peak_mb: peakMb() };
}

export interface EditTimes {
  readonly parse_ms: number;
  readonly edit_ms: number;
  readonly mb: number;
}

/** One JSON edit in a large file against parsing and writing it. */
export async function measureEdit({ rounds }: { rounds: number }): Promise<EditTimes> {
  const items = Array.from({ length: 45_000 }, (_, id) => ({
    id,
    name: `item ${id}`,
    tags: ['a', 'b'],
    price: id / 7,
  }));
  const text = JSON.stringify({ version: 1, settings: { mode: 'x' }, items }, null, 2);
  const bytes = Buffer.from(text);
  const operation = editOperationSchema.parse({
    type: 'json_update_value',
    path: '$.settings.mode',
    value: 'y',
  });
  const times: { parse: number; edit: number }[] = [];
  for (let i = 0; i < rounds + 2; i++) {
    const parse = await timed(() => JSON.stringify(JSON.parse(text)));
    const edit = await timed(() => applyEdit(bytes, operation, { path: 'large.json' }));
    if (i > 1) times.push({ parse, edit });
  }
  return {
    parse_ms: usual(times.map((t) => t.parse)),
    edit_ms: usual(times.map((t) => t.edit)),
    mb: bytes.length / 1e6,
  };
}

const nameOf = (i: number) => `data/file-${i}.txt`;

function writeFiles(root: string, bytes: number): void {
  mkdirSync(join(root, 'data'), { recursive: true });
  const line = 'The quick brown fox jumps over the lazy dog, again and again.\n';
  const text = `marker\n${line.repeat(Math.ceil(bytes / line.length))}`.slice(0, bytes);
  for (let i = 0; i < FILES; i++) writeFileSync(join(root, nameOf(i)), text);
}

/** The usual way to write a file, to compare with: a copy that is safe, a new file that is safe, then the rename. */
function bareLoop(root: string, round: number): void {
  const backups = join(root, `bare-${round}`);
  mkdirSync(backups);
  for (let i = 0; i < FILES; i++) {
    const path = join(root, nameOf(i));
    const backup = join(backups, String(i));
    copyFileSync(path, backup);
    sync(backup);
    const fd = openSync(`${path}.new`, 'w');
    writeSync(fd, readFileSync(path));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(`${path}.new`, path);
  }
}

function sync(path: string): void {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

interface PlanRun {
  readonly files: number;
  readonly pattern: string;
  readonly replacement: string;
}

const ONE_MARKER: PlanRun = { files: FILES, pattern: 'marker', replacement: 'changed' };

interface Timed {
  readonly propose: number;
  /** From the y to the record: what comes before it waits for a human anyway. */
  readonly run: number;
  /** From the y to the end, reports included. */
  readonly whole: number;
  readonly execution_id: string;
}

async function runPlan(
  project: Project,
  round: number,
  { files, ...edit }: PlanRun = ONE_MARKER,
): Promise<Timed> {
  const { keyturn, ada: signer } = project;
  const action_plan = Array.from({ length: files }, (_, i) => ({
    action_id: `a${i}`,
    action_type: 'FILE_MODIFY',
    target: nameOf(i),
    operation: { type: 'text_replace', ...edit },
  }));
  const plan = JSON.stringify({ plan_id: `bench-${round}`, action_plan });
  const begun = process.hrtime.bigint();
  const read = await keyturn.plans.read({ plan });
  if ('problems' in read) throw new Error(read.problems[0]?.message);
  const { intent_id, hash } = await keyturn.intents.propose({
    issuer: 'planner',
    declared_goal: 'bench',
    effect: { kind: 'plan', ...read.spec },
  });
  const propose = since(begun);
  await keyturn.intents.approve({ intent_id, hash, signer });
  await grant(project, { intent_id, hash });
  const { seen } = await keyturn.runs.look({ intent_id, hash });
  const from = process.hrtime.bigint();
  let run = 0;
  const report = await keyturn.runs.run({
    intent_id,
    hash,
    seen,
    onRecorded: () => {
      run = since(from);
    },
  });
  if (report.result !== 'success') throw new Error(`the plan ended with ${report.reason_code}`);
  return { propose, run, whole: since(from), execution_id: report.execution_id };
}

const since = (from: bigint) => Number(process.hrtime.bigint() - from) / 1e6;

export interface RewriteTimes {
  readonly propose_ms: { readonly one: number; readonly every: number };
  readonly run_ms: { readonly one: number; readonly every: number };
}

const REWRITTEN: Pick<PlanRun, 'files'> = { files: 30 };

/** The same files with one line changed in each, and with every line changed, in turn. */
export async function measureRewrites({
  root,
  rounds,
}: {
  root: string;
  rounds: number;
}): Promise<RewriteTimes> {
  const project = await createProject(root);
  const text = Array.from({ length: 330 }, (_, i) => `The quick brown fox number ${i} jumps over the dog.\n`);
  const lay = () => {
    mkdirSync(join(root, 'data'), { recursive: true });
    for (let i = 0; i < REWRITTEN.files; i++) writeFileSync(join(root, nameOf(i)), text.join(''));
  };
  const times: { one: Timed; every: Timed }[] = [];
  for (let i = 0; i <= rounds; i++) {
    lay();
    const one = await runPlan(project, 2 * i, {
      ...REWRITTEN,
      pattern: 'number 100 ',
      replacement: 'number C ',
    });
    lay();
    const every = await runPlan(project, 2 * i + 1, {
      ...REWRITTEN,
      pattern: 'fox number',
      replacement: 'cat no.',
    });
    if (i > 0) times.push({ one, every });
  }
  await project.keyturn.close();
  const both = (of: (time: Timed) => number) => ({
    one: usual(times.map(({ one }) => of(one))),
    every: usual(times.map(({ every }) => of(every))),
  });
  return { propose_ms: both(({ propose }) => propose), run_ms: both(({ run }) => run) };
}
