import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { processesOf, until } from '../support/processes.ts';
import { inTerminal } from '../support/pty.ts';
import {
  answerOf,
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  type Project,
  SOME_HASH,
  thrice,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let project: Project;
beforeAll(async () => {
  project = await makeProject(folder);
});

const ASKED: [string, string] = ['Passphrase of alice: ', PASSPHRASE];
const YES: [string, string] = ['Proceed? (y/n) ', 'y'];

async function ready(tool: string, args = {}): Promise<Intent> {
  const intent = await project.propose(tool, args);
  await project.ready(intent);
  return intent;
}

const stateOf = ({ id }: Intent) => project.inside((keyturn) => keyturn.intents.get({ intent_id: id }));

/**
 * Kills the command with SIGKILL while the tool runs. Not before: a sandbox that is still being made would outlive the command, and
 * no human could settle the run until the tool has ended.
 */
async function crash({ id, hash }: Intent, ...argv: string[]): Promise<string> {
  const session = inTerminal(['run', id, hash], { cwd: folder });
  await session.expect(YES[0]);
  session.type('y');
  await until(() => processesOf(...argv).length > 0);
  session.kill();
  await session.exited;
  return (await stateOf({ id, hash })).runs[0]!.execution_id;
}

describe('a run that a crash left in doubt', () => {
  let intent: Intent;
  let execution: string;
  beforeAll(async () => {
    intent = await ready('wait', { seconds: 47 });
    execution = await crash(intent, '/bin/sleep', '47');
  });

  it('is the first thing that status says, loudly', async () => {
    const waiting = await project.propose('fail');
    const { code, stdout } = await project.run('status');
    expect(code).toBe(0);
    const [first, second, third, ...rest] = stdout.split('\n');
    expect(first).toBe(`!!! IN DOUBT ${execution.slice(0, 8)}: the effect may have happened !!!`);
    expect(second).toMatch(
      new RegExp(`^  wait for ${intent.id.slice(0, 8)}, since \\S+: its process is gone$`),
    );
    expect(third).toContain(
      `keyturn resolve ${execution.slice(0, 8)} --outcome happened|did-not-happen --reason`,
    );
    const at = rest.findIndex((line) => line.startsWith('Waiting for a human; `keyturn turn`'));
    expect(rest[at + 2]).toMatch(
      new RegExp(`^  ${waiting.id.slice(0, 8)}  waiting +\\d+s +fail +bot +For a test\\.$`),
    );
    const json = answerOf(await project.run('status', '--json'));
    expect(json).toMatchObject({ result: { in_doubt: [{ execution_id: execution, state: 'dead' }] } });
  });

  it('is mentioned by every command that opens the project for writing, and by no other', async () => {
    const line = '1 run is in doubt: see `keyturn status`.\n';
    expect((await project.run('propose', '--tool', 'fail', '--by', 'bot')).stderr).toBe(line);
    expect((await project.run('reject', UNKNOWN_ID, '--reason', 'x')).stderr).toMatch(
      /^1 run is in doubt.*\n\[ERROR\]/,
    );
    expect((await project.run('propose', '--tool', 'fail', '--by', 'bot', '--json')).stderr).toBe('');
    expect((await project.run('list')).stderr).toBe('');
    expect((await project.run('check', intent.id, intent.hash)).stderr).not.toContain(line);
  });

  it('is never run again, and cannot be retried', async () => {
    const run = await project.talk(['run', intent.id, intent.hash]);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(
      /^\[ERROR\] Intent already executed at \S+Z\n\[ERROR\] Execution not eligible\n/,
    );
    expect(run.stderr).toMatch(/^RUN_IN_DOUBT: /);
    const retry = await project.talk(['retry', intent.id, '--reason', 'again']);
    expect(retry.stderr).toContain('(RUN_IN_DOUBT 4002)');
  });

  it('is settled by the word of a human, once', async () => {
    const words = ['resolve', execution, '--outcome', 'did-not-happen', '--reason', 'the machine went down'];
    const resolved = await project.talk(words, ASKED);
    expect(resolved).toMatchObject({
      code: 0,
      stdout: `[OK] alice settled ${execution}: it did not happen\n`,
    });
    expectError('RESOLVE_NOT_DUE', await project.talk(words));
    expect((await stateOf(intent)).status).toBe('failed');
    expect((await project.run('status')).stdout).toContain('Failed; a human may authorise one more attempt');
  });

  it('an outcome, a reason and an execution must be named', async () => {
    expectError('USAGE', await project.run('resolve', execution, '--reason', 'x'));
    expectError('USAGE', await project.run('resolve', execution, '--outcome', 'happened'));
    expectError('USAGE', await project.run('resolve', execution, '--outcome', 'maybe', '--reason', 'x'));
    expectError('ID_MALFORMED', await project.run('resolve', 'x', '--outcome', 'happened', '--reason', 'x'));
    const unknown = ['resolve', UNKNOWN_ID, '--outcome', 'happened', '--reason', 'x'];
    expectError('EXECUTION_NOT_FOUND', await project.talk(unknown));
  });
});

describe('a run that is still at work', () => {
  it('is shown as running, cannot be settled, and ends as partial when the person presses Ctrl-C', async () => {
    const intent = await ready('wait', { seconds: 60 });
    const session = inTerminal(['run', intent.id, intent.hash], { cwd: folder });
    await session.expect(YES[0]);
    session.type('y');
    await until(async () => (await stateOf(intent)).status === 'claimed');
    const execution = (await stateOf(intent)).runs[0]!.execution_id;
    expect((await project.run('status')).stdout).toContain(`running ${execution.slice(0, 8)}`);
    expect((await project.run('list', '--status', 'running')).stdout).toContain(intent.id.slice(0, 8));
    expect((await project.run('list', '--status', 'in-doubt')).stdout).not.toContain(intent.id.slice(0, 8));
    expect((await project.run('show', intent.id)).stdout).toMatch(/^ *Status: +running$/m);
    expect((await project.run('runs')).stdout).toMatch(/ running /);
    const resolved = await project.talk(['resolve', execution, '--outcome', 'happened', '--reason', 'x']);
    expect(resolved.stderr).toContain('(RUN_STILL_ALIVE 4006)');
    session.press('\x03');
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('Status: Execution recorded in the ledger as partial\n');
    expect(session.text).toContain('TOOL_KILLED: ');
  });
});

describe('a run that failed', () => {
  it('may be tried once more when a human says so, and its output can be shown', async () => {
    const intent = await ready('fail');
    const failed = await project.talk(['run', intent.id, intent.hash], YES);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toMatch(/^\[ERROR\] Execution failed: fail$/m);
    const retry = ['retry', intent.id, '--reason', 'it was the weather'];
    const retried = await project.talk(retry, ASKED);
    expect(retried.stdout).toBe(
      `[OK] alice authorised attempt 2 of ${intent.id}\nNext: keyturn grant ${intent.id}\n`,
    );
    expect((await project.talk(retry)).stderr).toContain('(RETRY_NOT_DUE 4004)');
    const early = await project.run('run', intent.id, intent.hash);
    expect(early.stderr).toMatch(/^ORDER_MISSING: /);
    const granted = await project.talk(['grant', intent.id], ASKED);
    expect(granted.stdout).toContain(`keyturn run ${intent.id} ${intent.hash}\n`);
    expect((await project.talk(['run', intent.id, intent.hash], YES)).code).toBe(1);
    const { stdout } = await project.run('show', intent.id, '--output');
    expect(stdout.match(/^Run \S+ at \S+ on \S+: failed$/gm)).toHaveLength(2);
    expect(stdout).toContain('Tool output:\nError output:\n');
  });

  it('a run that was killed half way is in doubt', async () => {
    const intent = await ready('hurry');
    const { code, stdout, stderr } = await project.talk(['run', intent.id, intent.hash], YES);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Exit code: none$/m);
    expect(stdout).toMatch(/^Status: Execution recorded in the ledger as partial$/m);
    expect(stderr).toMatch(/^TOOL_TIMED_OUT: /);
    expect((await project.run('status')).stdout).toContain('it was killed half way');
  });
});

