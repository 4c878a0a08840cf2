import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReasonCode } from '../../src/refusal.ts';
import { converse, inTerminal } from '../support/pty.ts';
import { scratch } from '../support/scratch.ts';
import { ALICE, ALL, BOB, ISO, makeScene, type Scene, TURN, typing, UUID } from './grant-scene.ts';
import {
  answerOf,
  BOT_ACCOUNT,
  expectError,
  fileFolder,
  type Intent,
  makeProject,
  PASSPHRASE,
  thrice,
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
  'order.given',
  'capability.issued',
  'execution.claimed',
  'execution.finished',
];

/** A plan of the agent, which works in an account of its own. */
function planned(plan: object): Promise<Intent> {
  return scene.inside(async (keyturn) => {
    const read = await keyturn.plans.read({ plan: JSON.stringify(plan) });
    if ('problems' in read) return expect.fail(JSON.stringify(read.problems));
    const draft = {
      issuer: 'bot',
      declared_goal: 'A plan.',
      effect: { kind: 'plan' as const, ...read.spec },
    };
    const { intent_id, hash } = await keyturn.intents.propose(draft);
    return { id: intent_id, hash };
  }, BOT_ACCOUNT);
}

/** The command that a screen names, without the program. */
const undoLineOf = (stdout: string) => /^Undo: keyturn (.+)$/m.exec(stdout)?.[1] ?? '';
const wordsOf = (printed: string) => printed.replace(/ \(.*\)$/, '').split(' ');

