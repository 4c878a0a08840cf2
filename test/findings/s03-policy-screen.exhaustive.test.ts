import { beforeAll, describe, expect, it } from 'vitest';
import { makeScene, type Scene } from '../cli/grant-scene.ts';
import { fileFolder, PASSPHRASE, thrice } from '../cli/project.ts';

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
    await keyturn.policies.activate({
      reason: 'as it is',
      signer: await keyturn.unlock('alice', PASSPHRASE),
    });
  });

const diff = async () =>
  (await scene.run('policy', 'diff')).stdout.replace(/\n *↪ /g, '').replace(/\n *│ /g, '\n');

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
      ...thrice('Passphrase of alice: ', 'wrong'),
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
});
