import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { expectError } from './project.ts';
import { answering, drafting, edited, farScene } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** Acts whose statement covers a digest: made again on a machine without the project, and refused where the service lies. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { scene, refusing } = farScene();
const REASON = ['--reason', 'a test'];

describe('an order with bounds, far from the project', () => {
  it('is given for what was asked, and refused where its digest covers anything else', async () => {
    const open = await scene.project.propose('greet', { name: 'Ada' });
    await scene.project.approve(open);
    const after = new Date(Date.now() - 60_000).toISOString();
    const asked = ['grant', open.id, '--condition', `not_before=${after}`];
    await refusing(
      [
        edited('grant', /"bounds":"[0-9a-f]+"/, `"bounds":"${'a'.repeat(64)}"`),
        edited('grant', /"bounds":"[0-9a-f]+"/, '"bounds":null'),
      ],
      asked,
      SECRET,
    );
    const granted = await scene.far.talk(asked, SECRET);
    expect([granted.code, granted.stdout]).toEqual([0, expect.stringContaining('Only if')]);
    expect(granted.stdout).toMatch(
      new RegExp(`^Next: +keyturn wait ${open.id} --service http://localhost:\\d+$`, 'm'),
    );
    const waited = await scene.project.inside(({ intents }) => intents.waitFor({ intent_id: open.id }));
    expect(waited.status).toBe('succeeded');
  });
});

describe('a grant of uses, far from the project', () => {
  it('is for the tools that the screen shows, and refused with others, more uses or other arguments', async () => {
    const { public_key } = generateKeyPair();
    await scene.project.inside(({ people }) =>
      people.enrol({ name: 'scout', principal: 'agent', public_key, signer: scene.project.alice }),
    );
    const schema = { type: 'object', properties: { name: { type: 'string', const: 'Ada' } } };
    writeFileSync(join(scene.far.folder, 'schema.json'), JSON.stringify(schema));
    const what = ['--action', 'tool:greet', '--ttl', '1h', '--approves', '--uses', '2'];
    const words = ['delegation', 'add', 'scout', ...what, '--schema', 'schema.json', ...REASON];
    const bounds = /"bounds":"[0-9a-f]+"/;
    await refusing(
      [
        edited('delegate', '"uses":2', '"uses":200'),
        edited('delegate', bounds, `"bounds":"${'a'.repeat(64)}"`),
        edited('delegate', /"grant":\{[^}]+\}/, '"grant":null'),
      ],
      words,
      SECRET,
    );
    const pinned = (pins: object[]) => answering('pins', () => ({ pins }));
    const other = pinned([{ action: 'tool:fail', pin: 'a'.repeat(64) }]);
    expectError('ACT_OTHER', await scene.liar.lying(other, () => scene.far.run(...words)));
    const same = pinned([{ action: 'tool:greet', pin: 'a'.repeat(64) }]);
    expectError('ACT_OTHER', await scene.liar.lying(same, () => scene.far.run(...words)));
    const added = await scene.far.talk(words, SECRET);
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('delegated tool:greet to scout')]);
    expect(added.screen).toMatch(/Tool: +tool:greet [0-9a-f]{64}/);
    const { delegations } = await scene.project.inside(({ agents }) => agents.delegations());
    expect(delegations.at(-1)).toMatchObject({ delegate: 'scout', grant: { uses: 2 } });
  });
});

describe('an edit, far from the project', () => {
  it('ends what was shown, for a proposal of the same hand', async () => {
    const first = await scene.project.propose('greet', { name: 'Ada' });
    const other = await scene.project.propose('greet', { name: 'Bo' });
    const words = ['edit', first.id, '--arg', 'name=Cleo'];
    const second = (change: (text: string) => string) =>
      drafting('edit', ([proposal, act]) => [proposal!, change(act!)]);
    await refusing(
      [
        second((text) => text.replaceAll(first.hash, other.hash)),
        second((text) => text.replaceAll(first.id, other.id)),
        second((text) =>
          text.replace(/"replacement_hash":"[0-9a-f]+"/, `"replacement_hash":"${other.hash}"`),
        ),
        drafting('edit', ([proposal]) => [proposal!]),
      ],
      words,
      SECRET,
    );
    const done = await scene.far.talk(words, SECRET);
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`replaced ${first.id}`)]);
    const { status } = await scene.project.inside(({ intents }) => intents.get({ intent_id: first.id }));
    expect(status).toBe('replaced');
  });
});
