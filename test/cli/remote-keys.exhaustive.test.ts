import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { answerOf, expectError } from './project.ts';
import { answering, type Body, drafting, edited, farScene } from './remote-liar.ts';
import { SECRET } from './remote-scene.ts';

/** Keys that are made on a machine without the project, and acts about files of its host. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const { scene, refusing } = farScene();
const REASON = ['--reason', 'a test'];

describe('a new key, far from the project', () => {
  const fresh = (name: string): (readonly [string, string])[] => [
    [`New passphrase for ${name}: `, 'violet staple harbour nine'],
    ['The same again: ', 'violet staple harbour nine'],
  ];

  it('of a human is made here, in a file that only they can read', async () => {
    expectError('USAGE', await scene.far.run('identity', 'add', 'bob'));
    const words = ['identity', 'add', 'bob', '--role', 'ops', '--key-out', 'bob.json'];
    await refusing(
      [edited('enrol', '"roles":["ops"]', '"roles":["ops","root"]')],
      [...words.slice(0, -1), 'lied-bob.json'],
      SECRET,
      ...fresh('bob'),
    );
    const added = await scene.far.talk(words, SECRET, ...fresh('bob'));
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('bob is enrolled as a human')]);
    expect(statSync(join(scene.far.folder, 'bob.json')).mode & 0o777).toBe(0o600);
    expect(existsSync(join(scene.project.folder, '.keyturn', 'keys', 'bob.json'))).toBe(false);
    const own = await scene.project.inside(({ people }) => people.credentials({ name: 'bob' }));
    expect(own.credentials).toMatchObject([{ assurance: 'key_file', status: 'active', added_by: 'alice' }]);
    expect(readFileSync(join(scene.far.folder, 'bob.json'), 'utf8')).toContain(
      own.credentials[0]!.public_key,
    );
  });

  it('of an agent is made here, with or without a token', async () => {
    const words = ['identity', 'add', 'runner', '--agent', '--key-out', 'runner.key', '--token'];
    await refusing(
      [edited('enrol', /"public_key":"[^"]+"/, `"public_key":"${generateKeyPair().public_key}"`)],
      [...words.slice(0, 5), 'lied.key'],
      SECRET,
    );
    const added = await scene.far.talk(words, SECRET);
    expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/Token: +ktk1\./)]);
    expect(statSync(join(scene.far.folder, 'runner.key')).mode & 0o777).toBe(0o600);
  });

  it('is a further one of whoever acts, and signs from then on', async () => {
    const words = ['credential', 'add', '--label', 'laptop', '--key-out', 'second.json', ...REASON];
    const nowhere = words.map((one) => one.replace('second', 'no-folder/second'));
    expectError('WRITE_FAILED', await scene.far.run(...nowhere));
    const to = `"public_key":"${generateKeyPair().public_key}"`;
    await refusing(
      [edited('addCredential', /"public_key":"[^"]+"/, to)],
      words.map((one) => one.replace('second', 'third')),
      SECRET,
      ...fresh('alice'),
    );
    const added = await scene.far.talk(words, SECRET, ...fresh('alice'));
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('alice can sign with "laptop"')]);
    expect(added.stdout).toMatch(
      /^Key file: +second\.json\nNext: +keyturn login --as alice --key second\.json --service http:\S+$/m,
    );
    expectError(
      'HOST_ONLY',
      await scene.far.run('credential', 'add', '--passkey', '--label', 'p', ...REASON),
    );
  });
});

describe('policies, far from their files', () => {
  const NO_RIDDLES = [
    ...['@id("no-riddles")', '@version("1")', '@scope("capability")', '@rationale("Riddles are over.")'],
    'forbid (principal, action == Keyturn::Action::"grant", resource)',
    'when { resource.name == "riddle" };\n',
  ].join('\n');

  it('are activated as the difference on the screen says, and refused where the texts are others', async () => {
    writeFileSync(join(scene.project.folder, 'policies', 'riddles.cedar'), NO_RIDDLES);
    const words = ['policy', 'activate', ...REASON];
    const texts = (body: Body, change: (text: string) => string) => ({
      ...body.source,
      files: body.source.files.map((one: Body) => ({ ...one, text: change(one.text) })),
    });
    for (const lie of [
      answering('diff', (body) => ({ ...body, files: 'a'.repeat(64) })),
      answering('diff', (body) => ({
        ...body,
        source: texts(body, (one) => one.replace('riddle', 'greet')),
      })),
      answering('diff', (body) => ({ ...body, shown: { ...body.shown, blocks: [] } })),
    ])
      expectError('ACT_OTHER', await scene.liar.lying(lie, () => scene.far.run(...words)));
    const snapshot = /"snapshot":"[0-9a-f]+"/;
    await refusing([edited('activate', snapshot, `"snapshot":"${'a'.repeat(64)}"`)], words, SECRET);
    const { code, screen, stdout } = await scene.far.talk(words, SECRET);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\[OK\] alice activated \d+ policies/)]);
    expect(screen).toContain('+@id("no-riddles")');
    expect((await scene.project.inside(({ policies }) => policies.files())).same).toBe(true);
  });
});

describe('an erasure, far from the project', () => {
  it('is of what was explained and of nothing else', async () => {
    const { id } = await scene.project.propose('greet', { name: 'Secret' });
    await scene.far.talk(['reject', id, ...REASON], SECRET);
    const { effect_digest } = await scene.project.inside(({ intents }) => intents.get({ intent_id: id }));
    const look = await scene.far.run('object', 'erase', effect_digest, '--preview', '--json');
    const { holders } = answerOf(look).result as unknown as { holders: number };
    const words = ['object', 'erase', effect_digest.slice(0, 12), ...REASON];
    const turns = [
      ...(holders > 1 ? [[`to erase it for all ${holders}: `, String(holders)] as const] : []),
      [`Type ${effect_digest.slice(-8)} to erase it: `, effect_digest.slice(-8)] as const,
      SECRET,
    ];
    const other = await scene.project.propose('greet', { name: 'Kept' });
    const kept = (await scene.project.inside(({ intents }) => intents.get({ intent_id: other.id })))
      .effect_digest;
    await refusing(
      [
        answering('find', () => ({ id: kept })),
        answering('explainErase', (body) => ({ ...body, digest: kept })),
      ],
      words,
    );
    await refusing(
      [edited('erase', effect_digest, kept), drafting('erase', (all) => [...all, all[0]!])],
      words,
      ...turns,
    );
    const erased = await scene.far.talk(words, ...turns);
    expect([erased.code, erased.stdout]).toEqual([0, expect.stringContaining(`erased ${effect_digest}`)]);
  });
});
