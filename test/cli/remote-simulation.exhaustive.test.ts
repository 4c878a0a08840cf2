import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { expectError, UNKNOWN_ID } from './project.ts';
import { answering, drafting, edited, farScene } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** Simulations, changed by a human on a machine without their files. */

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const { scene, refusing } = farScene();
const REASON = ['--reason', 'a test'];
const ID = 'word.greet';

const write = (version: number) => {
  const file = join(scene.project.folder, 'simulations', `${ID}.yaml`);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: \d+$/m, `version: ${version}`));
};
const delegations = async () =>
  (await scene.project.inside(({ agents }) => agents.delegations())).delegations.map(
    ({ delegation_id, status }) => [delegation_id, status],
  );

describe('a simulation, far from its file', () => {
  it('is looked at, and registered as a draft', async () => {
    expect((await scene.project.run('simulation', 'new', 'greet', '--id', ID)).code).toBe(0);
    expect((await scene.far.run('simulation', 'check', ID)).stdout).toContain('can be registered');
    const [here, there] = [
      await scene.project.run('simulation', 'show', ID),
      await scene.far.run('simulation', 'show', ID),
    ];
    expect(there).toEqual(here);
    expectError('USAGE', await scene.far.run('simulation', 'show', `simulations/${ID}.yaml`));
    const made = await scene.far.run('simulation', 'new', 'greet', '--id', 'word.other');
    expect(made.stdout).toContain('bring it into simulations/ of the project on its host');
    const [text, theirs] = [
      join(scene.far.folder, 'word.other.yaml'),
      `${scene.project.folder}/simulations/${ID}.yaml`,
    ];
    expect(readFileSync(text, 'utf8')).toBe(readFileSync(theirs, 'utf8').replaceAll(ID, 'word.other'));
    expectError('FILE_EXISTS', await scene.far.run('simulation', 'new', 'greet', '--id', 'word.other'));
    // A lying service would choose the name of a file that another program of this account reads.
    const named = answering('scaffold', (body) => ({ ...body, id: 'keyturn', text: 'mcp: {}' }));
    for (const asked of [['greet'], ['greet', '--id', 'word.third']]) {
      const refused = scene.liar.lying(named, () => scene.far.run('simulation', 'new', ...asked));
      expectError('SERVICE_FOREIGN', await refused);
    }
    expect(readdirSync(scene.far.folder)).not.toContain('keyturn.yaml');
    const words = ['simulation', 'register', ID, ...REASON];
    const risk = answering('get', (body) => ({ ...body, definition: { ...body.definition, risk: 'HIGH' } }));
    expectError('ACT_OTHER', await scene.liar.lying(risk, () => scene.far.run(...words)));
    await refusing(
      [
        edited('register', '"status":"Draft"', '"status":"Active"'),
        edited('register', /"definition":"[0-9a-f]+"/, `"definition":"${'a'.repeat(64)}"`),
      ],
      words,
      SECRET,
    );
    const { code, stdout } = await scene.far.talk(words, SECRET);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`registered ${ID}, version 1, as a draft`)]);
  });

  it('is activated with what is drawn here of what it binds, and delegates that alone', async () => {
    const words = ['simulation', 'activate', ID, '--ttl', '1d', ...REASON];
    const bound = answering('bound', (body) => ({ ...body, digest: 'a'.repeat(64) }));
    expectError('ACT_OTHER', await scene.liar.lying(bound, () => scene.far.run(...words)));
    const effect = answering('bound', (body) => ({
      ...body,
      value: { ...body.value, effect: { ...body.value.effect, action: 'tool:fail' } },
    }));
    expectError('ACT_OTHER', await scene.liar.lying(effect, () => scene.far.run(...words)));
    const { public_key } = generateKeyPair();
    const late = '"expires_at":"2099-01-01T00:00:00.000Z"';
    await refusing(
      [
        edited('activate', '"actions":["tool:greet"', '"actions":["tool:*"'),
        edited('activate', /"bound":"[0-9a-f]+"/, `"bound":"${'a'.repeat(64)}"`),
        edited('activate', /"delegate_key":"[^"]+"/, `"delegate_key":"${public_key}"`),
        edited('activate', /"expires_at":"[^"]+"/, late),
        edited('activate', /"own_delegation":"[^"]+"/, `"own_delegation":"${UNKNOWN_ID}"`),
        edited('activate', '"subject":"agent-core"', '"subject":"eve"'),
        drafting('activate', (all) => [...all, all.at(-1)!]),
      ],
      words,
      SECRET,
    );
    expect(await delegations()).toEqual([]);
    const { code, screen } = await scene.far.talk(words, SECRET);
    expect([code, screen]).toEqual([0, expect.stringContaining('/usr/bin/printf')]);
    expect(await delegations()).toMatchObject([[expect.any(String), 'active']]);
  });

  it('is activated in a new version, which ends the delegation on the screen; then deprecated and disabled', async () => {
    write(2);
    const [[first]] = (await delegations()) as [[string]];
    const words = ['simulation', 'activate', ID, ...REASON];
    await refusing(
      [edited('activate', new RegExp(`"subject":"${first}"`), `"subject":"${UNKNOWN_ID}"`)],
      words,
      SECRET,
    );
    const again = await scene.far.talk(words, SECRET);
    expect([again.code, again.screen]).toEqual([0, expect.stringContaining(`the delegation ${first}`)]);
    expect(await delegations()).toMatchObject([
      [first, 'revoked'],
      [expect.any(String), 'active'],
    ]);
    for (const [word, status] of [
      ['deprecate', 'Deprecated'],
      ['disable', 'Disabled'],
    ] as const) {
      const change = ['simulation', word, ID, ...REASON];
      await refusing([edited(word, `"status":"${status}"`, '"status":"Active"')], change, SECRET);
      expect((await scene.far.talk(change, SECRET)).stdout).toContain(`${word}d ${ID}`);
    }
    expect((await delegations()).map(([, status]) => status)).toEqual(['revoked', 'revoked']);
  });
});
