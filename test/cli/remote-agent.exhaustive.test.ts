import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { conversationIn, saying } from './agent-scene.ts';
import { expectError, typedCode } from './project.ts';
import { farScene } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** A conversation with the agent core of a service: the words of a human, each in a request that their key signed. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { scene } = farScene();

const simulation = (id: string, phrase: string, rest: object) => ({
  ...{ id, version: 1, family: 'notes', access_action: id, impactful: false },
  ...{ summary: { en: phrase }, phrases: { en: [phrase] } },
  ...rest,
});
const SIMULATIONS = [
  simulation('wave.show', 'wave at the visitors', {
    ...{ risk: 'LOW', side_effecting: false, irreversible: false },
    effect: { tool: 'greet', arguments: { name: 'visitors' } },
  }),
  simulation('archive.wipe', 'wipe the whole archive', {
    ...{ risk: 'HIGH', side_effecting: true, irreversible: true },
    effect: { tool: 'greet', arguments: { name: 'archive' } },
  }),
];

beforeAll(async () => {
  const { folder, alice: signer } = scene.project;
  mkdirSync(join(folder, 'simulations'), { recursive: true });
  for (const one of SIMULATIONS)
    writeFileSync(join(folder, 'simulations', `${one.id}.yaml`), JSON.stringify(one));
  await scene.project.inside(async ({ simulations }) => {
    for (const { id } of SIMULATIONS) await simulations.activate({ id, reason: 'a test', signer });
  });
});

describe('a user far from the project', () => {
  it('asks, and is shown what it came to', async () => {
    const asked = await scene.near.talk(['agent', 'ask', 'wave at the visitors'], SECRET);
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringContaining('Hello, visitors!')]);
    const { id } = conversationIn(asked);
    const { user_id } = await scene.project.inside(({ conversations }) =>
      conversations.status({ correlation_id: id }),
    );
    expect(user_id).toBe('alice');
  });

  it('says yes, and goes on once a human approved it', async () => {
    const asked = await scene.near.talk(['agent', 'ask', 'wipe the whole archive'], SECRET);
    expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining('(CONFIRM, ')]);
    const agreed = await scene.near.talk(saying(asked, 'yes'), SECRET);
    expect([agreed.code, agreed.stderr]).toEqual([0, expect.stringContaining('(AWAITS_APPROVER, ')]);
    const [, intent_id] =
      /keyturn approve (\S+) --service http\S+, then keyturn agent resume \S+ --service http/.exec(
        agreed.stderr,
      )!;
    const { hash } = await scene.project.inside(({ intents }) => intents.get({ intent_id: intent_id! }));
    await scene.near.talk(['approve', intent_id!], ['to approve it: ', typedCode(hash)], SECRET);
    const { id } = conversationIn(asked);
    const done = await scene.near.talk(['agent', 'resume', id], SECRET);
    expect([done.code, done.stdout]).toEqual([0, 'Done.\n']);
    const { status } = await scene.project.inside(({ intents }) => intents.get({ intent_id: intent_id! }));
    expect(status).toBe('succeeded');
  });

  it('says nothing that another address could pass on, speaks for nobody else, and not without the key', async () => {
    const words = ['agent', 'ask', 'wave at the visitors'];
    const passed = await scene.far.talk(words, SECRET);
    expect([passed.code, passed.stderr]).toEqual([1, expect.stringContaining('MESSAGE_SIGNATURE_INVALID')]);
    expectError('NO_TERMINAL', await scene.near.run(...words));
    const other = await scene.near.talk(
      [...words, '--user', 'bob'],
      ['Passphrase of bob: ', 'violet staple harbour nine'],
    );
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('KEY_FILE_INVALID')]);
  });
});
