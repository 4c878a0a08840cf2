import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal } from '../support/pty.ts';
import { ALICE, ALL, BOB, ISO, makeScene, type Scene, TURN, UUID } from './grant-scene.ts';
import {
  answerOf,
  BOT_ACCOUNT,
  expectError,
  fileFolder,
  type Intent,
  PASSPHRASE,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const ROAD = [
  'intent.proposed',
  'intent.submitted',
  'approval.granted',
  'capability.issued',
  'execution.claimed',
  'execution.finished',
];

/** A plan of the agent, which works in an account of its own. */
function planned(plan: object): Promise<Intent> {
  return scene.inside(async (keyturn) => {
    const read = await keyturn.readPlan({ plan: Buffer.from(JSON.stringify(plan)), config: null });
    if ('problems' in read) return expect.fail(JSON.stringify(read.problems));
    const draft = { issuer: 'bot', declared_goal: 'A plan.', effect: { kind: 'plan', ...read.spec } };
    const { intent_id, hash } = await keyturn.propose(draft);
    return { id: intent_id, hash };
  }, BOT_ACCOUNT);
}

describe('turn', () => {
  it('one look, one y, one passphrase: approve, grant, check and run, each recorded by itself', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned).toMatchObject({ code: 0, stderr: '' });
    expect(turned.screen).toMatch(/^Runs: +\/usr\/bin\/printf "Hello, %s!\\\\n" Ada$/m);
    expect(turned.screen).toMatch(/^Approved: +by nobody yet, of 1 needed$/m);
    expect(turned.screen).toMatch(
      /^Policies: +[0-9a-f]{12}: asked again at each step, and each can say no$/m,
    );
    expect(turned.screen).toMatch(/^Turn: +approve, grant for one run, check, run$/m);
    expect(turned.screen.match(/\(y\/n\)/g)).toHaveLength(1);
    expect(turned.screen.match(/Passphrase/g)).toHaveLength(1);
    expect(turned.stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice approved ${intent.id}\\n` +
          `\\[OK\\] alice granted a capability for tool:greet\\nCapability: +${UUID.source}\\n` +
          `Scope: +no network, writes nothing\\nUntil: +${ISO.source}\\n` +
          '\\[OK\\] Intent eligible for execution\\n' +
          `\\[OK\\] Execution completed: greet\\nExecution ID: ${UUID.source}\\nTimestamp: ${ISO.source}\\n` +
          'Tool output:\\n  Hello, Ada!\\nStatus: Execution recorded in the ledger\\n$',
      ),
    );
    expect(await scene.kindsOf(intent)).toEqual(ROAD);
    expectError('ALREADY_EXECUTED', await scene.run('turn', intent.id));
  });

  it('without a y, without the passphrase or without a terminal nothing is recorded', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    for (const typed of ['n', '', 'Y', 'yes', intent.id])
      expectError('CONFIRMATION_DECLINED', await scene.talk(['turn', intent.id], [TURN[0], typed]));
    expectError('PASSPHRASE_WRONG', await scene.talk(['turn', intent.id], TURN, [ALICE[0], 'wrong']));
    expectError('NO_TERMINAL', await scene.run('turn', intent.id));
    expectError('INTENT_NOT_FOUND', await scene.run('turn', UNKNOWN_ID));
    expectError('ID_MALFORMED', await scene.run('turn', 'x'));
    for (const flag of ['--yes', '-y', '--force'])
      expectError('USAGE', await scene.run('turn', intent.id, flag));
    expect(await scene.kindsOf(intent)).toEqual(['intent.proposed']);
  });

  it('what this human has approved before is not approved again', async () => {
    const intent = await scene.approved('greet', { name: 'Ada' });
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned.code).toBe(0);
    expect(turned.screen).toMatch(/^Turn: +grant for one run, check, run$/m);
    expect(turned.stdout).toMatch(new RegExp(`^\\[OK\\] alice has approved ${intent.id} before\\n`));
    expect(await scene.kindsOf(intent)).toEqual(ROAD);
  });

  it('a plan of 30 edits is decided once', async () => {
    mkdirSync(join(folder, 'many'));
    const names = Array.from({ length: 30 }, (_, i) => `many/${i}.txt`);
    for (const name of names) writeFileSync(join(folder, name), 'old\n');
    const intent = await planned({
      plan_id: 'thirty',
      action_plan: names.map((target, i) => ({
        action_id: `edit-${i}`,
        action_type: 'FILE_MODIFY',
        target,
        operation: { type: 'text_replace', pattern: 'old', replacement: 'new' },
      })),
    });
    const turned = await scene.talk(['turn', intent.id], ALL, TURN, ALICE);
    expect(turned.code).toBe(0);
    expect(turned.screen.match(/^ {2}│ \+new$/gm)).toHaveLength(30);
    expect(turned.screen.match(/\(y\/n\)/g)).toHaveLength(1);
    expect(turned.stdout).toContain('[OK] Execution completed: thirty\n');
    for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toBe('new\n');
    const checkpointed = ROAD.toSpliced(-1, 0, 'execution.checkpointed');
    expect(await scene.kindsOf(intent)).toEqual(checkpointed);
  });

  it('a run that fails is reported as run reports it, and blocks', async () => {
    const intent = await scene.propose('fail');
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned.code).toBe(1);
    expect(turned.stdout).toMatch(/^\[ERROR\] Execution failed: fail$/m);
    expect(turned.stdout).not.toContain('stands');
    expect(turned.stderr).toMatch(/^TOOL_EXIT_NONZERO: /);
    expectError('RUN_FAILED', await scene.run('turn', intent.id));
  });

  it('a file that changes after the look is found, and the run is refused with what stands', async () => {
    writeFileSync(join(folder, 'moving.txt'), 'old\n');
    const intent = await planned({
      plan_id: 'moving',
      action_plan: [
        {
          action_id: 'edit',
          action_type: 'FILE_MODIFY',
          target: 'moving.txt',
          operation: { type: 'text_replace', pattern: 'old', replacement: 'new' },
        },
      ],
    });
    const session = inTerminal(['turn', intent.id], { cwd: folder });
    await session.expect(TURN[0]);
    session.type('y');
    await session.expect(ALICE[0]);
    writeFileSync(join(folder, 'moving.txt'), 'old and more\n');
    session.type(PASSPHRASE);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('[ERROR] Stopped at approve\nNothing was changed.\n');
    expect((await scene.kindsOf(intent)).at(-1)).toBe('intent.refused');
    expect(readFileSync(join(folder, 'moving.txt'), 'utf8')).toBe('old and more\n');
  });

  it('Ctrl-C stops what runs, and that is recorded', async () => {
    const intent = await scene.propose('endless');
    const session = inTerminal(['turn', intent.id], { cwd: folder });
    await session.expect(TURN[0]);
    session.type('y');
    await session.expect(ALICE[0]);
    session.type(PASSPHRASE);
    while ((await scene.stateOf(intent)).status !== 'claimed') await pause(20);
    session.press('\x03');
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('Status: Execution recorded in the ledger as partial\n');
  });
});

describe('turn with more than one human', () => {
  const SETUP = {
    plan_id: 'protected',
    action_plan: [
      {
        action_id: 'edit',
        action_type: 'FILE_MODIFY',
        target: 'setup.py',
        operation: { type: 'text_replace', pattern: 'old', replacement: 'new' },
      },
    ],
  };
  beforeAll(async () => {
    await scene.enrolBob();
    writeFileSync(join(folder, 'setup.py'), 'old\n');
  });

  it('a protected file needs two: the first approves and is told what is missing, the second turns', async () => {
    const intent = await planned(SETUP);
    const first = await scene.talk(['turn', intent.id, '--as', 'alice'], TURN, ALICE);
    expect(first.code).toBe(1);
    expect(first.screen).toMatch(/^Approved: +by nobody yet, of 2 needed$/m);
    expect(first.stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice approved ${intent.id}\\n\\[ERROR\\] Stopped at grant\\n` +
          `The approval of alice stands until ${ISO.source}\\n$`,
      ),
    );
    expect(first.stderr).toMatch(/^APPROVAL_MISSING: 1 more human\(s\) must approve it\./m);
    expect((await scene.kindsOf(intent)).at(-1)).toBe('approval.granted');

    const second = await scene.talk(['turn', intent.id, '--as', 'bob'], TURN, BOB);
    expect(second.code).toBe(0);
    expect(readFileSync(join(folder, 'setup.py'), 'utf8')).toBe('new\n');
  });

  it('a quorum that is not met stops it at the grant, which is recorded; the approval stands', async () => {
    const rule =
      '\n@id("two-for-greetings")\n@version("1")\n@scope("capability")\n@rationale("Two people greet.")\n' +
      'forbid (principal, action == Keyturn::Action::"grant", resource)\n' +
      'when { resource.name == "greet" } unless { context.quorums.contains("two-humans") };\n';
    const before = scene.policy('keyturn.cedar');
    scene.writePolicy('keyturn.cedar', before + rule);
    const activate = ['policy', 'activate', '--reason', 'two for greetings', '--as', 'alice'];
    expect((await scene.talk(activate, ALICE)).code).toBe(0);

    const intent = await scene.propose('greet', { name: 'Ada' });
    const first = await scene.talk(['turn', intent.id, '--as', 'alice'], TURN, ALICE);
    expect(first.code).toBe(1);
    expect(first.stdout).toContain('[ERROR] Stopped at grant\nThe approval of alice stands until ');
    expect(first.stderr).toMatch(
      /^POLICY_DENIED: Denied by "two-for-greetings" \(version 1\): Two people greet\./m,
    );
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'capability.denied',
      body: { reason_code: 'POLICY_DENIED' },
    });
    const second = await scene.talk(['turn', intent.id, '--as', 'bob', '--json'], TURN, BOB);
    expect(answerOf(second)).toMatchObject({
      ok: true,
      command: 'turn',
      result: {
        by: 'bob',
        steps: [{}, {}, {}, { step: 'run', outcome: 'done' }],
        run: { outcome: 'success' },
      },
    });
  });

  it('nobody turns what they proposed themselves', async () => {
    const proposed = ['propose', '--tool', 'fail', '--by', 'bob', '--json'];
    const { result } = answerOf(await scene.run(...proposed)) as never as { result: { intent_id: string } };
    const turned = await scene.talk(['turn', result.intent_id, '--as', 'bob', '--json'], TURN, BOB);
    expect(answerOf(turned)).toMatchObject({
      ok: false,
      details: { steps: [{ step: 'approve', outcome: 'refused' }], approval: null, run: null },
    });
  });
});
