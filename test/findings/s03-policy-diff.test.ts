import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, makeScene, type Scene } from '../cli/grant-scene.ts';
import { fileFolder, PASSPHRASE } from '../cli/project.ts';
import { inTerminal } from '../support/pty.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const RELEASE = 'release:\n  any: 2\n  of: [alice, bob, carol]\n';
const GUARD = `
@id("no-reach")
@version("1")
@scope("capability")
@rationale("Nothing without a sandbox.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { resource.name == "reach" };
`;
const ROW =
  '- name: reach is guarded\n  action: grant\n  principal: { kind: human, name: ada }\n' +
  '  resource: { name: reach }\n  expect: deny\n  by: no-reach\n';

/** Activates by the library what the files say now. */
const activate = () =>
  scene.inside(async (keyturn) => {
    await keyturn.activatePolicies({ reason: 'as it is', signer: keyturn.unlock('alice', PASSPHRASE) });
  });

const diff = async () => (await scene.run('policy', 'diff')).stdout.replace(/\n *│ /g, '\n');

describe('S3: whoever activates policies sees what changes in them', () => {
  it('a gutted policy, a lowered quorum and a removed test row are on the screen before the passphrase', async () => {
    const tests = scene.policy('tests.yaml');
    const quorums = scene.policy('quorums.yaml');
    scene.writePolicy('quorums.yaml', quorums + RELEASE);
    scene.writePolicy('guard.cedar', GUARD);
    scene.writePolicy('tests.yaml', tests + ROW);
    await activate();
    scene.writePolicy('quorums.yaml', quorums + RELEASE.replace('any: 2', 'any: 1'));
    scene.writePolicy('guard.cedar', GUARD.replace('resource.name == "reach"', 'resource.name == "nothing"'));
    scene.writePolicy('tests.yaml', tests);

    const shown = await diff();
    expect(shown).toMatch(/^!!! QUORUM LOWERED: release, .*2.*1.* !!!$/m);
    expect(shown).toMatch(/^!!! TEST REMOVED: "?reach is guarded"? !!!$/m);
    expect(shown).toMatch(/^-when \{ resource\.name == "reach" \};$/m);
    expect(shown).toMatch(/^\+when \{ resource\.name == "nothing" \};$/m);
    expect(shown).toMatch(/^- {2}any: 2$/m);
    expect(shown).toMatch(/^-- name: reach is guarded$/m);

    const asked = await scene.talk(
      ['policy', 'activate', '--reason', 'x'],
      ['Passphrase of alice: ', 'wrong'],
    );
    const [before] = asked.screen.split('Passphrase of alice');
    expect(before).toContain('QUORUM LOWERED');
    expect(before).toContain('TEST REMOVED');
    expect(before).toContain('-when { resource.name == "reach" };');
    const json = JSON.parse((await scene.run('policy', 'diff', '--json')).stdout);
    expect(JSON.stringify(json.result)).toContain('QUORUM LOWERED');
    await activate();
    expect(await diff()).toContain('are the active policies');
  });

  it('the second of two humans who activate at once is refused', async () => {
    const comment = '// one\n';
    scene.writePolicy('guard.cedar', GUARD + comment);
    const session = inTerminal(['policy', 'activate', '--reason', 'mine'], { cwd: folder });
    await session.expect(ALICE[0]);
    // Another human activates other files meanwhile, and puts back those that are on this screen.
    scene.writePolicy('guard.cedar', `${GUARD}// two\n`);
    await activate();
    scene.writePolicy('guard.cedar', GUARD + comment);
    session.type(ALICE[1]);
    expect(await session.exited).toBe(1);
    expect(session.text).toContain('POLICY_REPLACED');
    await activate();
  });

  it('a diff of 10,000 lines is shown whole, its counts first, and is the same each time', async () => {
    const rows = Array.from({ length: 10_000 }, (_, i) => `// ${i}\n`).join('');
    scene.writePolicy('guard.cedar', GUARD + rows);
    const first = await diff();
    expect(first.split('\n')[0]).toMatch(/10000 lines? added/);
    expect(first).toMatch(/^\+\/\/ 0$/m);
    expect(first).toMatch(/^\+\/\/ 9999$/m);
    expect(await diff()).toBe(first);
    const session = inTerminal(['policy', 'activate', '--reason', 'long'], { cwd: folder });
    await session.expect('q: stop -- ');
    expect(session.text).not.toContain('// 9999');
    session.type('a');
    await session.expect('// 9999');
    await session.expect(ALICE[0]);
    session.kill();
    await session.exited;
    scene.writePolicy('guard.cedar', GUARD);
    await activate();
  });
});
