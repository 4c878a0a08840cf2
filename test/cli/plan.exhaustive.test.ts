import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal, keyturn } from '../support/pty.ts';
import { runSeen } from '../support/seen.ts';
import {
  answerOf,
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  type Project,
  thrice,
  typedCode,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const ASKED: [string, string] = ['Passphrase of alice: ', PASSPHRASE];
const YES: [string, string] = ['Proceed? (y/n) ', 'y'];

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
function write(path: string, content: string | object): string {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

/** A file of its own with a plan that changes one line of it. */
function edit(name: string): { file: string; plan: string } {
  const file = write(`${name}.txt`, 'first\nold line\nlast\n');
  const plan = write(`${name}.plan.json`, {
    plan_id: name,
    action_plan: [
      {
        action_id: 'edit',
        action_type: 'FILE_MODIFY',
        target: file,
        operation: { type: 'text_replace', pattern: 'old line', replacement: 'new line' },
      },
      {
        action_id: 'add',
        action_type: 'FILE_CREATE',
        target: `${name}/new.txt`,
        operation: { type: 'create', content: 'fresh\n' },
      },
    ],
  });
  return { file, plan };
}

async function proposedFrom(plan: string, ...more: string[]): Promise<Intent> {
  const { result } = answerOf(
    await project.run('propose', '--plan', plan, '--by', 'bot', '--json', ...more),
  ) as never as { result: { intent_id: string; hash: string } };
  return { id: result.intent_id, hash: result.hash };
}

async function readyFrom(plan: string): Promise<Intent> {
  const intent = await proposedFrom(plan);
  await project.ready(intent);
  return intent;
}

/** Runs a plan to its end with the library; for tests about what comes after. */
async function ranFrom(plan: string): Promise<Intent & { execution: string }> {
  const intent = await readyFrom(plan);
  const { execution_id } = await project.inside((keyturn) =>
    runSeen(keyturn, { intent_id: intent.id, hash: intent.hash, confirm: async () => true }),
  );
  return { ...intent, execution: execution_id };
}

describe('plan validate', () => {
  const BROKEN = `{
  "plan_id": "plan-9",
  "action_plan": [
    { "action_id": "1", "action_type": "FILE_CREATE", "target": "../out", "operation": { "type": "create", "content": "x" } },
    { "action_id": "1", "action_type": "FILE_DELETE", "target": "tools.yaml", "operation": { "type": "delete" } },
    { "action_id": "3", "action_type": "FILE_SHRED", "target": "a", "operation": { "type": "delete" }, "depends_on": ["9"] }
  ],
  "surprise": 1
}
`;

  it('lists all problems, each with its file, line and column, and exits 1', async () => {
    const file = write('broken.json', BROKEN);
    const { code, stdout, stderr } = await project.run('plan', 'validate', file);
    expect(code).toBe(1);
    expect(stdout.split('\n').map((line) => /^(\S+): ([A-Z_]+) /.exec(line)?.slice(1))).toEqual([
      ['broken.json:4:65', 'PATH_ESCAPES'],
      ['broken.json:5:20', 'PLAN_ACTION_DUPLICATE'],
      ['broken.json:5:65', 'PLAN_PATH_OWN'],
      ['broken.json:6:40', 'SHAPE_INVALID'],
      ['broken.json:6:119', 'PLAN_DEPENDENCIES_CYCLIC'],
      ['broken.json:8:3', 'SHAPE_INVALID'],
      undefined,
    ]);
    expect(stdout).toContain('(/action_plan/0/target)');
    expect(stderr).toMatch(/^SHAPE_INVALID: 6 problems in broken\.json\. /);
    const answer = answerOf(await project.run('plan', 'validate', file, '--json'));
    expect(answer).toMatchObject({
      ok: false,
      code: 'SHAPE_INVALID',
      result: { plan_id: null, actions: 0 },
    });
    const first = { line: 4, column: 65, pointer: '/action_plan/0/target', code: 'PATH_ESCAPES' };
    expect(answer).toMatchObject({ result: { problems: [first, {}, {}, {}, {}, {}] } });
  });

  it('a plan with nothing wrong is [OK], also from standard input, and nothing is touched', async () => {
    const { file, plan } = edit('fine');
    const before = await project.size();
    const said = await project.run('plan', 'validate', plan);
    expect(said).toEqual({
      code: 0,
      stderr: '',
      stdout: '[OK] fine: 2 actions, nothing is wrong with it\n',
    });
    const piped = await keyturn(['plan', 'validate', '-'], { cwd: folder, stdin: read(plan) });
    expect(piped).toEqual(said);
    const answer = answerOf(await project.run('plan', 'validate', plan, '--json'));
    expect(answer).toMatchObject({ result: { plan_id: 'fine', actions: 2, problems: [] } });
    expect(read(file)).toContain('old line');
    expect(await project.size()).toBe(before);
  });

  it('a config that is wrong is named, and so is content that no approval opens', async () => {
    const { plan } = edit('named');
    const config = write('named.yaml', 'surprise: 1\n');
    const wrong = await project.run('plan', 'validate', plan, '--config', config);
    expect(wrong.stdout).toMatch(/^named\.yaml:1:\d+: SHAPE_INVALID /);
    const proposal = await project.run('propose', '--plan', plan, '--config', config, '--by', 'bot');
    expect(proposal.stderr).toContain('named.yaml:1:');
    const broken = write('content.plan.json', {
      plan_id: 'p',
      action_plan: [
        {
          action_id: '1',
          action_type: 'FILE_CREATE',
          target: 'new.json',
          operation: { type: 'create', content: '{' },
        },
      ],
    });
    const unfit = await project.run('plan', 'validate', broken);
    expect(unfit).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /content\.plan\.json:\d+:\d+: CONTENT_SYNTAX_BROKEN 1: new\.json, line 1: /,
      ),
    });
    answerOf(await project.run('plan', 'validate', broken, '--json'));
  });

  it('everything that the files do not allow is told, each with the place of its action', async () => {
    const remove = (action_id: string, target: string) => ({
      action_id,
      action_type: 'FILE_DELETE',
      target,
      operation: { type: 'delete' },
    });
    const plan = write('nowhere.plan.json', {
      plan_id: 'p',
      action_plan: [remove('1', 'nowhere'), remove('2', 'elsewhere')],
    });
    const { code, stdout } = await project.run('plan', 'validate', plan);
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/:\d+:\d+: FILE_NOT_FOUND 1: .*nowhere.* \(\/action_plan\/0\)$/),
      expect.stringMatching(/:\d+:\d+: FILE_NOT_FOUND 2: .*elsewhere.* \(\/action_plan\/1\)$/),
    ]);
    expectError('FILE_NOT_FOUND', await project.run('plan', 'validate', 'no-such-plan.json'));
  });
});

