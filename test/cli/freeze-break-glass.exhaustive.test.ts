import { beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../support/refusal.ts';
import { ALICE, BOB, makeScene, type Scene, YES } from './grant-scene.ts';
import { expectError, fileFolder, type Intent, thrice } from './project.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

describe('break-glass', () => {
  const PERMIT = `
@id("two-break-the-glass")
@version("1")
@scope("emergency")
@rationale("Two people together may run something although it is frozen.")
permit (principal is Keyturn::Human, action == Keyturn::Action::"break_glass", resource);
`;
  const words = ({ id }: Intent, name: string) => [
    ...['break-glass', id, '--reason', 'the site is down', '--as', name],
  ];
  let intent: Intent;
  beforeAll(async () => {
    await scene.enrolBob();
    intent = await scene.approved('greet', { name: 'Ada' });
    await scene.talk(['freeze', '--reason', 'incident 13', '--as', 'alice'], ALICE);
  });

  it('is forbidden unless a policy permits it: nothing is asked then, and a denial of what was signed is recorded', async () => {
    // There is no terminal to ask at: it is refused before that.
    expectError('BREAK_GLASS_FORBIDDEN', await scene.run(...words(intent, 'alice')));
    const { id: intent_id, hash } = intent;
    const act = { intent_id, hash, reason: 'x', signer: scene.alice };
    await expectRefusal('BREAK_GLASS_FORBIDDEN', () =>
      scene.inside((keyturn) => keyturn.runs.breakGlass(act)),
    );
    expect((await scene.storyOf(intent)).at(-1)).toMatchObject({
      kind: 'capability.denied',
      body: { reason_code: 'BREAK_GLASS_FORBIDDEN' },
    });
  });

  it('a set that permits it must say so in its own table, too', async () => {
    scene.writePolicy('break_glass.cedar', PERMIT);
    const activate = ['policy', 'activate', '--reason', 'for emergencies', '--as', 'alice'];
    // The starter table expects that break-glass is denied to every human: a change of the policies needs a change of the table.
    expectError('POLICY_TEST_FAILED', await scene.run(...activate));
    scene.writePolicy('tests.yaml', scene.policy('tests.yaml').split('- name: break-glass is denied')[0]!);
    expect((await scene.talk(activate, ALICE)).code).toBe(0);
  });

  it('one human is shouted at, and is not enough, not even twice', async () => {
    expectError('PASSPHRASE_WRONG', await scene.talk(words(intent, 'alice'), ...thrice(ALICE[0], 'wrong')));
    expectError('NO_TERMINAL', await scene.run(...words(intent, 'alice')));
    expectError('USAGE', await scene.run('break-glass', intent.id));
    const first = await scene.talk(words(intent, 'alice'), ALICE);
    expect(first.code).toBe(0);
    const banner = /^!{72}\n!!! {2}BREAK-GLASS\n!!! {2}.*\n!!! {2}.*\n!{72}$/m;
    expect(first.screen).toMatch(banner);
    expect(first.screen).not.toContain('say no');
    expect(first.screen).toContain(`!!!  alice for ${intent.id}: the site is down\n`);
    expect(first.stderr).toMatch(banner);
    expect(first.stdout).toBe(
      `[OK] alice used break-glass for ${intent.id}\n` +
        'Next: a second human has to do the same: keyturn break-glass\n',
    );
    expectError('FROZEN', await scene.run('grant', intent.id, '--as', 'alice'));
    // The same human twice is one human.
    expect((await scene.talk(words(intent, 'alice'), ALICE)).code).toBe(0);
    expectError('FROZEN', await scene.run('grant', intent.id, '--as', 'alice'));
  });

  it('two humans go past the freeze, for this intent and one run, and it shouts all the way', async () => {
    const second = await scene.talk(words(intent, 'bob'), BOB);
    expect(second.stdout).toContain(`Next: keyturn grant ${intent.id}\n`);
    expect(second.stderr).toContain(`!!!  alice and bob for ${intent.id}\n`);
    const granted = await scene.talk(['grant', intent.id, '--as', 'bob'], BOB);
    expect(granted.code).toBe(0);
    const loud = '!!! BREAK-GLASS: this runs although it is frozen or a policy forbids it !!!\n';
    expect(granted.screen).toContain(loud);
    expect(granted.stdout.startsWith(loud)).toBe(true);
    const run = await scene.talk(['run', intent.id, intent.hash], YES);
    expect(run.code).toBe(0);
    expect(run.screen).toContain(loud);
    expect((await scene.run('show', intent.id)).stdout).toMatch(
      /!!! bob USED BREAK-GLASS for attempt 1: the site is down$/m,
    );
    // Only for this intent: everything else stays frozen.
    const other = await scene.approved('greet', { name: 'Eve' });
    expectError('FROZEN', await scene.run('grant', other.id, '--as', 'alice'));
  });
});
