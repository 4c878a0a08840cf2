import { beforeAll, describe, expect, it } from 'vitest';
import { newestOf } from '../support/ledger.ts';
import { inTerminal } from '../support/pty.ts';
import { ALICE, makeScene, type Scene } from './grant-scene.ts';
import { answerOf, expectError, fileFolder } from './project.ts';

const folder = fileFolder();
let scene: Scene;
let starter: string;
beforeAll(async () => {
  scene = await makeScene(folder);
  starter = scene.policy('keyturn.cedar');
});

const NO_GREETINGS = `
@id("no-greetings")
@version("1")
@scope("capability")
@rationale("Greetings are over.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { resource.name == "greet" };
`;

const activate = (reason: string) => scene.talk(['policy', 'activate', '--reason', reason], ALICE);

describe('policy check', () => {
  it('says that nothing is wrong with the starter policies', async () => {
    expect(await scene.run('policy', 'check')).toEqual({
      code: 0,
      stdout: '[OK] The policies can be used\n',
      stderr: '',
    });
  });

  it('lists all problems, each with its file, line and policy, and exits 1', async () => {
    const broken =
      '@id("a")\n@version("1")\n@scope("intent")\npermit (principal, action, resource);\n\n' +
      '@id("b")\n@version("1")\n@scope("nowhere")\n@rationale("x")\npermit (principal, action, resource);\n';
    scene.writePolicy('broken.cedar', broken);
    const { code, stdout, stderr } = await scene.run('policy', 'check');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^policies\/broken\.cedar:\d+: error: the policy "a" .+$/m);
    expect(stdout).toMatch(/^policies\/broken\.cedar:\d+: error: the policy "b" .+$/m);
    expect(stderr).toMatch(/^POLICY_INVALID: policies\/broken\.cedar, line \d+: .+ And \d+ more\./);
    const json = answerOf(await scene.run('policy', 'check', '--json'));
    expect(json).toMatchObject({
      code: 'POLICY_INVALID',
      result: { problems: expect.arrayContaining([expect.objectContaining({ policy: 'a' })]) },
    });
    expectError('POLICY_INVALID', await scene.run('policy', 'activate', '--reason', 'x'));
    scene.writePolicy('broken.cedar', '');
  });

  it('a warning is said, and is no error', async () => {
    const odd = NO_GREETINGS.replace(
      'when { resource.name == "greet" }',
      'unless { context.quorums.contains("q") }',
    );
    scene.writePolicy('odd.cedar', odd);
    const { code, stdout } = await scene.run('policy', 'check');
    expect(stdout).toMatch(/^policies\/odd\.cedar:\d+: warning: the policy "no-greetings" .*quorum "q"/m);
    expect(stdout).toMatch(/^\[OK\] The policies can be used, with 1 warning$/m);
    expect(code).toBe(0);
    scene.writePolicy('odd.cedar', '');
    expect((await activate('back to the start, in three files')).code).toBe(0);
  });
});

describe('policy test', () => {
  it('asks every question of the table', async () => {
    const { code, stdout } = await scene.run('policy', 'test');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {3}.+$/m);
    expect(stdout).toMatch(/^\[OK\] All \d+ tests pass$/m);
  });

  it('a decision that is another one is named with what was expected, and exits 1', async () => {
    const tests = scene.policy('tests.yaml');
    const more =
      '- name: nobody greets\n  action: grant\n  principal: { kind: human, name: ada }\n' +
      '  resource: { name: greet }\n  expect: deny\n  by: no-greetings\n';
    scene.writePolicy('tests.yaml', tests + more);
    const { code, stdout, stderr } = await scene.run('policy', 'test');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^BAD {2}nobody greets: expected deny by "no-greetings", got: Allowed by /m);
    expect(stderr).toMatch(/^POLICY_TEST_FAILED: "nobody greets" expects deny\. /);
    const json = answerOf(await scene.run('policy', 'test', '--json'));
    expect(json).toMatchObject({ code: 'POLICY_TEST_FAILED' });
    // With the policy that it asks for, the table holds.
    scene.writePolicy('keyturn.cedar', starter + NO_GREETINGS);
    expect((await scene.run('policy', 'test')).stdout).toMatch(/^ok {3}nobody greets$/m);
    scene.writePolicy('keyturn.cedar', starter);
    scene.writePolicy('tests.yaml', tests);
  });
});

