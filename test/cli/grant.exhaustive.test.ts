import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTerminal } from '../support/pty.ts';
import { ALICE, ISO, makeScene, type Scene, typing, UUID, YES } from './grant-scene.ts';
import { answerOf, expectError, fileFolder, PASSPHRASE, thrice, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const NOT_ORDERED =
  '[ERROR] Not ordered to run\n[ERROR] Execution not eligible\n' +
  '[ERROR] Cannot execute: Execution not eligible\nNo execution attempted.\n';

describe('the walk through steps 0 to 7', () => {
  it('propose, approve, grant, check, run: each says what comes next, and each is recorded', async () => {
    const propose = ['propose', '--tool', 'greet', '--arg', 'name=Ada', '--by', 'bot', '--json'];
    const { result } = answerOf(await scene.run(...propose)) as never as {
      result: { intent_id: string; hash: string };
    };
    const intent = { id: result.intent_id, hash: result.hash };
    const { id, hash } = intent;

    const approved = await scene.talk(['approve', id], typing(intent), ALICE);
    expect(approved.code).toBe(0);
    expect(approved.stdout).toContain(`Next:           keyturn grant ${id}\n`);

    // Approved is not enough: nothing runs without an order.
    const early = await scene.run('check', id, hash);
    expect(early).toMatchObject({ code: 1, stdout: '[ERROR] Not ordered to run\n' });
    expect(early.stderr).toMatch(/^ORDER_MISSING: /);
    expect((await scene.run('run', id, hash)).stdout).toBe(NOT_ORDERED);
    expect((await scene.run('status')).stdout).toContain(
      `Approved; a human has to order the run (1):\n  ${id.slice(0, 8)}  greet: Run greet.\n    keyturn grant ${id.slice(0, 8)}\n`,
    );

    const granted = await scene.talk(['grant', id], ALICE);
    expect(granted).toMatchObject({ code: 0, stderr: '' });
    expect(granted.stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice ordered one run of tool:greet\\nCapability: +${UUID.source}\\n` +
          `Scope: +no network, writes nothing\\nBegin by: +${ISO.source}\\nUntil: +${ISO.source}\\nNext: +keyturn run ${id} ${hash}\\n$`,
      ),
    );
    expect(granted.screen).toMatch(/^Grant: +tool:greet$/m);
    expect(granted.screen).toMatch(/^Runs: +\/usr\/bin\/printf "Hello, %s!\\\\n" Ada$/m);
    expect(granted.screen).toMatch(/^Lives: +300 s, for one run$/m);
    expect(granted.screen).toMatch(/^Holder: +any bearer$/m);

    expect(await scene.run('check', id, hash)).toEqual({
      code: 0,
      stdout: '[OK] Intent eligible for execution\n',
      stderr: '',
    });
    const ran = await scene.talk(['run', id, hash], YES);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toMatch(
      new RegExp(`^\\[OK\\] Execution completed: greet\\nExecution ID: ${UUID.source}\\n`, 'm'),
    );
    expect(ran.stdout).not.toContain('Capability');
    expect(ran.screen).toMatch(new RegExp(`^Capability: +${UUID.source}$`, 'm'));
    expect(ran.screen).toMatch(/^Ordered by: +alice$/m);
    expect(ran.screen).toMatch(new RegExp(`^Good until: +${ISO.source}$`, 'm'));
    expect(ran.screen).toMatch(/^Scope: +no network, writes nothing$/m);
    expect(await scene.kindsOf(intent)).toEqual([
      'intent.proposed',
      'intent.submitted',
      'approval.granted',
      'execution.refused',
      'order.given',
      'capability.issued',
      'execution.claimed',
      'execution.finished',
    ]);
  });
});

describe('grant', () => {
  it('an intent that nobody approved is refused before a passphrase is asked, and that is recorded', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    expectError('APPROVAL_MISSING', await scene.run('grant', intent.id));
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'capability.denied',
      body: { by: 'alice', reason_code: 'APPROVAL_MISSING', decision: null },
    });
  });

  it('F2: a denial names the policy and its rationale, exits 1, and is recorded with the decision', async () => {
    const intent = await scene.approved('greet', { name: 'Ada' });
    const denied = await scene.talk(['grant', intent.id, '--ttl', '20m'], ALICE);
    expectError('POLICY_DENIED', denied);
    expect(denied.stderr).toContain('Denied by "short-without-undo" (version 1)');
    expect(denied.stderr).toContain('For what cannot be undone a capability lives 15 minutes at most.');
    const [last] = (await scene.storyOf(intent)).slice(-1);
    expect(last).toMatchObject({ kind: 'capability.denied', body: { reason_code: 'POLICY_DENIED' } });
    const { decision } = last!.body as { decision: string };
    const record = await scene.inside((keyturn) => keyturn.ledger.decision({ digest: decision }));
    expect(record.request).toMatchObject({ action: 'grant', context: { ttl_s: 1200 } });
    expect((await scene.stateOf(intent)).capabilities).toEqual([]);
    const json = answerOf(await scene.talk(['grant', intent.id, '--ttl', '20m', '--json'], ALICE));
    expect(json).toMatchObject({ code: 'POLICY_DENIED', facts: { policies: 'short-without-undo' } });
  });

  it('a scope, a category and conditions make it narrower, and are shown', async () => {
    const intent = await scene.approved('mark', { file: 'out/a/x' });
    const words = ['--scope', `write=${folder}/out/a`, '--category', 'files', '--ttl', '2m'];
    const conditions = ['--condition', 'environment=prod', '--condition', 'hours=0-24'];
    const granted = await scene.talk(['grant', intent.id, ...words, ...conditions], ALICE);
    expect(granted).toMatchObject({ code: 0 });
    expect(granted.screen).toContain(`WRITES ${folder}/out/a\n`);
    expect(granted.screen).toMatch(/^Lives: +120 s, for one run$/m);
    expect(granted.stdout).toContain("in the environment prod; from 0 to 24 o'clock UTC\n");

    // F3: the environment here is another one.
    const refused = await scene.run('run', intent.id, intent.hash);
    expect(refused.stdout).toMatch(/^\[ERROR\] Precondition failed: It is for the environment "prod"/);
    expect(refused.stderr).toMatch(/^CAPABILITY_CONDITION_UNMET: /);
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'execution.refused',
      body: { reason_code: 'CAPABILITY_CONDITION_UNMET' },
    });
  });

  it('more than the effect reaches is refused, before anybody types a passphrase', async () => {
    const intent = await scene.approved('greet', { name: 'Ada' });
    for (const reach of ['network', 'unconfined', 'write=/tmp', 'pipeline=x'])
      expectError('CAPABILITY_WIDENED', await scene.run('grant', intent.id, '--scope', reach));
    expectError('ACTION_NOT_REQUESTED', await scene.run('grant', intent.id, '--action', 'deploy'));
    expectError('CAPABILITY_TOO_LONG', await scene.run('grant', intent.id, '--ttl', '2h'));
  });

  it('words that make no sense are refused before anything is opened or asked, and leave no trace', async () => {
    const { id } = await scene.approved('greet', { name: 'Ada' });
    const before = await scene.size();
    const wrong: [string, string[]][] = [
      ['TIME_MALFORMED', ['--ttl', 'soon']],
      ['USAGE', ['--scope', 'everything']],
      ['USAGE', ['--scope', 'write=']],
      ['USAGE', ['--scope', 'write=out/a']],
      ['USAGE', ['--scope', 'nothing', '--scope', 'network']],
      ['CAPABILITY_MALFORMED', ['--scope', 'write=/a/../b']],
      ['CAPABILITY_MALFORMED', ['--scope', 'pipeline=A B']],
      ['USAGE', ['--condition', 'weather=fine']],
      ['USAGE', ['--condition', 'environment']],
      ['USAGE', ['--condition', 'host=a', '--condition', 'host=b']],
      ['USAGE', ['--condition', 'file=a.txt']],
      ['USAGE', ['--condition', 'file=a:none', '--condition', 'file=a:none']],
      ['TIME_MALFORMED', ['--condition', 'hours=nine']],
      ['CAPABILITY_MALFORMED', ['--condition', 'hours=9-25']],
      ['TIME_MALFORMED', ['--condition', 'not-before=tomorrow']],
      ['TIME_MALFORMED', ['--condition', 'not-before=2026-01-15 12:00']],
      ['USAGE', ['--action', 'a', '--action', 'b']],
      ['USAGE', ['--delegation', UNKNOWN_ID]],
      ['USAGE', ['--agent-key', 'scout.key']],
      ['ID_MALFORMED', ['--delegation', 'x', '--agent-key', 'scout.key']],
      ['PRINCIPAL_UNKNOWN', ['--holder', 'nobody']],
      ['USAGE', ['--holder', 'alice']],
      ['CREDENTIAL_UNKNOWN', ['--holder', 'bot']],
      ['PRINCIPAL_UNKNOWN', ['--as', 'nobody']],
      ['NOT_HUMAN', ['--as', 'bot']],
    ];
    for (const [code, words] of wrong) expectError(code as 'USAGE', await scene.run('grant', id, ...words));
    expectError('ID_MALFORMED', await scene.run('grant', 'x'));
    expectError('INTENT_NOT_FOUND', await scene.run('grant', UNKNOWN_ID));
    expectError('NO_TERMINAL', await scene.run('grant', id));
    expectError('PASSPHRASE_WRONG', await scene.talk(['grant', id], ...thrice(ALICE[0], 'wrong')));
    expect(await scene.size()).toBe(before);
  });

  it('--out writes the token to a new file that only its owner reads; a refused grant leaves none', async () => {
    const intent = await scene.approved('greet', { name: 'Ada' });
    const file = join(folder, 'token.jws');
    expectError(
      'POLICY_DENIED',
      await scene.talk(['grant', intent.id, '--ttl', '20m', '--out', file], ALICE),
    );
    expect(existsSync(file)).toBe(false);
    const granted = await scene.talk(['grant', intent.id, '--out', file], ALICE);
    expect(granted.stdout).toContain(`keyturn run ${intent.id} ${intent.hash} --capability ${file}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expectError('WRITE_FAILED', await scene.run('grant', intent.id, '--out', file));
    const run = await scene.talk(['run', intent.id, intent.hash, '--capability', file], YES);
    expect(run.code).toBe(0);
  });

  it('is for the attempt that was shown', async () => {
    const intent = await scene.propose('fail');
    const { id: intent_id, hash } = intent;
    await scene.approve(intent);
    const session = inTerminal(['grant', intent.id], { cwd: folder });
    await session.expect(ALICE[0]);
    await scene.inside(async (keyturn) => {
      const { seen } = await keyturn.intents.grant({ intent_id, hash, signer: scene.alice });
      await keyturn.runs.run({ intent_id, hash, seen });
      await keyturn.runs.retry({ intent_id, reason: 'again', signer: scene.alice });
    });
    session.type(PASSPHRASE);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('(SEEN_OTHER ');
    expect((await scene.kindsOf(intent)).at(-1)).toBe('capability.denied');
  });

  it('a retry is a new authorisation and needs a new capability; an alternate must be named', async () => {
    const effect = { kind: 'tool' as const, tool: 'fail', arguments: {} };
    const alternates = [{ kind: 'tool' as const, tool: 'greet', arguments: { name: 'Ada' } }];
    const intent = await scene.inside(async (keyturn) => {
      const draft = { issuer: 'bot', declared_goal: 'Greet.', effect, alternates };
      const { intent_id, hash } = await keyturn.intents.propose(draft);
      return { id: intent_id, hash };
    });
    const approve = await scene.talk(['approve', intent.id], typing(intent), ALICE);
    expect(approve.screen).toMatch(/^Requests: +tool:fail, tool:greet$/m);
    expect(approve.screen).toMatch(
      /^Alternate 1, .*:\n {2}Runs: +\/usr\/bin\/printf "Hello, %s!\\\\n" Ada$/m,
    );
    expectError('CLARIFICATION_NEEDED', await scene.run('grant', intent.id));
    const words = ['grant', intent.id, '--action', 'tool:fail'];
    expect((await scene.talk(words, ALICE)).code).toBe(0);
    expect((await scene.talk(['run', intent.id, intent.hash], YES)).code).toBe(1);

    const retry = ['retry', intent.id, '--reason', 'it always fails'];
    expectError('ALTERNATE_NOT_NAMED', await scene.run(...retry, '--alternate', 'reach'));
    const retried = await scene.talk([...retry, '--alternate', 'greet'], ALICE);
    expect(retried.stdout).toBe(
      `[OK] alice authorised attempt 2 of ${intent.id}, with greet\nNext: keyturn grant ${intent.id}\n`,
    );
    expect((await scene.run('check', intent.id, intent.hash)).stderr).toMatch(/^ORDER_MISSING: /);
    expect((await scene.talk(['grant', intent.id, '--action', 'tool:greet'], ALICE)).code).toBe(0);
    const run = await scene.talk(['run', intent.id, intent.hash], YES);
    expect(run.stdout).toContain('Hello, Ada!');
  });
});