describe('plan preview', () => {
  it('shows the diff, the undo and the limits, and touches nothing', async () => {
    const { file, plan } = edit('look');
    const before = await project.size();
    const { code, stdout } = await project.run('plan', 'preview', plan);
    expect(code).toBe(0);
    expect(stdout).toContain(
      '  │ --- a/look.txt\n  │ +++ b/look.txt\n  │ @@ -1,3 +1,3 @@\n  │  first\n  │ -old line\n  │ +new line\n  │  last\n',
    );
    expect(stdout).toContain('  │ --- /dev/null\n  │ +++ b/look/new.txt\n');
    expect(stdout).toMatch(/^Undo: +2 of 2 exact$/m);
    expect(stdout).toMatch(/^Limits: +2 of 100 files, /m);
    expect(stdout).not.toContain('\x1b');
    expect(read(file)).toContain('old line');
    expect(await project.size()).toBe(before);
    const answer = answerOf(await project.run('plan', 'preview', plan, '--json'));
    expect(answer).toMatchObject({
      result: { plan_id: 'look', effect: { kind: 'plan' }, shown: { kind: 'plan' } },
    });
  });

  it('is coloured at a terminal, and not when somebody asks for none', async () => {
    const { plan } = edit('paint');
    const painted = async (env = {}) => {
      const session = inTerminal(['plan', 'preview', plan], { cwd: folder, env });
      await session.exited;
      return session.raw.includes('\x1b[');
    };
    expect([await painted(), await painted({ NO_COLOR: '1' })]).toEqual([true, false]);
  });

  it('a plan with problems says the first and counts the others', async () => {
    const plan = write('two.plan.json', { plan_id: 'p', action_plan: [], more: 1 });
    const said = await project.run('plan', 'preview', plan);
    expectError('SHAPE_INVALID', said);
    expect(said.stderr).toMatch(/two\.plan\.json:\d+:\d+: .* and 1 more; see keyturn plan validate/);
  });
});

