import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateKeyPair } from '../../src/canonical/ed25519.ts';
import { Keyturn } from '../../src/keyturn.ts';
import { signatureOf } from '../serve/signed.ts';
import { answerOf, expectError, fileFolder, makeProject, type Project, UNKNOWN_ID } from './project.ts';
import { answering, type Body, drafting, type Liar, type Lie, liarBefore } from './remote-liar.ts';
import { ended, type Laptop, laptop, type Served, served } from './remote-scene.ts';

/** Delegates on a machine without the project, each with a key file there, against a real service in a process of its own. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const folder = fileFolder();
const KEY = ['--agent-key', 'agent.key'];
const REASON = ['--reason', 'a test'];
let project: Project;
let service: Served;
let scout: Laptop;
let probe: Laptop;
let liar: Liar;
/** Scout, whose service lies. */
let far: Laptop;
let delegation: string;
/** The key of probe, which scout was told by another way than the service. */
let probe_key: string;

beforeAll(async () => {
  for (const name of ['host', 'scout', 'probe']) mkdirSync(join(folder, name));
  project = await makeProject(join(folder, 'host'));
  service = await served(project);
  const { origin } = await project.inside(({ system }) => system.get());
  scout = await machineOf('scout');
  probe = await machineOf('probe');
  delegation = await delegatedTo('scout');
  const key = Keyturn.agentSigner('scout', join(scout.folder, 'agent.key'));
  const { address } = service;
  liar = await liarBefore(
    () => address,
    (asked) => signatureOf({ address, keyturn: { host: { origin } } } as never, key, asked),
  );
  far = liar.laptopOf(project, scout);
});
afterAll(async () => {
  await project.inside(({ ledger }) => ledger.verify({ deep: true }));
  liar.close();
  await ended(service);
});

/** Its key is made there; a human enrols the public half. */
async function machineOf(name: string): Promise<Laptop> {
  const there = laptop(project, join(folder, name), () => service.address);
  const { public_key } = Keyturn.createAgentKey(join(there.folder, 'agent.key'));
  if (name === 'probe') probe_key = public_key;
  await project.inside(({ people }) =>
    people.enrol({ name, principal: 'agent', public_key, signer: project.alice }),
  );
  expect((await there.run('login', '--as', name, ...KEY)).code).toBe(0);
  return there;
}

const delegatedTo = async (delegate: string, approves = true) =>
  project.inside(async ({ agents }) => {
    const asked = { delegate, actions: ['tool:greet'], approves, ttl_s: 3600, reason: 'a test' };
    return (await agents.delegate({ ...asked, signer: project.alice })).delegation_id;
  });

async function proposed(by: Laptop, name: string, to: string): Promise<{ id: string; hash: string }> {
  const words = ['propose', '--tool', 'greet', '--arg', `name=${to}`, '--by', name, ...KEY, '--json'];
  const { result } = answerOf(await by.run(...words)) as never as {
    result: { intent_id: string; hash: string };
  };
  return { id: result.intent_id, hash: result.hash };
}

const submitting = (id: string, hash: string, under = delegation) => [
  ...['submit', id, '--hash', hash],
  ...['--delegation', under, ...KEY],
];
const stateOf = (id: string) => project.inside(({ intents }) => intents.get({ intent_id: id }));

