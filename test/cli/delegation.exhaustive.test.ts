import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Keyturn } from '../../src/keyturn.ts';
import { ALICE, ISO, makeScene, type Scene, typing, UUID, YES } from './grant-scene.ts';
import { answerOf, expectError, fileFolder, type Intent, thrice, UNKNOWN_ID } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const REASON = ['--reason', 'greetings are harmless'];

/** Delegates by the command line and returns the id. */
async function delegated(...words: string[]): Promise<string> {
  const added = await scene.talk(['delegation', 'add', 'scout', ...words, ...REASON], ALICE);
  expect(added.code).toBe(0);
  return new RegExp(`^Delegation: +(${UUID.source})$`, 'm').exec(added.stdout)![1]!;
}

/** What scout does is done without any terminal. */
async function proposedByScout(tool = 'greet', ...args: string[]): Promise<Intent> {
  const words = ['propose', '--tool', tool, ...args, '--by', 'scout', '--agent-key', scene.scout];
  const { result } = answerOf(await scene.run(...words, '--json')) as never as {
    result: { intent_id: string; hash: string; signed: boolean };
  };
  expect(result.signed).toBe(true);
  return { id: result.intent_id, hash: result.hash };
}

describe('an agent with a key', () => {
  it('gets its key in a new file that only its owner reads, and the list shows keys and roles', async () => {
    const file = join(folder, 'ranger.key');
    const words = ['identity', 'add', 'ranger', '--agent', '--key-out', file, '--role', 'night'];
    const added = await scene.talk(words, ALICE);
    expect(added.code).toBe(0);
    const { public_key } = Keyturn.agentSigner('ranger', file);
    expect(added.stdout).toBe(
      `[OK] ranger is enrolled as an agent\nKey file:   ${file}\nPublic key: ${public_key}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { stdout } = await scene.run('identity', 'list');
    expect(stdout).toMatch(/^NAME +KIND +STATUS +KEYS +ROLES +ENROLLED +BY\n/);
    expect(stdout).toMatch(/^ranger +agent +active +1 +night +\S+ +alice$/m);
    expect(stdout).toMatch(/^bot +agent +active +0 +- +\S+ +alice$/m);

    expectError('WRITE_FAILED', await scene.run('identity', 'add', 'other', '--agent', '--key-out', file));
    expectError('USAGE', await scene.run('identity', 'add', 'other', '--key-out', 'x.key'));
    expectError('NAME_MALFORMED', await scene.run('identity', 'add', 'other', '--role', 'Not A Role'));
    const wrong = ['identity', 'add', 'other', '--agent', '--key-out', join(folder, 'other.key')];
    expectError('PASSPHRASE_WRONG', await scene.talk(wrong, ...thrice(ALICE[0], 'wrong')));
    expect(existsSync(join(folder, 'other.key'))).toBe(false);
  });

  it('roles are assigned anew, all of them, with a reason', async () => {
    const assign = (...words: string[]) =>
      scene.talk(['identity', 'assign', 'scout', ...words, '--reason', 'joined'], ALICE);
    expect((await assign('--role', 'ops', '--role', 'dev')).stdout).toBe(
      '[OK] scout has the roles ops, dev from now on\n',
    );
    expect((await scene.run('identity', 'list')).stdout).toMatch(/^scout .* dev,ops /m);
    expect((await assign('--without-roles')).stdout).toBe('[OK] scout has no roles from now on\n');
    expectError('USAGE', await scene.run('identity', 'assign', 'scout', '--reason', 'x'));
    const both = ['--role', 'a', '--without-roles', '--reason', 'x'];
    expectError('USAGE', await scene.run('identity', 'assign', 'scout', ...both));
    expectError('USAGE', await scene.run('identity', 'assign', 'scout', '--role', 'a'));
    const nobody = ['identity', 'assign', 'nobody', '--role', 'a', '--reason', 'x'];
    expectError('PRINCIPAL_UNKNOWN', await scene.run(...nobody));
  });

  it('signs what it proposes: the name is then proven, and the approver sees it', async () => {
    const intent = await proposedByScout('fail');
    expect((await scene.run('show', intent.id)).stdout).toContain(
      'Asked by:    scout (agent, signed with its key), from the account ',
    );
    expect((await scene.stateOf(intent)).proposer_verified).toBe(true);
    const other = ['propose', '--tool', 'fail', '--by', 'bot', '--agent-key', scene.scout];
    expectError('KEY_FILE_INVALID', await scene.run(...other));
    expectError('USAGE', await scene.run('propose', '--tool', 'fail', '--agent-key', scene.scout));
    const missing = ['propose', '--tool', 'fail', '--by', 'scout', '--agent-key', 'nowhere.key'];
    expectError('KEY_FILE_INVALID', await scene.run(...missing));
  });
});

describe('delegation', () => {
  it('shows what is delegated, asks for the passphrase, and is listed', async () => {
    const words = ['--action', 'tool:greet', '--action', 'tool:mark', '--ttl', '7d'];
    const added = await scene.talk(['delegation', 'add', 'scout', ...words, ...REASON], ALICE);
    expect(added.screen).toMatch(/^Actions: +tool:greet, tool:mark$/m);
    expect(added.screen).toMatch(/^Approves: +no, a human still does$/m);
    expect(added.stdout).toMatch(
      new RegExp(
        `^\\[OK\\] alice delegated tool:greet, tool:mark to scout\\nDelegation: +${UUID.source}\\n` +
          `Until: +${ISO.source}\\nApproves: +no\\nNext: +keyturn submit ID --delegation ${UUID.source} --agent-key FILE\\n$`,
      ),
    );
    const { stdout } = await scene.run('delegation', 'list');
    expect(stdout).toMatch(/^ID +STATUS +FROM +TO +APPROVES +UNTIL +ACTIONS\n/);
    expect(stdout).toMatch(/^[0-9a-f]{8} +active +alice +scout +no +\S+Z +tool:greet, tool:mark$/m);
  });

  it('an agent that may approve goes the whole road but the y, without any passphrase', async () => {
    const delegation = await delegated('--action', 'tool:greet', '--ttl', '8h', '--approves');
    const intent = await proposedByScout('greet', '--arg', 'name=Ada');
    const under = ['--delegation', delegation, '--agent-key', scene.scout];
    const submitted = await scene.run('submit', intent.id, ...under);
    expect(submitted).toMatchObject({ code: 0, stderr: '' });
    expect(submitted.stdout).toMatch(/^\[OK\] scout submitted \S+\n/);
    expect(submitted.stdout).toMatch(/^Approved: +by the delegation of alice, until \S+Z$/m);
    const token = join(folder, 'scout.jws');
    const words = ['--holder', 'scout', '--out', token];
    const granted = await scene.run('grant', intent.id, ...under, ...words);
    expect(granted.code).toBe(0);
    expect(granted.stdout).toMatch(/^\[OK\] scout granted a capability for tool:greet\n/);
    expect(granted.stdout).toContain('--holder-key FILE\n');
    expect(readFileSync(token, 'utf8')).toContain('.');
    const present = ['--capability', token, '--holder-key', scene.scout];
    expect((await scene.run('run', intent.id, intent.hash)).stderr).toMatch(/^CAPABILITY_HOLDER_UNPROVEN: /);
    const run = await scene.talk(['run', intent.id, intent.hash, ...present], YES);
    expect(run.code).toBe(0);
    expect(await scene.kindsOf(intent)).toEqual([
      'intent.proposed',
      'intent.delegated',
      'order.given',
      'capability.issued',
      'execution.refused',
      'execution.claimed',
      'execution.finished',
    ]);
  });

  it('without --approves a human still has to', async () => {
    const delegation = await delegated('--action', 'tool:*', '--ttl', '1h');
    const intent = await proposedByScout('fail');
    const under = ['--delegation', delegation, '--agent-key', scene.scout];
    const submitted = await scene.run('submit', intent.id, ...under);
    expect(submitted.stdout).toMatch(/^Next: +a human has to approve it: keyturn review$/m);
    expectError('APPROVAL_MISSING', await scene.run('grant', intent.id, ...under));
    expect((await scene.talk(['approve', intent.id], typing(intent), ALICE)).code).toBe(0);
    expect((await scene.run('grant', intent.id, ...under)).code).toBe(0);
  });

  it('F1: what it does not cover, an unknown one and a revoked one are refused and recorded', async () => {
    const delegation = await delegated('--action', 'tool:greet', '--ttl', '1h', '--approves');
    const intent = await proposedByScout('fail');
    const submit = (id: string) =>
      scene.run('submit', intent.id, '--delegation', id, '--agent-key', scene.scout);
    const last = async () => (await scene.storyOf(intent)).at(-1);
    expectError('DELEGATION_OUT_OF_SCOPE', await submit(delegation));
    expect(await last()).toMatchObject({
      kind: 'intent.refused',
      body: { reason_code: 'DELEGATION_OUT_OF_SCOPE' },
    });
    expectError('DELEGATION_UNKNOWN', await submit(UNKNOWN_ID));
    expect(await last()).toMatchObject({ body: { reason_code: 'DELEGATION_UNKNOWN' } });

    const revoke = ['delegation', 'revoke', delegation, '--reason', 'no longer needed'];
    expect((await scene.talk(revoke, ALICE)).stdout).toBe('[OK] alice revoked the delegation to scout\n');
    expectError('DELEGATION_REVOKED', await submit(delegation));
    expectError('DELEGATION_REVOKED', await scene.run(...revoke));
    expectError('DELEGATION_UNKNOWN', await scene.run('delegation', 'revoke', UNKNOWN_ID, '--reason', 'x'));
    expect((await scene.run('delegation', 'list')).stdout).toMatch(
      new RegExp(`^${delegation.slice(0, 8)}\\S* +revoked `, 'm'),
    );
  });

  it('a key of nobody, of somebody else, or of a human submits nothing', async () => {
    const delegation = await delegated('--action', 'tool:*', '--ttl', '1h', '--approves');
    const intent = await scene.propose('fail');
    const stranger = join(folder, 'stranger.key');
    Keyturn.createAgentKey(stranger);
    const submit = (key: string) =>
      scene.run('submit', intent.id, '--delegation', delegation, '--agent-key', key);
    expectError('KEY_FILE_INVALID', await submit(stranger));
    expectError('DELEGATION_OUT_OF_SCOPE', await submit(join(folder, 'ranger.key')));
    expectError('KEY_FILE_INVALID', await submit(join(folder, '.keyturn', 'keys', 'alice.json')));
    expectError('USAGE', await scene.run('submit', intent.id));
    expectError(
      'ID_MALFORMED',
      await scene.run('submit', 'x', '--delegation', delegation, '--agent-key', 'k'),
    );
    expectError('USAGE', await scene.run('submit', intent.id, '--delegation', delegation));
  });

  it('is passed on, never wider, by the key of the delegate', async () => {
    const delegation = await delegated('--action', 'tool:greet', '--ttl', '1h');
    const on = (...words: string[]) => {
      const under = ['--delegation', delegation, '--agent-key', scene.scout];
      return scene.run('delegation', 'add', 'ranger', ...words, '--ttl', '30m', ...under, ...REASON);
    };
    expect((await on('--action', 'tool:greet')).stdout).toMatch(
      /^\[OK\] scout delegated tool:greet to ranger\n/,
    );
    expect((await scene.run('delegation', 'list')).stdout).toMatch(/ active +alice > scout +ranger /);
    expectError('DELEGATION_WIDENED', await on('--action', 'tool:*'));
    expectError('DELEGATION_WIDENED', await on('--action', 'tool:greet', '--approves'));
  });

  it('needs actions, a time, a reason, and somebody with a key', async () => {
    const add = (name: string, ...words: string[]) => scene.run('delegation', 'add', name, ...words);
    expectError('USAGE', await add('scout', '--ttl', '1h', ...REASON));
    expectError('USAGE', await add('scout', '--action', 'plan', ...REASON));
    expectError('USAGE', await add('scout', '--action', 'plan', '--ttl', '1h'));
    expectError('TIME_MALFORMED', await add('scout', '--action', 'plan', '--ttl', 'ever', ...REASON));
    expectError('CREDENTIAL_UNKNOWN', await add('bot', '--action', 'plan', '--ttl', '1h', ...REASON));
    expectError('PRINCIPAL_UNKNOWN', await add('nobody', '--action', 'plan', '--ttl', '1h', ...REASON));
    expectError('NO_TERMINAL', await add('scout', '--action', 'plan', '--ttl', '1h', ...REASON));
  });
});