describe('policy diff and policy activate', () => {
  it('files that nobody activated decide nothing, and doctor says that they differ', async () => {
    const intent = await scene.granted('greet', { name: 'Ada' });
    scene.writePolicy('keyturn.cedar', starter + NO_GREETINGS);
    expect((await scene.talk(['grant', intent.id], ALICE)).code).toBe(0);
    expect((await scene.run('propose', '--by', 'alice', '--tool', 'greet', '--arg', 'name=Bo')).code).toBe(0);
    expect((await scene.run('doctor')).stdout).toMatch(/^BAD {2}policies: /m);
  });

  it('diff shows which policies and which recent decisions would change', async () => {
    const { code, stdout } = await scene.run('policy', 'diff');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Added: +no-greetings$/m);
    expect(stdout).toMatch(/^\S+Z {2}\S+: grant by alice$/m);
    expect(stdout).toMatch(/^ {2}active policies: Allowed by "humans-grant"/m);
    expect(stdout).toMatch(
      /^ {2}policies\/: {7}Denied by "no-greetings" \(version 1\): Greetings are over\.$/m,
    );
    expect(stdout).toMatch(/^\[OK\] 1 of the last \d+ decisions would change$/m);
    const few = answerOf(await scene.run('policy', 'diff', '--recent', '1', '--json'));
    expect(few).toMatchObject({ result: { added: ['no-greetings'], decisions: [] } });
    for (const wrong of ['0', 'all', '-1'])
      expectError('USAGE', await scene.run('policy', 'diff', '--recent', wrong));
  });

  it('a set that fails its own table is not activated, and nobody is asked', async () => {
    const tests = scene.policy('tests.yaml');
    const more =
      '- name: everybody greets\n  action: grant\n  principal: { kind: human, name: ada }\n' +
      '  resource: { name: greet }\n  expect: allow\n';
    scene.writePolicy('tests.yaml', tests + more);
    const before = await scene.size();
    expectError('POLICY_TEST_FAILED', await scene.run('policy', 'activate', '--reason', 'x'));
    scene.writePolicy('tests.yaml', tests);
    expectError('NO_TERMINAL', await scene.run('policy', 'activate', '--reason', 'x'));
    expectError('USAGE', await scene.run('policy', 'activate'));
    expect(await scene.size()).toBe(before);
  });

  it('files that change while the passphrase is typed are not activated', async () => {
    const before = await scene.size();
    const shown = scene.policy('keyturn.cedar');
    const session = inTerminal(['policy', 'activate', '--reason', 'x'], { cwd: folder });
    await session.expect(ALICE[0]);
    scene.writePolicy('keyturn.cedar', `${shown}// and one more\n`);
    session.type(ALICE[1]);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('(POLICY_FILES_DIFFER 3304)');
    scene.writePolicy('keyturn.cedar', shown);
    expect(await scene.size()).toBe(before);
  });

  it('activation shows the diff, takes a passphrase, is recorded with author and reason, and holds', async () => {
    const activated = await activate('no more greetings');
    expect(activated).toMatchObject({ code: 0, stderr: '' });
    expect(activated.screen).toMatch(/^Added: +no-greetings$/m);
    expect(activated.stdout).toMatch(/^\[OK\] alice activated \d+ policies\nSnapshot: [0-9a-f]{64}\n$/);
    const [entry] = await scene.inside((keyturn) => newestOf(keyturn, 1));
    expect(entry).toMatchObject({
      kind: 'policy.activated',
      body: { by: 'alice', reason: 'no more greetings' },
    });
    const intent = await scene.approved('greet', { name: 'Ada' });
    const denied = await scene.talk(['grant', intent.id], ALICE);
    expectError('POLICY_DENIED', denied);
    expect(denied.stderr).toContain('Denied by "no-greetings" (version 1): Greetings are over.');

    expect((await scene.run('policy', 'diff')).stdout).toBe(
      '[OK] The files in policies/ are the active policies\n',
    );
    expect(await scene.run('policy', 'activate', '--reason', 'again')).toEqual({
      code: 0,
      stdout: '[OK] The files in policies/ are the active policies. Nothing was done\n',
      stderr: '',
    });
  });
});