describe('a delegate far from the project', () => {
  it('looks at what it would submit, and submits what it looked at', async () => {
    const { id } = await proposed(scout, 'scout', 'Ada');
    const size = await project.size();
    const looked = await scout.run('submit', id, '--delegation', delegation, ...KEY, '--preview');
    expect([looked.code, looked.stdout]).toEqual([0, expect.stringContaining('name = Ada\n')]);
    const [, hash] = /--hash ([0-9a-f]{64}) /.exec(looked.stdout)!;
    expect(await project.size()).toBe(size);
    const told = await scout.run(...submitting(id, hash!));
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining(`[OK] scout submitted ${id}\n`)]);
    expect(told.stdout).toContain(`keyturn grant ${id} --service ${service.address}`);
    expect(await stateOf(id)).toMatchObject({ status: 'approved', approvals: [{ by: 'alice' }] });
  });

  it('leaves the approval to a human where its delegation does not stand for one', async () => {
    const under = await delegatedTo('scout', false);
    const { id, hash } = await proposed(scout, 'scout', 'Bea');
    const told = await scout.run(...submitting(id, hash, under));
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining('a human has to approve it')]);
    expect(await stateOf(id)).toMatchObject({ status: 'proposed', approvals: [] });
    const withdrawn = await scout.run('withdraw', id, ...KEY, ...REASON);
    expect(withdrawn.stdout).toContain(`[OK] scout withdrew ${id}`);
  });

  it('signs nothing that it did not name, that is not its own, or that was not delegated to it', async () => {
    const { id, hash } = await proposed(scout, 'scout', 'Cleo');
    const others = await proposed(probe, 'probe', 'Dora');
    const size = await project.size();
    expectError('USAGE', await scout.run('submit', id, '--delegation', delegation, ...KEY));
    expectError('HASH_MISMATCH', await scout.run(...submitting(id, others.hash)));
    expectError('INTENT_NOT_FOUND', await scout.run(...submitting(others.id, others.hash)));
    expectError('DELEGATION_UNKNOWN', await scout.run(...submitting(id, hash, UNKNOWN_ID)));
    expectError('DELEGATION_UNKNOWN', await probe.run(...submitting(others.id, others.hash)));
    Keyturn.createAgentKey(join(scout.folder, 'other.key'));
    const other_key = submitting(id, hash).map((one) => (one === 'agent.key' ? 'other.key' : one));
    expect((await scout.run(...other_key)).code).not.toBe(0);
    expect(await project.size()).toBe(size);
  });

  it('passes on what it was given to the key that it names, with which another one submits', async () => {
    const words = ['delegation', 'add', 'probe', '--action', 'tool:greet', '--ttl', '10m', '--approves'];
    const under = ['--delegation', delegation, ...KEY, ...REASON];
    expectError('USAGE', await scout.run(...words, ...under));
    const { public_key: other } = generateKeyPair();
    expectError('KEY_FILE_INVALID', await scout.run(...words, ...under, '--delegate-key', other));
    const wider = words.map((one) => (one === 'tool:greet' ? 'tool:*' : one));
    expectError('DELEGATION_WIDENED', await scout.run(...wider, ...under, '--delegate-key', probe_key));
    const added = await scout.run(...words, ...under, '--delegate-key', probe_key);
    expect([added.code, added.stdout]).toEqual([
      0,
      expect.stringContaining('[OK] scout delegated tool:greet to probe'),
    ]);
    const [, passed] = /^Delegation: +(\S+)$/m.exec(added.stdout)!;
    const { id, hash } = await proposed(probe, 'probe', 'Emma');
    expect((await probe.run(...submitting(id, hash, passed!))).code).toBe(0);
    expect(await stateOf(id)).toMatchObject({ status: 'approved', approvals: [{ by: 'alice' }] });
  });
});

describe('a service that lies to a delegate', () => {
  /** Changes what is to be signed. A delegate is given one draft: there is no passphrase to be asked for after a look. */
  const drafted = (verb: string, from: string | RegExp, to: string): Lie =>
    drafting(
      verb,
      (all) => all.map((one) => one.replace(from, to)),
      () => true,
    );

  it('gets no signature on another effect, delegation, approver or end', async () => {
    const { id, hash } = await proposed(scout, 'scout', 'Fay');
    const other = await proposed(scout, 'scout', 'Gina');
    const size = await project.size();
    const state = await stateOf(other.id);
    const seen = (change: (body: Body) => Body) => answering('previewSubmit', change);
    for (const lie of [
      drafted('submit', hash, other.hash),
      drafted('submit', (await stateOf(id)).effect_digest, state.effect_digest),
      drafted('submit', delegation, UNKNOWN_ID),
      drafted('submit', id, other.id),
      drafted('submit', /"approver":\{[^}]*\}/, '"approver":null'),
      drafted('submit', /"expires_at":"2/, '"expires_at":"3'),
      drafted('submit', 'intent.delegated', 'approval.granted'),
      seen((body) => ({ ...body, effect: { ...body.effect, argv: ['/bin/rm'] } })),
      seen((body) => ({ ...body, envelope: { ...body.envelope, declared_goal: 'Something else.' } })),
      seen((body) => ({ ...body, approver: null })),
    ])
      expectError('ACT_OTHER', await liar.lying(lie, () => far.run(...submitting(id, hash))));
    // All of another proposal, in which everything fits together.
    const { envelope, effect, intent } = await project.inside(({ intents }) =>
      intents.previewSubmit({ intent_id: other.id, delegation }),
    );
    const swapped = seen((body) => ({ ...body, envelope, effect, intent }));
    expectError('HASH_MISMATCH', await liar.lying(swapped, () => far.run(...submitting(id, hash))));
    expect(await project.size()).toBe(size);
  });

  it('gets no delegation for another key, for more, or for longer', async () => {
    const { public_key: other } = generateKeyPair();
    const words = ['delegation', 'add', 'probe', '--action', 'tool:greet', '--ttl', '10m', ...REASON];
    const under = ['--delegation', delegation, ...KEY, '--delegate-key', probe_key];
    const size = await project.size();
    for (const lie of [
      drafted('delegate', probe_key, other),
      drafted('delegate', '"tool:greet"', '"tool:*"'),
      drafted('delegate', '"approves":false', '"approves":true'),
      drafted('delegate', '"delegate":"probe"', '"delegate":"bot"'),
      drafted('delegate', /"expires_at":"2/, '"expires_at":"3'),
      drafted('delegate', delegation, UNKNOWN_ID),
    ])
      expectError('ACT_OTHER', await liar.lying(lie, () => far.run(...words, ...under)));
    expect(await project.size()).toBe(size);
    expect((await far.run(...words, ...under)).code).toBe(0);
  });
});
