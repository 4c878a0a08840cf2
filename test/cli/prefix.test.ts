import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, makeScene, type Scene } from './grant-scene.ts';
import { answerOf, BOT_ACCOUNT, expectError, fileFolder, type Intent } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
  for (const [intent_id, goal] of Object.entries(TWINS)) await proposed(intent_id, goal);
});

const TWINS = {
  'abcdabcd-0000-4000-8000-000000000001': 'Water the plants.',
  'abcdabcd-0000-4000-8000-000000000002': 'Paint\u001b[2J the fence.',
};
const [FIRST = ''] = Object.keys(TWINS);

function proposed(intent_id: string, declared_goal: string): Promise<Intent> {
  return scene.inside(async (keyturn) => {
    const effect = { kind: 'tool' as const, tool: 'greet', arguments: { name: 'Ada' } };
    const { hash } = await keyturn.intents.propose({ intent_id, issuer: 'bot', declared_goal, effect });
    return { id: intent_id, hash };
  }, BOT_ACCOUNT);
}

const WHY = ['--reason', 'for a test'];

describe('the beginning of an id', () => {
  it('names an intent where it fits only one', async () => {
    const { id } = await scene.propose('fail');
    for (const length of [8, 9, 13, 35]) {
      const { stdout, code } = await scene.run('show', id.slice(0, length));
      expect({ code, found: stdout.includes(id) }).toEqual({ code: 0, found: true });
    }
    expect((await scene.run('ledger', 'prove', id.slice(0, 8))).code).toBe(0);
    expect((await scene.run('ledger', 'show', id.slice(0, 8))).stdout).toContain(id);
    const rejected = await scene.talk(['reject', id.slice(0, 8), ...WHY], ALICE);
    expect(rejected.stdout).toBe(`[OK] alice rejected ${id}. That is final\n`);
  });

  it('is refused where it fits two, and the candidates are listed with their goals, made harmless', async () => {
    const refused = await scene.run('show', 'abcd');
    expectError('ID_AMBIGUOUS', refused);
    for (const id of Object.keys(TWINS)) expect(refused.stderr).toContain(id);
    expect(refused.stderr).toContain('(Water the plants.)');
    expect(refused.stderr).toContain('(Paint\\x1b[2J the fence.)');
    expectError('ID_AMBIGUOUS', await scene.run('approve', FIRST.slice(0, -1)));
    expectError('ID_AMBIGUOUS', await scene.run('ledger', 'show', 'abcdabcd'));
    expect((await scene.run('show', FIRST)).code).toBe(0);
  });

  it('is refused where it fits none, is too short, or cannot begin an id', async () => {
    expectError('INTENT_NOT_FOUND', await scene.run('show', 'ffff0000'));
    for (const wrong of ['abc', 'ABCD', 'abcda-bcd', 'abcdabcd0', `${FIRST}0`, 'abc%', 'abc_'])
      expectError('ID_MALFORMED', await scene.run('show', wrong));
  });

  it('is no id for check and run, whose words 000 and 001 fix', async () => {
    const { hash } = await proposed('beadbead-0000-4000-8000-000000000001', 'Alone.');
    const check = await scene.run('check', 'beadbead', hash);
    expect(check).toMatchObject({ code: 1, stdout: '[ERROR] Invalid intent UUID\n' });
    expect((await scene.run('run', 'beadbead', hash)).stdout).toContain('[ERROR] Invalid intent UUID');
    expect((await scene.run('show', 'beadbead')).code).toBe(0);
  });

  it('names capabilities, executions and delegations, too', async () => {
    const given = ['delegation', 'add', 'scout', '--action', 'tool:greet', '--ttl', '1h', ...WHY, '--json'];
    const { result } = answerOf(await scene.talk(given, ALICE)) as never as Added;
    const short = result.delegation_id.slice(0, 8);
    const greet = await scene.propose('greet', { name: 'Ada' });
    const submit = ['submit', greet.id.slice(0, 8), '--delegation', short, '--agent-key', scene.scout];
    expect((await scene.run(...submit)).stdout).toContain(`[OK] scout submitted ${greet.id}\n`);
    expect((await scene.talk(['delegation', 'revoke', short, ...WHY], ALICE)).code).toBe(0);
    expectError('DELEGATION_UNKNOWN', await scene.run('delegation', 'revoke', 'ffffffff', ...WHY));

    const { capability } = await scene.granted('greet', { name: 'Ada' });
    const revoked = await scene.talk(['revoke', capability.slice(0, 8), ...WHY], ALICE);
    expect(revoked.stdout).toContain(`[OK] alice revoked ${capability}.`);
    expectError('CAPABILITY_UNKNOWN', await scene.run('revoke', 'ffffffff', ...WHY));

    const ran = await scene.granted('greet', { name: 'Ada' });
    const { execution_id } = await scene.inside(async (keyturn) => {
      const asked = { intent_id: ran.id, hash: ran.hash };
      const { seen } = await keyturn.runs.look(asked);
      return keyturn.runs.run({ ...asked, seen });
    });
    expect((await scene.run('replay', execution_id.slice(0, 8))).stdout).toContain('[OK] Replayed');
    expectError('EXECUTION_NOT_FOUND', await scene.run('replay', 'ffffffff'));
    const resolve = ['resolve', execution_id.slice(0, 8), '--outcome', 'happened', ...WHY];
    expectError('RESOLVE_NOT_DUE', await scene.run(...resolve));
  });

  it('names an intent that another one replaces', async () => {
    const words = ['propose', '--tool', 'fail', '--by', 'bot', '--replaces'];
    const answer = answerOf(await scene.run(...words, 'beadbead', '--json'));
    expect(answer).toMatchObject({ result: { replaces: 'beadbead-0000-4000-8000-000000000001' } });
    expectError('ID_AMBIGUOUS', await scene.run(...words, 'abcd'));
  });

  it('names a credential by the beginning of its public key', async () => {
    const { public_key } = scene.alice;
    const revoke = (which: string) => scene.run('credential', 'revoke', 'alice', which, ...WHY);
    expectError('LAST_HUMAN', await revoke(public_key.slice(0, 24)));
    expectError('CREDENTIAL_UNKNOWN', await revoke(public_key.slice(0, 3)));
    expectError('CREDENTIAL_UNKNOWN', await revoke('xxxxxxxx'));
  });
});

interface Added {
  readonly result: { readonly delegation_id: string };
}
