import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import type { ReasonCode } from '../../src/refusal.ts';
import { sqlite } from '../store/sqlite-file.ts';
import { ALICE, makeScene, type Scene } from './grant-scene.ts';
import { ranPlan } from './plan-run.ts';
import {
  answerOf,
  BOT_ACCOUNT,
  expectError,
  fileFolder,
  type Intent,
  thrice,
  UNKNOWN_ID,
} from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
  for (const [intent_id, goal] of Object.entries(TWINS)) await proposed(intent_id, goal);
  await ranPlan(scene, ['a.txt', 'b.txt']);
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

  it('names a stored object, and the confirmation is not what was typed', async () => {
    const { hash } = await scene.propose('greet', { name: 'Secret' });
    const look = await scene.run('object', 'erase', hash.slice(0, 12), '--preview');
    expect(look.stdout).toContain(`Object ${hash}: an envelope, `);
    expectError('OBJECT_MISSING', await scene.run('object', 'erase', 'ffff00000000', ...WHY));
    for (const wrong of ['abc', 'ABCD', 'abcg', `${hash}0`])
      expectError('HASH_MALFORMED', await scene.run('object', 'erase', wrong, '--preview'));
    const words = ['object', 'erase', hash.slice(0, 8), ...WHY];
    const guessed = await scene.talk(words, ...thrice(' to erase it: ', hash.slice(0, 8)));
    expect(guessed.stderr).toContain('(CONFIRMATION_WRONG 3014)');
    const erased = await scene.talk(words, [' to erase it: ', hash.slice(-8)], ALICE);
    expect(erased.stdout).toBe(`[OK] alice erased ${hash}. The ledger keeps its digest\n`);
  });

  it('of an object is refused where it fits two, with the size of each', async () => {
    const { hash } = await scene.propose('greet', { name: 'Two' });
    const like = `${hash.slice(0, 6)}${'0'.repeat(58)}`;
    const file = await scene.inside(async ({ layout }) => layout.store);
    sqlite(file, (db) =>
      db.exec(
        `INSERT INTO object (tenant, digest, bytes) SELECT tenant, '${like}', x'00' FROM object LIMIT 1`,
      ),
    );
    const refused = await scene.run('object', 'erase', hash.slice(0, 6), '--preview');
    expectError('ID_AMBIGUOUS', refused);
    expect(refused.stderr).toContain(`${like} (1 byte)`);
    expect(refused.stderr).toMatch(new RegExp(`${hash} \\(\\d{3} bytes\\)`));
    sqlite(file, (db) => db.exec(`DELETE FROM object WHERE digest = '${like}'`));
  });

  it('names an intent in a file, too, and is refused where it fits two', async () => {
    const file = join(folder, 'ledger.jsonl');
    expect((await scene.run('ledger', 'export', '--out', file)).code).toBe(0);
    const told = await scene.run('ledger', 'show', FIRST.slice(0, -2), '--file', file);
    expectError('ID_AMBIGUOUS', told);
    for (const id of Object.keys(TWINS)) expect(told.stderr).toContain(id);
    const { id } = await proposed('feedfeed-0000-4000-8000-000000000001', 'Alone in a file.');
    expectError('INTENT_NOT_FOUND', await scene.run('ledger', 'show', id.slice(0, 8), '--file', file));
    const proof = join(folder, 'proof.json');
    expect((await scene.run('ledger', 'prove', id, '--out', proof)).code).toBe(0);
    const { key } = await scene.inside(({ ledger }) => ledger.head());
    const bundle = ['--bundle', proof, '--key', key];
    expect((await scene.run('ledger', 'show', 'feedfeed', ...bundle)).stdout).toContain(id);
    expectError('INTENT_NOT_FOUND', await scene.run('ledger', 'show', 'abcd', ...bundle));
    const newer = join(folder, 'newer.jsonl');
    await scene.run('ledger', 'export', '--out', newer);
    const one = await scene.run('ledger', 'show', 'feedfeed', '--file', newer);
    expect([one.code, one.stdout.includes(id)]).toEqual([0, true]);
  });

  it('names a token', async () => {
    const added = answerOf(await scene.talk(['token', 'add', 'bot', ...WHY, '--json'], ALICE)) as never as {
      result: { token_id: string };
    };
    const { token_id } = added.result;
    const revoked = await scene.talk(['token', 'revoke', 'bot', token_id.slice(0, 8), ...WHY], ALICE);
    expect(revoked.stdout).toBe(`[OK] The token ${token_id} of bot is revoked\n`);
  });

  it('names a credential by the beginning of its public key', async () => {
    const { public_key } = scene.alice;
    const revoke = (which: string) => scene.run('credential', 'revoke', 'alice', which, ...WHY);
    expectError('LAST_HUMAN', await revoke(public_key.slice(0, 24)));
    expectError('CREDENTIAL_UNKNOWN', await revoke(public_key.slice(0, 3)));
    expectError('CREDENTIAL_UNKNOWN', await revoke('xxxxxxxx'));
  });
});

