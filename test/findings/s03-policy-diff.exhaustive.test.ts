import { beforeAll, describe, expect, it } from 'vitest';
import { ALICE, makeScene, type Scene } from '../cli/grant-scene.ts';
import { fileFolder, PASSPHRASE } from '../cli/project.ts';
import { inTerminal } from '../support/pty.ts';

const folder = fileFolder();
let scene: Scene;
beforeAll(async () => {
  scene = await makeScene(folder);
});

const GUARD = `
@id("no-reach")
@version("1")
@scope("capability")
@rationale("Nothing without a sandbox.")
forbid (principal, action == Keyturn::Action::"grant", resource)
when { resource.name == "reach" };
`;

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
