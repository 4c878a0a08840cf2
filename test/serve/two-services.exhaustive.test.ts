import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/event/event.ts';
import type { Executed } from '../../src/keyturn.ts';
import { anotherHost, type Shared, shared } from '../journey/postgres-host.ts';
import { postgres } from '../store/postgres-place.ts';
import { freshSigner } from '../support/keys.ts';
import { entriesAbout } from '../support/ledger.ts';
import { until } from '../support/processes.ts';
import { callRaw, serving } from './service.ts';
import { signatureOf } from './signed.ts';

const server = postgres();

const HOST = 'keys.example.org';

it('a signed request is taken once by all services of one address', async () => {
  const p = await shared(server(), 'two-services');
  const other = await anotherHost(p);
  const scout = freshSigner('scout');
  const { public_key } = scout;
  await p.keyturn.people.enrol({ name: 'scout', principal: 'agent', public_key, signer: p.ada });
  const over = { public_url: `https://${HOST}` };
  // On one host two of them, and one on another.
  const services = [await serving(p, over), await serving(p, over), await serving(other, over)];
  const asked = { ...p, ...services[0]!, token: '', token_id: '' };
  const near = services.map(({ port }) => ({ address: `http://127.0.0.1:${port}` }));
  for (const first of near) {
    const headers = { host: HOST, ...signatureOf(asked, scout, { authority: HOST }) };
    const ask = (one: (typeof near)[number]) => callRaw(one, '/v1/intents/list', headers);
    expect((await ask(first)).status).toBe(200);
    for (const one of near) {
      const replayed = await ask(one);
      expect(replayed.status).toBe(401);
      expect(replayed.body).toContain('MESSAGE_REPLAYED');
    }
  }
});

/** Whose key issued what ran for this intent. */
async function issuerOf({ keyturn }: Pick<Shared, 'keyturn'>, intent_id: string) {
  const issued = (await entriesAbout(keyturn, intent_id)).find(({ kind }) => kind === 'capability.issued')!;
  return (issued.body as Event<'capability.issued'>['body']).control_key;
}

describe('two services over one ledger, each with a control key of its own', () => {
  async function pair(tenant: string) {
    const p = await shared(server(), tenant);
    const other = await anotherHost(p);
    const [first] = (await p.keyturn.system.get()).control_keys;
    const second = await other.keyturn.system.rotateControlKey({ reason: 'the second', signer: p.ada });
    expect(second).toMatchObject({ replaces: null, keys: 2 });
    const keys = [first!.public_key, second.public_key] as const;
    for (const { keyturn, name } of [
      { keyturn: p.keyturn, name: 'near' },
      { keyturn: other.keyturn, name: 'far' },
    ])
      await keyturn.system.addExecutor({ name, labels: ['executor'], reason: 'a test', signer: p.ada });
    const turned = async (executor: string) => {
      const audience = `${p.keyturn.origin}/${executor}`;
      const effect = { kind: 'tool', tool: 'say', arguments: { word: executor } } as const;
      const { intent_id, hash } = await p.keyturn.intents.propose({
        declared_goal: 'Say.',
        effect,
        signer: p.ada,
      });
      await p.keyturn.intents.turn({ intent_id, hash, audience, signer: p.ada });
      return intent_id;
    };
    const ends = async (intent_id: string) => (await p.keyturn.intents.waitFor({ intent_id })).status;
    return { p, other, keys, turned, ends };
  }

  it('both issue what was turned, at once, and the ledger verifies', async () => {
    const { p, other, keys, turned, ends } = await pair('both-issue');
    await serving(p, { most: 2 });
    await serving(other, { most: 2 });
    const names = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 'near' : 'far'));
    const intents = await Promise.all(names.map(turned));
    for (const [i, intent_id] of intents.entries()) {
      expect(await ends(intent_id)).toBe('succeeded');
      expect(await issuerOf(p, intent_id)).toBe(keys[i % 2]);
    }
    await p.keyturn.ledger.verify({ deep: true });
    expect((await p.keyturn.ledger.rebuild({ write: false })).differences).toEqual([]);
  });

  it('the one whose key is revoked issues nothing, and the other goes on', async () => {
    const { p, other, keys, turned, ends } = await pair('one-revoked');
    await serving(p, { most: 2 });
    const refused: string[] = [];
    const tell = ({ outcome, code }: Executed) => {
      if (outcome === 'refused') refused.push(code!);
    };
    await serving(other, { most: 2, tell });
    expect(await ends(await turned('far'))).toBe('succeeded');
    await p.keyturn.system.revokeControlKey({ public_key: keys[1], reason: 'stolen', signer: p.ada });
    const stuck = await turned('far');
    await until(() => refused.length > 0);
    expect(refused[0]).toBe('CONTROL_KEY_ELSEWHERE');
    const near = await turned('near');
    expect(await ends(near)).toBe('succeeded');
    expect(await issuerOf(p, near)).toBe(keys[0]);
    expect((await p.keyturn.intents.get({ intent_id: stuck })).status).toBe('approved');
    await p.keyturn.ledger.verify({ deep: true });
  });
});