/** Each place of a command that reads an id, and what a beginning that fits nothing is answered. `NONE` is such a beginning. */
const READS: Readonly<Record<string, readonly [code: ReasonCode, words: string]>> = {
  'show <id>': ['INTENT_NOT_FOUND', 'NONE'],
  'wait <id>': ['INTENT_NOT_FOUND', 'NONE'],
  'approve <id>': ['INTENT_NOT_FOUND', 'NONE'],
  'reject <id>': ['INTENT_NOT_FOUND', 'NONE --reason test'],
  'edit <id>': ['INTENT_NOT_FOUND', 'NONE --goal other'],
  'undo <id>': ['INTENT_NOT_FOUND', 'NONE --by bot'],
  'withdraw <id>': ['INTENT_NOT_FOUND', 'NONE --reason test'],
  'submit <id>': ['INTENT_NOT_FOUND', 'NONE --delegation DELEGATION --agent-key KEY'],
  'submit --delegation': ['DELEGATION_UNKNOWN', 'ID --delegation NONE --agent-key KEY'],
  'propose --replaces': ['INTENT_NOT_FOUND', '--tool fail --by bot --replaces NONE'],
  'grant <id>': ['INTENT_NOT_FOUND', 'NONE'],
  'grant --delegation': ['DELEGATION_UNKNOWN', 'ID --delegation NONE --agent-key KEY'],
  'revoke <capability-id>': ['CAPABILITY_UNKNOWN', 'NONE --reason test'],
  'break-glass <id>': ['INTENT_NOT_FOUND', 'NONE --reason test'],
  'turn [id]': ['INTENT_NOT_FOUND', 'NONE'],
  'runs --intent': ['INTENT_NOT_FOUND', '--intent NONE'],
  'capabilities --intent': ['INTENT_NOT_FOUND', '--intent NONE'],
  'retry <id>': ['INTENT_NOT_FOUND', 'NONE --reason test'],
  'stop [run]': ['EXECUTION_NOT_FOUND', 'NONE --reason test'],
  'resolve <execution>': ['EXECUTION_NOT_FOUND', 'NONE --outcome happened --reason test'],
  'plan report <execution>': ['EXECUTION_NOT_FOUND', 'NONE'],
  'rollback [run]': ['EXECUTION_NOT_FOUND', 'NONE --preview'],
  'rollback --checkpoint': ['CHECKPOINT_UNKNOWN', '--last --checkpoint NONE --preview'],
  'object erase <digest>': ['OBJECT_MISSING', 'NONE --preview'],
  'delegation add --delegation': [
    'DELEGATION_UNKNOWN',
    'scout --action tool:greet --ttl 1h --reason test --delegation NONE --agent-key KEY',
  ],
  'delegation revoke <delegation>': ['DELEGATION_UNKNOWN', 'NONE --reason test'],
  'token revoke <token>': ['CREDENTIAL_UNKNOWN', 'bot NONE --reason test'],
  'ledger show [id]': ['INTENT_NOT_FOUND', 'NONE'],
  'ledger prove <id>': ['INTENT_NOT_FOUND', 'NONE'],
  'replay <execution>': ['EXECUTION_NOT_FOUND', 'NONE'],
  'agent answer <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE words'],
  'agent confirm <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE yes --plan NONE'],
  'agent resume <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE'],
  'agent undo <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE'],
  'agent status <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE'],
  'agent replay <correlation>': ['AGENT_TRANSITION_ILLEGAL', 'NONE'],
  'credential revoke <credential>': ['CREDENTIAL_UNKNOWN', 'alice NONE --reason test'],
  'control revoke <key>': ['CONTROL_KEY_UNKNOWN', 'NONE --reason test'],
  'executor revoke <key>': ['EXECUTOR_UNKNOWN', 'NONE --reason test'],
};