describe('turn', () => {
  it('says how a run is undone whose tool names another that does it, and the code of what was turned', async () => {
    const intent = await scene.propose('lock', {});
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned).toMatchObject({ code: 0, stderr: '' });
    const printed = undoLineOf(turned.stdout);
    const code = (await scene.run('show', intent.id)).stdout.match(/^Code: +(\S+)/m)?.[1];
    expect(turned.screen).toContain(code!);
    expect(printed).toBe(`undo ${intent.id} (proposes unlock)`);
    const undo = await scene.run(...wordsOf(printed));
    expect(undo).toMatchObject({ code: 0, stdout: expect.stringContaining('unlock') });
  });

  it('prints an undo that runs as it is printed, for the one human here beside an agent', async () => {
    const p = await makeProject(scratch());
    const intent = await p.propose('open');
    const turned = await p.talk(['turn', intent.id], TURN, ALICE);
    expect(turned).toMatchObject({ code: 0, stderr: '' });
    const printed = undoLineOf(turned.stdout);
    expect(printed).toBe(`undo ${intent.id} (proposes greet)`);
    expect(await p.run(...wordsOf(printed))).toMatchObject({ code: 0, stderr: '' });
    expectError('UNDO_UNDER_WAY', await p.run(...wordsOf(printed)));
    expect((await p.run('show', intent.id)).stdout).toMatch(/^Its undo is not over: to be undone by /m);
  });

  it('one look, one y, one passphrase: one signature approves and orders, then it is checked and run', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned).toMatchObject({ code: 0, stderr: '' });
    expect(turned.screen).toMatch(/^Runs: +\/usr\/bin\/printf "Hello, %s!\\\\n" Ada$/m);
    expect(turned.screen).toMatch(/^Approved: +none yet, of 1 needed$/m);
    expect(turned.screen).toMatch(
      /^Policies: +[0-9a-f]{12}: asked again at each step, and each can say no$/m,
    );
    expect(turned.screen).toMatch(/^Turn: +approve, order one run, check, run$/m);
    expect(turned.screen.match(/\(y\/n\)/g)).toHaveLength(1);
    expect(turned.screen.match(/Passphrase/g)).toHaveLength(1);
    expect(turned.stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice approved ${intent.id}\\n` +
          `\\[OK\\] alice ordered one run of tool:greet\\nCapability: +${UUID.source}\\n` +
          `Scope: +no network, writes nothing\\nBegin by: +${ISO.source}\\nUntil: +${ISO.source}\\n` +
          '\\[OK\\] Intent eligible for execution\\n' +
          `\\[OK\\] Issued and claimed: greet runs as ${UUID.source}\\n` +
          `\\[OK\\] Execution completed: greet\\nExecution ID: ${UUID.source}\\nTimestamp: ${ISO.source}\\n` +
          'Tool output:\\n  Hello, Ada!\\nStatus: Execution recorded in the ledger\\n$',
      ),
    );
    expect(await scene.kindsOf(intent)).toEqual(ROAD);
    expectError('ALREADY_EXECUTED', await scene.run('turn', intent.id));
  });

  it('without a y, without the passphrase or without a terminal nothing is recorded', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    for (const typed of ['n', ' NO ', ''])
      expectError('CONFIRMATION_DECLINED', await scene.talk(['turn', intent.id], [TURN[0], typed]));
    for (const typed of ['ye', intent.id])
      expectError('CONFIRMATION_DECLINED', await scene.talk(['turn', intent.id], ...thrice(TURN[0], typed)));
    expectError(
      'PASSPHRASE_WRONG',
      await scene.talk(['turn', intent.id], TURN, ...thrice(ALICE[0], 'wrong')),
    );
    expectError('NO_TERMINAL', await scene.run('turn', intent.id));
    expectError('INTENT_NOT_FOUND', await scene.run('turn', UNKNOWN_ID));
    expectError('ID_MALFORMED', await scene.run('turn', 'x'));
    for (const flag of ['--yes', '-y', '--force'])
      expectError('USAGE', await scene.run('turn', intent.id, flag));
    expect(await scene.kindsOf(intent)).toEqual(['intent.proposed']);
  });

  it('what is neither y nor n is asked again, and the third try still counts', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    const turns = ['si', 'turn', ' Yes '].map((typed): [string, string] => [TURN[0], typed]);
    const { code, screen } = await scene.talk(['turn', intent.id], ...turns, ALICE);
    expect(code).toBe(0);
    expect(screen.split('That is neither y nor n. ')).toHaveLength(3);
  });

  it('Enter is a no at once', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    for (const before of [[], ['x'], ['x', 'x']]) {
      const turns = [...before, ''].map((typed): [string, string] => [TURN[0], typed]);
      expectError('CONFIRMATION_DECLINED', await scene.talk(['turn', intent.id], ...turns));
    }
    expect(await scene.kindsOf(intent)).toEqual(['intent.proposed']);
  });

  it('Ctrl-C and the end of input decline at once, also at a later try', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    for (const [tries, key] of [
      [0, '\x03'],
      [1, '\x04'],
      [2, '\x03'],
    ] as const) {
      const session = inTerminal(['turn', intent.id], { cwd: folder });
      for (let i = 0; i < tries; i++) {
        await session.expect(TURN[0]);
        session.type('x');
      }
      await session.expect(TURN[0]);
      session.press(key);
      expect(await session.exited).toBe(1);
      expect(session.text).toContain('Nothing was typed. (CONFIRMATION_DECLINED 3012)');
    }
    expect(await scene.kindsOf(intent)).toEqual(['intent.proposed']);
  });

  it('what this human has approved before is not approved again', async () => {
    const intent = await scene.approved('greet', { name: 'Ada' });
    const turned = await scene.talk(['turn', intent.id], TURN, ALICE);
    expect(turned.code).toBe(0);
    expect(turned.screen).toMatch(/^Turn: +order one run, check, run$/m);
    expect(turned.stdout).toMatch(new RegExp(`^\\[OK\\] alice has approved ${intent.id} before\\n`));
    expect(await scene.kindsOf(intent)).toEqual(ROAD.toSpliced(2, 0, 'approval.granted'));
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

  it('what a failed tool printed is shown, made harmless: live at a terminal, or else on standard error', async () => {
    const apart = await scene.propose('grumble');
    const turned = await scene.talk(['turn', apart.id], TURN, ALICE);
    expect(turned.stdout).toMatch(/^\[ERROR\] Execution failed: grumble$/m);
    expect(turned.stdout).toContain('Error output:\n  broken\n');
    expect(turned.stdout).not.toContain('half');
    expect(turned.stderr).toMatch(
      /^Tool output:\n {2}half\\x1b\[2J done\n {2}\[OK\] all is well\nTOOL_EXIT_NONZERO: /,
    );

    const live = await scene.propose('grumble');
    const { code, text } = await converse(['turn', live.id], { cwd: folder }, [TURN, ALICE]);
    expect(code).toBe(1);
    expect(text).toContain('│ half\\x1b[2J done\n');
    expect(text).toContain('│ [OK] all is well\n');
    expect(text).toContain('│ broken\n');
    expect(text).not.toMatch(/^(\[OK\] all is well|Tool output:)/m);
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
    expect(session.text).toContain('[ERROR] The key was not turned\nNothing was changed.\n');
    expect((await scene.kindsOf(intent)).at(-1)).toBe('intent.refused');
    expect(readFileSync(join(folder, 'moving.txt'), 'utf8')).toBe('old and more\n');
  });

  it('is for the attempt that was shown: a later one is neither ordered nor run', async () => {
    const intent = await scene.propose('fail');
    const { id: intent_id, hash } = intent;
    const failOnce = () =>
      scene.inside(async (keyturn) => {
        const { seen } = await keyturn.intents.grant({ intent_id, hash, signer: scene.alice });
        await keyturn.runs.run({ intent_id, hash, seen });
        await keyturn.runs.retry({ intent_id, reason: 'again', signer: scene.alice });
      });
    await scene.approve(intent);
    await failOnce();
    const session = inTerminal(['turn', intent.id], { cwd: folder });
    await session.expect(TURN[0]);
    session.type('y');
    await session.expect(ALICE[0]);
    await failOnce();
    session.type(PASSPHRASE);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('[ERROR] The key was not turned\nNothing was changed.\n');
    expect(await scene.stateOf(intent)).toMatchObject({ attempt: 3, status: 'approved' });
    expect((await scene.kindsOf(intent)).filter((kind) => kind === 'order.given')).toHaveLength(2);
  });

  it('Ctrl-C stops what runs, and that is recorded', async () => {
    const folder = scratch();
    const fresh = await makeScene(folder);
    const intent = await fresh.propose('endless');
    const session = inTerminal(['turn', intent.id], { cwd: folder });
    await session.expect(TURN[0]);
    session.type('y');
    await session.expect(ALICE[0]);
    session.type(PASSPHRASE);
    // Its steps and its output are told as they happen.
    await session.expect(`[OK] alice approved ${intent.id}\n`);
    await session.expect('[OK] Issued and claimed: endless runs as ');
    await session.expect('│ begun\n');
    expect((await fresh.stateOf(intent)).status).toBe('claimed');
    session.press('\x03');
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('Status: Execution recorded in the ledger as partial\n');
  });
});

describe('turn without an id', () => {
  it('takes what has waited longest for this human, and says how many more wait', async () => {
    const folder = scratch();
    const fresh = await makeScene(folder);
    expectError('INTENT_NOT_FOUND', await fresh.run('turn'));
    const own = answerOf(
      await fresh.run('propose', '--tool', 'greet', '--arg', 'name=I', '--by', 'alice', '--json'),
    );
    const later = await fresh.propose('greet', { name: 'Ada' });
    const over = await fresh.approved('greet', { name: 'Bo' });
    const { intent_id } = (own as never as { result: { intent_id: string } }).result;
    const first = await fresh.talk(['turn'], TURN, ALICE);
    expect(first.screen).toContain(`What has waited longest for alice is ${intent_id}; 1 more waits.\n`);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const second = await fresh.talk(['turn'], TURN, ALICE);
    expect(second.screen).toContain(`for alice is ${later.id}; nothing else waits.\n`);
    expect(second.code).toBe(0);
    expectError('INTENT_NOT_FOUND', await fresh.run('turn'));
    expect(await fresh.stateOf(over)).toMatchObject({ status: 'approved' });
  });

  it('passes over what the policies deny, names it, and takes the next', async () => {
    const fresh = await makeScene(scratch());
    const rule =
      '\n@id("no-failing")\n@version("1")\n@scope("capability")\n@rationale("Nothing fails.")\n' +
      'forbid (principal, action == Keyturn::Action::"grant", resource) when { resource.name == "fail" };\n';
    fresh.writePolicy('keyturn.cedar', fresh.policy('keyturn.cedar') + rule);
    expect((await fresh.talk(['policy', 'activate', '--reason', 'no failing'], ALICE)).code).toBe(0);
    const denied = await fresh.propose('fail');
    const alone = await fresh.run('turn');
    expectError('POLICY_DENIED', alone);
    expect(alone.stderr).toContain(denied.id);
    const { id } = await fresh.propose('greet', { name: 'Ada' });
    const turned = await fresh.talk(['turn'], TURN, ALICE);
    expect(turned.screen).toContain(`Passed over: ${denied.id}. Denied by "no-failing"`);
    expect(turned.screen).toContain(`for alice is ${id}; nothing else waits.\n`);
    expect(turned.code).toBe(0);
    expect(await fresh.stateOf(denied)).toMatchObject({ status: 'proposed' });
  });

  it('passes over what this human proposed, once there is another', async () => {
    const fresh = await makeScene(scratch());
    await fresh.enrolBob();
    await fresh.run('propose', '--tool', 'fail', '--by', 'alice');
    const { id } = await fresh.propose('fail');
    expectError('USAGE', await fresh.run('turn'));
    const shown = await fresh.talk(['turn', '--as', 'alice'], [TURN[0], 'n']);
    expect(shown.screen).toContain(`for alice is ${id}; nothing else waits.\n`);
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

  it('a protected file needs two: the first is told before the y that turn is for the last, and approves', async () => {
    const intent = await planned(SETUP);
    const before = await scene.size();
    expectError('APPROVAL_MISSING', await scene.talk(['turn', intent.id, '--as', 'alice']));
    expect(await scene.size()).toBe(before);
    expect((await scene.talk(['approve', intent.id, '--as', 'alice'], typing(intent), ALICE)).code).toBe(0);
    const second = await scene.talk(['turn', intent.id, '--as', 'bob'], TURN, BOB);
    expect(second.code).toBe(0);
    expect(second.screen).toMatch(/^Approved: +by alice, of 2 needed$/m);
    expect(readFileSync(join(folder, 'setup.py'), 'utf8')).toBe('new\n');
  });

  it('a quorum that would not be met is said before the y, and nothing is recorded', async () => {
    const rule =
      '\n@id("two-for-greetings")\n@version("1")\n@scope("capability")\n@rationale("Two people greet.")\n' +
      'forbid (principal, action == Keyturn::Action::"grant", resource)\n' +
      'when { resource.name == "greet" } unless { context.quorums.contains("two-humans") };\n';
    const before = scene.policy('keyturn.cedar');
    scene.writePolicy('keyturn.cedar', before + rule);
    const activate = ['policy', 'activate', '--reason', 'two for greetings', '--as', 'alice'];
    expect((await scene.talk(activate, ALICE)).code).toBe(0);

    const intent = await scene.propose('greet', { name: 'Ada' });
    const first = await scene.talk(['turn', intent.id, '--as', 'alice']);
    expectError('POLICY_DENIED', first);
    expect(first.stderr).toContain('Denied by "two-for-greetings" (version 1): Two people greet.');
    expect(first.stderr).toContain(`2 must approve it: \`keyturn approve ${intent.id}\` is your part.`);
    expect(await scene.kindsOf(intent)).toEqual(['intent.proposed']);
    expect((await scene.talk(['approve', intent.id, '--as', 'alice'], typing(intent), ALICE)).code).toBe(0);
    const second = await scene.talk(['turn', intent.id, '--as', 'bob', '--json'], TURN, BOB);
    expect(answerOf(second)).toMatchObject({
      ok: true,
      command: 'turn',
      result: {
        by: 'bob',
        turned: { by: 'bob', approved_until: expect.any(String) },
        run: { result: 'success' },
      },
    });
  });

  it('nobody turns what they proposed themselves, and is told so before the y', async () => {
    const proposed = ['propose', '--tool', 'fail', '--by', 'bob', '--json'];
    const { result } = answerOf(await scene.run(...proposed)) as never as { result: { intent_id: string } };
    expectError('SELF_APPROVAL', await scene.talk(['turn', result.intent_id, '--as', 'bob']));
    expectError('SELF_APPROVAL', await scene.talk(['approve', result.intent_id, '--as', 'bob']));
  });
});