describe('object erase', () => {
  it('removes what was asked and what was printed, and the ledger still verifies', async () => {
    const intent = await ready('greet', { name: 'Secret' });
    expect((await project.talk(['run', intent.id, intent.hash], YES)).code).toBe(0);
    const shown = answerOf(await project.run('show', intent.id, '--output', '--json')) as never as Shown;
    expect(shown.result.output.stdout).toBe('Hello, Secret!\n');
    const { effect_digest } = shown.result.intent;
    for (const digest of [intent.hash, shown.result.outputs[0]!.stdout]) {
      const words = ['object', 'erase', digest, '--reason', 'it was a secret'];
      const erased = await project.talk(words, [' to erase it: ', digest.slice(-8)], ASKED);
      expect(erased.stdout).toBe(`[OK] alice erased ${digest}. The ledger keeps its digest\n`);
    }
    const gone = await project.talk(['object', 'erase', effect_digest, '--reason', 'too']);
    expect(gone.stderr).toContain('(OBJECT_MISSING 2026)');
    const after = await project.run('show', intent.id, '--output');
    expect(after.stdout).not.toContain('Secret');
    expect(after.stdout).toContain('What was asked for was erased.');
    expect(after.stdout).toContain('Tool output:\n  It was erased.\n');
    expect((await project.run('ledger', 'verify', '--deep')).code).toBe(0);
    const again = ['object', 'erase', intent.hash, '--reason', 'again'];
    expect((await project.talk(again)).stderr).toContain('(OBJECT_MISSING 2026)');
  });

  it('says what rests on it, and asks for each thing that would be lost', async () => {
    const file = join(folder, 'plan.json');
    const action = { action_id: 'a', action_type: 'FILE_CREATE', target: 'made.txt' };
    const action_plan = [{ ...action, operation: { type: 'create', content: 'x' } }];
    writeFileSync(file, JSON.stringify({ plan_id: 'p', action_plan }));
    const { result } = answerOf(
      await project.run('propose', '--plan', file, '--by', 'bot', '--json'),
    ) as never as {
      result: { intent_id: string; hash: string };
    };
    const plan = { id: result.intent_id, hash: result.hash };
    await project.ready(plan);
    expect((await project.talk(['run', plan.id, plan.hash], YES)).code).toBe(0);
    const { execution_id } = (await stateOf(plan)).runs[0]!;
    const { stdout } = await project.run('object', 'erase', plan.hash, '--preview');
    expect(stdout).toContain(`Object ${plan.hash}: an envelope, `);
    expect(stdout).toContain('  with it goes an effect ');
    expect(stdout).toContain(`  held by ${plan.id}, entry `);
    expect(stdout).toContain(`!!! THE UNDO IS LOST: ${execution_id} can no longer be rolled back !!!`);
    const erase = ['object', 'erase', plan.hash, '--reason', 'x'];
    const declined = await project.talk(erase, ['give up the undo: ', '']);
    expect(declined.stderr).toContain('(CONFIRMATION_DECLINED 3012)');
    const wrong = await project.talk(erase, ...thrice('give up the undo: ', 'yes'));
    expect(wrong.stderr).toContain('(CONFIRMATION_WRONG 3014)');
    const undone = await project.talk(['rollback', execution_id, '--reason', 'x'], ASKED);
    expect(undone.code).toBe(0);
    const begin = ['x', plan.hash.slice(-8)].map((typed): [string, string] => [' to erase it: ', typed]);
    expect((await project.talk(erase, ...begin, ASKED)).code).toBe(0);
    // The registry is shared by every intent of this file.
    const { registry_digest } = await stateOf(plan);
    const shared = await project.talk(
      ['object', 'erase', registry_digest, '--reason', 'x'],
      ...thrice(' to erase it for all ', '1'),
    );
    expect(shared.stderr).toContain('(CONFIRMATION_WRONG 3014)');
    const { policy } = await project.inside((keyturn) => keyturn.system.get());
    const kept = await project.talk(['object', 'erase', policy!, '--reason', 'x']);
    expect(kept.stderr).toContain('(OBJECT_KEPT 3030)');
  });

  it('what begins no digest is refused, and so is too little of one', async () => {
    expectError('HASH_MALFORMED', await project.run('object', 'erase', SOME_HASH.slice(61), '--reason', 'x'));
    expectError('USAGE', await project.run('object', 'erase', SOME_HASH));
  });
});

interface Shown {
  readonly result: {
    readonly intent: { readonly effect_digest: string };
    readonly outputs: readonly { readonly stdout: string }[];
    readonly output: { readonly stdout: string };
  };
}