/** What speaks of an id, a digest or a key, and is not asked here: why. */
const WHOLE: Readonly<Record<string, string>> = {
  'check <id>': 'fixed by 000 and 001',
  'check <hash>': 'fixed by 000 and 001',
  'run <id>': 'fixed by 000 and 001',
  'run <hash>': 'fixed by 000 and 001',
  'approve --hash': 'what was reviewed elsewhere, compared in full',
  'submit --hash': 'what was reviewed elsewhere, compared in full',
  'simulation register --digest': 'what was looked at, compared in full',
  'simulation activate --digest': 'what was looked at, compared in full',
  'agent ask --correlation':
    'shown in test/cli/agent.exhaustive.test.ts; what fits none is the name of a new one',
  'runs --executor': 'shown in test/cli/list-runs.test.ts',
  'credential add --key': 'shown in test/cli/passkey.exhaustive.test.ts',
  'executor add [key]': 'a key that is not known here yet',
  'attenuate --holder': 'a key of anybody, with no project',
  'grant --holder': 'a name, or a key that is not known here',
  'delegation add --delegate-key': 'what the service says is compared with it',
  'ledger show --key': 'the trust in a file rests on it',
  'ledger verify --key': 'the trust in a file rests on it',
  'store verify --key': 'the trust in a store rests on it',
};

/** What can stand for an id. */
const LIKE_AN_ID =
  /<(id|hash|digest|execution|run|key|credential|token|delegation|correlation|capability-id|checkpoint|fingerprint|public-key)>/;
const speaksOfId = (name: string, about: string) =>
  LIKE_AN_ID.test(name.replace('[', '<').replace(']', '>')) ||
  /its first|how that begins|public key/.test(about);

/** Names that a person chose, in the place of an id. */
const NAMES = new Set([
  'agent ask --thread',
  'agent ask --user',
  'agent answer --user',
  'agent answer --turn',
  'agent confirm --user',
  'agent confirm --plan',
  'agent confirm --step',
  'serve --oidc-client',
  'agent resume --user',
  'agent undo --user',
  'agent list --user',
  'simulation new --id',
]);

describe.concurrent('each place that reads an id', () => {
  const places = COMMANDS.flatMap(({ name, operands = [], options = [] }) => [
    ...operands.filter((one) => speaksOfId(one.name, one.about)).map((one) => `${name} ${one.name}`),
    ...options
      .filter((one) => speaksOfId(one.flags, one.about))
      .map((one) => `${name} ${one.flags.split(' ')[0]}`),
  ]);

  it('is asked here, or is known to take no beginning', () => {
    const unknown = places.filter((one) => !(one in READS) && !(one in WHOLE) && !NAMES.has(one));
    expect(unknown).toEqual([]);
    expect(
      [...Object.keys(READS), ...Object.keys(WHOLE), ...NAMES].filter((one) => !places.includes(one)),
    ).toEqual([]);
  });

  it.each(Object.entries(READS))('%s takes the beginning of one', async (place, [code, text]) => {
    const command = place.replace(/ \S+$/, '');
    const words = text
      .split(' ')
      .map(
        (word) => ({ NONE: 'ffff0000', KEY: scene.scout, ID: FIRST, DELEGATION: UNKNOWN_ID })[word] ?? word,
      );
    expectError(code, await scene.run(...command.split(' '), ...words));
  });
});

interface Added {
  readonly result: { readonly delegation_id: string };
}