describe('what can be known is said before the y', () => {
  const folder = fileFolder();
  let fresh: Scene;
  beforeAll(async () => {
    fresh = await makeScene(folder);
  });
  /** Nothing was asked, and nothing recorded. */
  async function refusedAtOnce(code: ReasonCode, intent: Intent): Promise<void> {
    const before = await fresh.size();
    const refused = await fresh.talk(['turn', intent.id]);
    expectError(code, refused);
    expect(refused.screen).not.toMatch(/Passphrase|\(y\/n\)/);
    expect(await fresh.size()).toBe(before);
  }

  it('a folder of the sandbox that is not there', async () => {
    const intent = await fresh.propose('mark', { file: 'out/a/x' });
    rmSync(join(folder, 'out', 'b'), { recursive: true });
    await refusedAtOnce('SANDBOX_PATH_MISSING', intent);
    mkdirSync(join(folder, 'out', 'b'));
  });

  it('a tool that is not what it was', async () => {
    const intent = await fresh.propose('greet', { name: 'Ada' });
    const registry = join(folder, 'tools.yaml');
    const text = readFileSync(registry, 'utf8');
    chmodSync(registry, 0o644);
    writeFileSync(registry, text.replace('Hello, %s', 'Goodbye, %s'));
    chmodSync(registry, 0o444);
    await refusedAtOnce('EFFECT_CHANGED', intent);
    chmodSync(registry, 0o644);
    writeFileSync(registry, text);
    chmodSync(registry, 0o444);
    expect((await fresh.talk(['turn', intent.id], TURN, ALICE)).code).toBe(0);
  });

  it('a freeze, for those who have approved and those who have not', async () => {
    const intent = await fresh.propose('greet', { name: 'Ada' });
    const approved = await fresh.approved('greet', { name: 'Ada' });
    await fresh.inside((keyturn) =>
      keyturn.system.freeze({ scope: 'tool', name: 'greet', reason: 'x', signer: fresh.alice }),
    );
    await refusedAtOnce('FROZEN', intent);
    await refusedAtOnce('FROZEN', approved);
  });
});
