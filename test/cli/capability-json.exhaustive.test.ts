import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { AUTHORITY } from '../../src/cli/commands/authority.ts';
import { ALICE, ALL, BOB, makeScene, type Scene, TURN, type Turn, typing, YES } from './grant-scene.ts';
import { answerOf, fileFolder } from './project.ts';

/** What each command about authority says with --json, checked against schemas/cli.json. */

const folder = fileFolder();
const answered = new Set<string>();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

async function ok(words: readonly string[], ...turns: Turn[]): Promise<Record<string, never>> {
  const all = [...words, '--json'];
  const finished = await (turns.length === 0 ? scene.run(...all) : scene.talk(all, ...turns));
  expect(finished.stderr).toBe('');
  const answer = answerOf(finished) as never as Record<'command' | 'result' | 'here', never>;
  expect(answer).toMatchObject({
    ok: true,
    command: words.slice(0, String(answer.command).split(' ').length).join(' '),
  });
  answered.add(answer.command);
  return { ...(answer.result as object), here: answer.here };
}

const why = ['--reason', 'for a test'];

describe('--json of the commands about authority', () => {
  it('people and what is delegated to them', async () => {
    const key = join(folder, 'ranger.key');
    const added = await ok(['identity', 'add', 'ranger', '--agent', '--key-out', key, '--role', 'x'], ALICE);
    expect(added).toMatchObject({ kind: 'agent', roles: ['x'], here: { key_file: key, token: null } });
    expect(await ok(['identity', 'assign', 'ranger', '--role', 'y', ...why], ALICE)).toMatchObject({
      roles: ['y'],
    });
    await ok(['identity', 'list']);
    const give = ['delegation', 'add', 'scout', '--action', 'tool:*', '--ttl', '1h', '--approves', ...why];
    const { delegation_id = '' } = await ok(give, ALICE);
    const intent = await scene.propose('greet', { name: 'Ada' });
    const under = ['--delegation', delegation_id, '--agent-key', scene.scout];
    expect(await ok(['submit', intent.id, ...under])).toMatchObject({ by: 'scout', approver: 'alice' });
    expect(await ok(['grant', intent.id, ...under])).toMatchObject({
      by: 'scout',
      delegation: delegation_id,
    });
    await ok(['delegation', 'list']);
    const token = await ok(['token', 'add', 'ranger', ...why], ALICE);
    expect(token).toMatchObject({ name: 'ranger', here: { token: expect.stringMatching(/^ktk1/) } });
    await ok(['delegation', 'revoke', delegation_id, ...why], ALICE);
  });

  it('capabilities: granted, made narrower, taken back, used', async () => {
    const intent = await scene.approved('mark', { file: 'out/a/json' });
    const file = join(folder, 'json.jws');
    const words = ['--condition', 'hours=0-24', '--condition', `file=nothing:none`, '--holder', 'scout'];
    const granted = await ok(['grant', intent.id, ...words, '--out', file], ALICE);
    expect(granted).toMatchObject({
      action: 'tool:mark',
      scope: { write: [join(folder, 'out/a'), join(folder, 'out/b')] },
      conditions: { hours: { from: 0, to: 24 }, files: { nothing: null } },
      token: null,
      here: { file },
    });
    const narrow = join(folder, 'narrow.jws');
    const less = ['--scope', `write=${folder}/out/a`, '--out', narrow];
    const made = await ok(['attenuate', '--capability', file, '--holder-key', scene.scout, ...less]);
    expect(made).toMatchObject({ depth: 1, capability_id: granted.capability_id });
    const present = ['--capability', narrow, '--holder-key', scene.scout];
    const dry = await ok(['run', intent.id, intent.hash, '--dry-run', ...present]);
    expect(dry).toMatchObject({
      capability: { capability_id: granted.capability_id },
      effect: { kind: 'tool' },
    });
    const ran = await ok(['run', intent.id, intent.hash, ...present], YES);
    expect(ran).toMatchObject({ result: 'success', capability_id: granted.capability_id });
    await ok(['replay', String(ran.execution_id)]);
    await ok(['show', intent.id]);
    const other = await scene.granted('greet', { name: 'Ada' });
    expect(await ok(['revoke', other.capability, ...why], ALICE)).toMatchObject({ intent_id: other.id });
  });

  it('a turn: what was turned, and how it ran', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    expect(await ok(['turn', intent.id], TURN, ALICE)).toMatchObject({
      by: 'alice',
      turned: { action: 'tool:greet', approved_until: expect.any(String) },
      run: { result: 'success', stdout: 'Hello, Ada!\n' },
    });
  });

  it('rules and keys', async () => {
    await ok(['policy', 'check']);
    await ok(['policy', 'test']);
    await ok(['policy', 'diff']);
    await ok(['policy', 'activate', ...why]);
    const permit =
      '@id("break_glass")\n@version("1")\n@scope("emergency")\n@rationale("For emergencies.")\n' +
      'permit (principal is Keyturn::Human, action == Keyturn::Action::"break_glass", resource);\n';
    scene.writePolicy('break_glass.cedar', permit);
    scene.writePolicy('tests.yaml', '[]\n');
    expect(await ok(['policy', 'diff'])).toMatchObject({ added: ['break_glass'] });
    expect(await ok(['policy', 'activate', ...why], ALL, ALICE)).toMatchObject({ by: 'alice' });
    const first = await ok(['control', 'rotate', ...why], ALICE);
    await ok(['control', 'rotate', ...why], ALICE);
    expect(await ok(['control', 'list'])).toMatchObject({ control_keys: [{}, {}, { replaced_at: null }] });
    expect(await ok(['control', 'revoke', first.public_key as never, ...why], ALICE)).toMatchObject({
      keys: 1,
    });
    const { public_key } = generateKeyPair();
    await ok(['executor', 'add', public_key, '--name', 'second', ...why], ALICE);
    expect(await ok(['executor', 'list'])).toMatchObject({ executors: [{}, { name: 'second', public_key }] });
    await ok(['executor', 'revoke', public_key, ...why], ALICE);
  });

  it('freezes and the break_glass, and now every command about authority has answered', async () => {
    const intent = await scene.propose('greet', { name: 'Ada' });
    await ok(['approve', intent.id], typing(intent), ALICE);
    await scene.enrolBob();
    const as = (name: string) => [...why, '--as', name];
    expect(await ok(['freeze', ...as('alice')], ALICE)).toMatchObject({ scope: 'system', name: '' });
    expect(await ok(['status'])).toMatchObject({
      frozen: [{ scope: 'system', by: 'alice', reason: 'for a test' }],
      ungranted: expect.arrayContaining([
        expect.objectContaining({ intent_id: intent.id, hash: intent.hash, tool: 'greet', code: 'FROZEN' }),
      ]),
    });
    const first = await ok(['break-glass', intent.id, ...as('alice')], ALICE);
    expect(first).toMatchObject({ humans: ['alice'], broken: false });
    const second = await ok(['break-glass', intent.id, ...as('bob')], BOB);
    expect(second).toMatchObject({ humans: ['alice', 'bob'], broken: true });
    expect(await ok(['grant', intent.id, '--as', 'bob'], BOB)).toMatchObject({ break_glass: true });
    expect(await ok(['unfreeze', ...as('bob')], BOB)).toMatchObject({ by: 'bob' });
    expect(AUTHORITY.map(({ name }) => name).filter((name) => !answered.has(name))).toEqual([]);
  });
});