describe('a plan at the command line', () => {
  it('is proposed, approved with its diff on the screen, run, shown, and rolled back', async () => {
    const { file, plan } = edit('road');
    const proposal = await project.run('propose', '--plan', plan, '--goal', 'Renew a line', '--by', 'bot');
    expect(proposal.code).toBe(0);
    const [id, hash] = [/[0-9a-f-]{36}/.exec(proposal.stdout)![0], /[0-9a-f]{64}/.exec(proposal.stdout)![0]];

    const approval = await project.talk(['approve', id], ['code to approve it: ', typedCode(hash)], ASKED);
    expect(approval.code).toBe(0);
    expect(approval.screen).toContain('Renew a line');
    expect(approval.screen).toContain('  │ -old line\n  │ +new line\n');
    expect(approval.stdout).toContain(`[OK] alice approved ${id}\n`);

    const grant = await project.talk(['grant', id], ASKED);
    expect(grant).toMatchObject({ code: 0, stderr: '' });
    expect(grant.stdout).toContain(`keyturn run ${id} ${hash}\n`);

    const run = await project.talk(['run', id, hash], YES);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain(
      'Tool to execute: plan road\nTool executable: keyturn\n' +
        'Tool parameters: [edit FILE_MODIFY road.txt, add FILE_CREATE road/new.txt]\n',
    );
    expect(run.stdout).toContain('Plan status: SUCCESS\n');
    expect(read(file)).toBe('first\nnew line\nlast\n');
    const { runs } = await project.inside((keyturn) => keyturn.intents.get({ intent_id: id }));
    const execution = runs[0]!.execution_id;
    expect(run.stdout).toContain(execution);
    const shown = await project.run('show', id);
    expect(shown.stdout).toContain(`Run ${execution} at `);
    const again = await project.talk(['run', id, hash]);
    expect(again.stderr).toMatch(/^ALREADY_EXECUTED: /);

    const preview = await project.run('rollback', execution, '--preview');
    expect(preview.stdout.replace(/ \([0-9a-f]{8}\)$/gm, '')).toBe(
      `[OK] A rollback of ${execution} would do this\n  road/new.txt: remove\n  road.txt: restore\n`,
    );
    expect(read(file)).toContain('new line');
    const undone = await project.talk(['rollback', execution, '--reason', 'wrong line'], ASKED);
    expect(undone).toMatchObject({
      code: 0,
      stdout: `[OK] ${execution} is rolled back\n  road/new.txt: remove\n  road.txt: restore\n  road: folder removed\n`,
    });
    expect(read(file)).toBe('first\nold line\nlast\n');
    expect((await project.run('show', id)).stdout).toMatch(/Status:? +undone/);
  });

  it('propose takes a config with the plan, which narrows it, and refuses one without', async () => {
    const { plan } = edit('narrow');
    const config = write('narrow.yaml', 'execution_constraints:\n  allowed_operations: [FILE_MODIFY]\n');
    const refused = await project.run('propose', '--plan', plan, '--config', config, '--by', 'bot');
    expectError('PLAN_OPERATION_FORBIDDEN', refused);
    expect(refused.stderr).toContain('narrow.plan.json:16:22: ');
    write('narrow.yaml', 'execution_constraints:\n  allowed_operations: [FILE_MODIFY, FILE_CREATE]\n');
    await proposedFrom(plan, '--config', config);
    expectError('USAGE', await project.run('propose', '--tool', 'fail', '--config', config, '--by', 'bot'));
    expectError('USAGE', await project.run('propose', '--plan', plan, '--tool', 'fail', '--by', 'bot'));
    expectError('USAGE', await project.run('propose', '--plan', plan, '--arg', 'a=b', '--by', 'bot'));
  });

  it('a dry run shows the screen, starts nothing and records nothing', async () => {
    const { file, plan } = edit('dry');
    const { id, hash } = await readyFrom(plan);
    const before = await project.size();
    const { code, stdout } = await project.run('run', id, hash, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('Tool to execute: plan dry\n');
    expect(stdout).toMatch(/\[OK\] Dry run: nothing executed, nothing recorded\n$/);
    expect(read(file)).toContain('old line');
    expect(await project.size()).toBe(before);
    answerOf(await project.run('run', id, hash, '--dry-run', '--json'));
  });

  it('answering n, or no terminal, runs nothing', async () => {
    const { file, plan } = edit('declined');
    const { id, hash } = await readyFrom(plan);
    const declined = await project.talk(['run', id, hash], ['Proceed? (y/n) ', 'n']);
    expect(declined.code).toBe(1);
    expect((await project.run('run', id, hash)).code).toBe(1);
    expect(read(file)).toContain('old line');
  });

  it('a file that changed since the approval is said, and nothing runs', async () => {
    const { file, plan } = edit('drift');
    const { id, hash } = await readyFrom(plan);
    write(file, 'first\nold line\nlast\nand more\n');
    const run = await project.talk(['run', id, hash]);
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('[ERROR] Precondition failed: drift.txt is not what it was');
    expect(run.stderr).toMatch(/^PLAN_DRIFT: /);
  });

  it('--json of run, show and rollback is what the schema says', async () => {
    const { plan } = edit('machine');
    const { id, hash } = await readyFrom(plan);
    const run = answerOf(await project.talk(['run', id, hash, '--json'], YES)) as never as {
      result: { execution_id: string };
    };
    expect(run.result).toMatchObject({ tool: 'machine', result: 'success', folder: expect.any(String) });
    const { execution_id } = run.result;
    answerOf(await project.run('show', id, '--json'));
    answerOf(await project.run('list', '--json'));
    answerOf(await project.run('status', '--json'));
    const preview = answerOf(await project.run('rollback', execution_id, '--preview', '--json'));
    expect(preview).toMatchObject({ result: { status: 'preview', instructions: [] } });
    const undone = answerOf(await project.talk(['rollback', execution_id, '--reason', 'x', '--json'], ASKED));
    expect(undone).toMatchObject({
      result: { status: 'rolled_back', folders_removed: ['machine'], not_undone: [] },
    });
    expect(answerOf(await project.run('show', id, '--json'))).toMatchObject({
      result: { intent: { status: 'undone', status_word: 'undone', rollback: { by: 'alice', round: 1 } } },
    });
  });
});

/** A run, and where its backups and reports are. */
async function ranHere(name: string): Promise<{ execution: string; folder: string }> {
  const { execution } = await ranFrom(edit(name).plan);
  const { keeps } = await project.inside((keyturn) => keyturn.system.previewGc({ keep_bytes: 0 }));
  return { execution, folder: keeps.find((one) => one.execution_id === execution)!.folder };
}

describe('doctor', () => {
  it('names a temporary file that a run left behind', async () => {
    const { execution, folder: reports } = await ranHere('leaves');
    const { temporary_prefix } = JSON.parse(read(`${reports}/rollback_manifest.json`));
    expect((await project.run('doctor')).stdout).toContain('temporary files: no run of a plan left any');
    const left = write(`${temporary_prefix}${execution}`, 'half');
    const found = (await project.run('doctor', '--json')).stdout;
    rmSync(join(folder, left));
    expect(found).toContain('"TEMPORARY_FILES_LEFT"');
    expect(found).toContain(left);
  });
});

describe('gc', () => {
  it('lists what goes and what stays, asks, and removes exactly that', async () => {
    const { execution, folder: reports } = await ranHere('old');
    const backups = join(folder, reports, 'backups');
    const kept = await project.run('gc', '--keep-mb', '0', '--preview');
    expect(kept.stdout).toContain(
      `${reports}/backups: MANIFEST_STILL_ACTIVE. The run can still be rolled back`,
    );
    expect(kept.stdout).not.toContain('THE UNDO IS LOST');
    const words = ['gc', '--keep-mb', '0', '--undoable-too', '--reason', 'the disk is full'];
    const no = await project.talk(words, ...thrice('to give up the undo: ', 'yes'));
    expectError('CONFIRMATION_WRONG', no);
    expect(existsSync(backups)).toBe(true);
    const gone = await project.talk(words, ['to give up the undo: ', 'no undo'], ASKED);
    expect(gone.screen).toContain(`THE UNDO IS LOST: ${execution} can no longer be rolled back`);
    expect(gone.stdout).toMatch(
      /^\[OK\] alice removed the backups of \d+ runs?, \d+ bytes, and \d+ objects?, \d+ bytes\n$/,
    );
    expect(existsSync(backups)).toBe(false);
    expectError('BACKUPS_EXPIRED', await project.run('rollback', execution, '--preview'));
    expect((await project.run(...words)).stdout).toContain('There are no backups to remove.\n');
  });

  it('without a terminal lists, and removes nothing', async () => {
    const { folder: reports } = await ranHere('unasked');
    const words = ['gc', '--keep-mb', '0', '--undoable-too'];
    const size = await project.size();
    expectError('NO_TERMINAL', await project.run(...words, '--reason', 'full'));
    const refused = await project.run(...words, '--reason', 'full', '--json');
    expect(answerOf(refused)).toMatchObject({ ok: false, code: 'NO_TERMINAL' });
    const { result } = answerOf(await project.run(...words, '--preview', '--json'));
    expect(JSON.stringify(result)).toContain(reports);
    expectError('USAGE', await project.run(...words, '--reason', ''));
    expect(existsSync(join(folder, reports, 'backups'))).toBe(true);
    expect(await project.size()).toBe(size);
  });

  it('in a project without any run has nothing to remove, and asks nothing', async () => {
    const { run } = await makeProject(fileFolder());
    const words = ['gc', '--keep-mb', '0', '--undoable-too', '--reason', 'full'];
    expect((await run(...words)).stdout).toMatch(
      /^There are no backups to remove\.\nThere are no objects to remove\.\n/,
    );
    const { result } = answerOf(await run(...words, '--json'));
    expect(result).toMatchObject({ removes: [], keeps: [], objects: { removes: [] } });
  });

  it('needs an age or a size, and a reason', async () => {
    expectError('USAGE', await project.run('gc', '--preview'));
    expectError('USAGE', await project.run('gc', '--keep-mb', '10'));
    for (const size of ['-1', '0.5', '1e3', '', '9'.repeat(10)])
      expectError('USAGE', await project.run('gc', `--keep-mb=${size}`, '--preview'));
    for (const age of ['30', '0', '0d', '-1d', '1x', '9'.repeat(10), `${'9'.repeat(11)}d`])
      expectError('TIME_MALFORMED', await project.run('gc', `--older-than=${age}`, '--preview'));
    const { result } = answerOf(await project.run('gc', '--older-than=999999999d', '--preview', '--json'));
    expect(result, 'nothing is that old').toMatchObject({ removes: [], objects: { removes: [] } });
  });
});

describe('rollback', () => {
  it('that is stuck exits 1 and says what to do; the next one finishes it', async () => {
    const { file, plan } = edit('stuck');
    const { id, hash, execution } = await ranFrom(plan);
    write(file, 'somebody else was here\n');
    const words = ['rollback', execution, '--reason', 'wrong'];
    const stuck = await project.talk(words, ASKED);
    expect(stuck.code).toBe(1);
    expect(stuck.stdout).toMatch(new RegExp(`^\\[ERROR\\] The rollback of ${execution} is stuck\n`));
    expect(stuck.screen.replace(/\r?\n *↪ /g, '')).toMatch(
      /copy it to stuck\.txt if the other change may go, then roll back again\./,
    );
    expect(stuck.stdout).toContain('  stuck.txt: NOT RESTORED\n');
    expect(stuck.stderr).toMatch(/^ROLLBACK_STUCK: /);
    expect(read(file)).toBe('somebody else was here\n');
    expect((await project.run('show', id)).stdout).toMatch(/Status:? +STUCK/);
    const run = await project.talk(['run', id, hash]);
    expect(run.stderr).toMatch(/^ROLLBACK_STUCK: /);
    const json = answerOf(await project.talk([...words, '--json'], ASKED));
    expect(json).toMatchObject({ ok: false, code: 'ROLLBACK_STUCK', result: { status: 'stuck' } });
    write(file, 'first\nold line\nlast\n');
    expect((await project.talk(words, ASKED)).stdout).toMatch(/^\[OK\] \S+ is rolled back\n/);
  });

  it('of one checkpoint restores that one', async () => {
    const { file, plan } = edit('part');
    const { id, execution } = await ranFrom(plan);
    const [{ reports } = expect.fail('no run')] = (
      await project.inside((keyturn) => keyturn.intents.get({ intent_id: id }))
    ).runs;
    const { checkpoints } = JSON.parse(read(`${reports}/rollback_manifest.json`)) as {
      checkpoints: { checkpoint_id: string; file_path: string }[];
    };
    const { checkpoint_id } = checkpoints.find(({ file_path }) => file_path === file)!;
    const words = ['rollback', execution, '--checkpoint', checkpoint_id, '--reason', 'only this'];
    expect((await project.talk(words, ASKED)).stdout).toContain('  part.txt: restore\n');
    expect(read(file)).toContain('old line');
    expect(read('part/new.txt')).toBe('fresh\n');
  });

  it('needs a reason, a terminal, the right passphrase and an execution', async () => {
    const { file, plan } = edit('refused');
    const { execution } = await ranFrom(plan);
    expectError('USAGE', await project.run('rollback', execution));
    expectError('NO_TERMINAL', await project.run('rollback', execution, '--reason', 'x'));
    const wrong = await project.talk(
      ['rollback', execution, '--reason', 'x'],
      ...thrice('Passphrase of alice: ', 'not the passphrase'),
    );
    expectError('PASSPHRASE_WRONG', wrong);
    expectError('EXECUTION_NOT_FOUND', await project.run('rollback', UNKNOWN_ID, '--preview'));
    expectError('ID_MALFORMED', await project.run('rollback', 'x', '--preview'));
    expect(read(file)).toContain('new line');
  });

  it('of a tool call is not due', async () => {
    const intent = await project.propose('reach', { count: 1 });
    await project.ready(intent);
    const { execution_id } = await project.inside((keyturn) =>
      runSeen(keyturn, { intent_id: intent.id, hash: intent.hash, confirm: async () => true }),
    );
    expectError('ROLLBACK_NOT_DUE', await project.run('rollback', execution_id, '--preview'));
  });

  it('the generated script only calls keyturn, which asks for the passphrase as ever', async () => {
    const { plan } = edit('script');
    const { id, execution } = await ranFrom(plan);
    const [{ reports } = expect.fail('no run')] = (
      await project.inside((keyturn) => keyturn.intents.get({ intent_id: id }))
    ).runs;
    expect(read(`${reports}/rollback.sh`).split('\n').at(-2)).toBe(`exec keyturn rollback ${execution} "$@"`);
  });
});
