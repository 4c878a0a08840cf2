import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { generateKeyPair, type KeyPair, privateKeyOf, publicKeyOf } from '../../src/canonical/ed25519.ts';
import { kidOf } from '../../src/capability/key.ts';
import { type CapabilityClaims, isoOf, mint } from '../../src/capability/token.ts';
import { openCapability } from '../../src/capability/verify.ts';
import type { Body, Event } from '../../src/event/event.ts';
import { signFact } from '../../src/identity/fact.ts';
import { confinedTo } from '../../src/journey/reach.ts';
import { type Executed, Keyturn } from '../../src/keyturn.ts';
import { readControlKey } from '../../src/project/keys.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { ToolEffect } from '../../src/tool/effect.ts';
import { until } from '../support/processes.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { authority, call, type Intent, kinds, proposeSay, yes } from './authority.ts';

type Lie = (root: CapabilityClaims) => Partial<CapabilityClaims>;
type Ordered = Intent & { readonly order_id: string };

async function turned(p: Project, order: object = {}, over = {}): Promise<Ordered> {
  const intent = await proposeSay(p, over);
  const { capability_id } = await p.keyturn.intents.turn({ ...intent, ...order, signer: p.ada });
  return { ...intent, order_id: capability_id };
}

/** What a service answers that has the control key, and says something else in the token than the human ordered. */
async function answerOf(
  { keyturn }: Project,
  { intent_id, hash, order_id }: Ordered,
  lie: Lie,
  other?: KeyPair,
) {
  const executor = keyturn.host.executorSigner().name.slice('executor:'.length);
  const answer = await keyturn.host.issueFor(executor, { intent_id, hash, order_id });
  if ('denied' in answer) throw new Error(answer.words);
  const {
    control_key: public_key,
    control_signature: _,
    ...facts
  } = answer.issued as Body<'capability.issued'>;
  const key = privateKeyOf(readControlKey(keyturn.layout, public_key).seed);
  const { root } = openCapability(answer.token, () => publicKeyOf(public_key));
  const signer = other
    ? { kid: kidOf(other.public_key), key: privateKeyOf(other.seed) }
    : { kid: kidOf(public_key), key };
  const token = mint({ ...root, ...lie(root) }, signer);
  const body = { ...facts, token: sha256(token) };
  const fact = { kind: 'capability.issued', subject: intent_id, body } as const;
  const issued = signFact(keyturn.host.origin, 'control', fact, { public_key, key });
  return { issued: issued.body, token, decision: answer.decision };
}

/** An executor that asks such a service. */
async function executorOf(p: Project, intent: Ordered, lie: Lie): Promise<Executed[]> {
  const keyturn = await Keyturn.open({ at: p.root });
  const told: Executed[] = [];
  const stop = new AbortController();
  const done = keyturn.host.execute({
    signal: stop.signal,
    grace_ms: 100,
    most: 1,
    control_plane: () => answerOf(p, intent, lie),
    tell: (one) => told.push(one),
  });
  onTestFinished(async () => {
    stop.abort();
    await done.catch(() => {});
    await keyturn.close();
  });
  await until(() => told.some(({ outcome }) => outcome !== 'claimed'));
  return told;
}

/** The same, written by a program that has the control key and the store. */
async function writeIssued(
  p: Project,
  intent: Ordered,
  lie: Lie,
  clock = () => new Date(),
  other?: KeyPair,
): Promise<string> {
  const { issued, token, decision } = await answerOf(p, intent, lie, other);
  const path = p.keyturn.layout.store;
  const store = await openSqliteStore({ path, tenant: 'default', clock, mode: 'write' });
  const event = { kind: 'capability.issued', subject: intent.intent_id, body: issued };
  const objects = [Buffer.from(token), Buffer.from(decision, 'base64')];
  await store.commit({ events: [event as Event<'capability.issued'>], objects });
  await store.close();
  return token;
}

const wider = { network: true, read: [], write: ['/var/tmp'] };
const ORDER = { conditions: { environment: 'default' } };

const LIES: Readonly<Record<string, Lie>> = {
  'a wider scope': ({ scope }) => ({ scope: { ...scope, ...wider } }),
  'no sandbox': ({ scope }) => ({
    scope: { ...scope, unconfined: true, network: true, read: [], write: [] },
  }),
  'no conditions': () => ({ conditions: {} }),
  'other conditions': () => ({ conditions: { environment: 'default', hours: { from: 0, to: 24 } } }),
  'no category': () => ({ tool_category: null }),
  'a holder that was not named': () => ({ holder: generateKeyPair().public_key }),
  'a longer life': ({ expires_at }) => ({ expires_at: isoOf(Date.parse(expires_at) / 1000 + 60) }),
};

/** Where an order is for just what the effect needs, a commit has nothing to compare the scope with. */
const UNSEEN = ['a wider scope', 'no sandbox'] as const;

describe('an executor holds what the control plane signed against the order of the human', () => {
  it('and runs what was ordered', async () => {
    const p = await authority();
    const told = await executorOf(p, await turned(p, ORDER), () => ({}));
    expect(told.map(({ outcome }) => outcome)).toEqual(['claimed', 'success']);
  });

  it.each(Object.entries(LIES))('and claims nothing under a token with %s', async (_, lie) => {
    const p = await authority();
    for (const folder of ['in', 'out']) mkdirSync(join(p.root, folder));
    writeFileSync(join(p.root, 'in/a.txt'), 'content');
    const intent = await turned(p, { ...ORDER, tool_category: 'files' }, call('copy'));
    const code =
      lie === LIES['a holder that was not named'] ? 'CAPABILITY_HOLDER_UNPROVEN' : 'CAPABILITY_WIDENED';
    expect(await executorOf(p, intent, lie)).toMatchObject([{ outcome: 'refused', code }]);
    expect(await kinds(p, intent.intent_id)).not.toContain('execution.claimed');
    expect(await kinds(p, intent.intent_id)).not.toContain('capability.issued');
  });

  it('also where the entry and the token lie in the ledger, and where the token is presented', async () => {
    const p = await authority();
    for (const lie of UNSEEN) {
      const intent = await turned(p);
      const token = await writeIssued(p, intent, LIES[lie]!);
      for (const capability of [undefined, token])
        await expectRefusal('CAPABILITY_WIDENED', () =>
          runSeen(p.keyturn, { ...intent, confirm: yes, capability }),
        );
      expect(await kinds(p, intent.intent_id)).not.toContain('execution.claimed');
    }
  });
});

describe('a token is held against the order that it was issued for', () => {
  it('and taken where it says what was ordered', async () => {
    const p = await authority();
    await writeIssued(p, await turned(p, ORDER), () => ({}));
    await writeIssued(p, await turned(p), () => ({}));
    await p.keyturn.ledger.verify({ deep: true });
  });

  it.each(Object.entries({ ...LIES, 'another issuer': () => ({ issuer: 'elsewhere' }) }))(
    'by a commit, which refuses one with %s',
    async (_, lie) => {
      const p = await authority();
      for (const folder of ['in', 'out']) mkdirSync(join(p.root, folder));
      writeFileSync(join(p.root, 'in/a.txt'), 'content');
      const intent = await turned(p, { ...ORDER, tool_category: 'files' }, call('copy'));
      await expectRefusal('CAPABILITY_WIDENED', () => writeIssued(p, intent, lie));
      await p.keyturn.ledger.verify({ deep: true });
    },
  );

  it('by a commit, which refuses one that another key signed', async () => {
    const p = await authority();
    const intent = await turned(p);
    await expectRefusal('CAPABILITY_KEY_UNKNOWN', () =>
      writeIssued(p, intent, () => ({}), undefined, generateKeyPair()),
    );
  });

  it.each(UNSEEN)('by a deep verification, which has the effect and refuses one with %s', async (lie) => {
    const p = await authority();
    await writeIssued(p, await turned(p), LIES[lie]!);
    const { facts } = await expectRefusal('LEDGER_BROKEN', () => p.keyturn.ledger.verify({ deep: true }));
    expect(facts).toMatchObject({ reason_code: 'CAPABILITY_WIDENED' });
    await p.keyturn.ledger.verify({});
  });
});

describe('what was issued for an order, and written without a claim', () => {
  it('claims nothing once the order has lapsed', async () => {
    let now = new Date('2026-03-02T10:00:00.000Z');
    const clock = () => now;
    const p = await authority(clock);
    const [used, kept] = [await turned(p), await turned(p)];
    now = new Date('2026-03-02T10:01:00.000Z');
    await writeIssued(p, used, () => ({}), clock);
    const token = await writeIssued(p, kept, () => ({}), clock);
    expect((await runSeen(p.keyturn, { ...used, confirm: yes })).result).toBe('success');
    now = new Date('2026-03-02T10:02:00.000Z');
    for (const capability of [undefined, token])
      await expectRefusal('ORDER_LAPSED', () => runSeen(p.keyturn, { ...kept, confirm: yes, capability }));
    expect(await kinds(p, kept.intent_id)).not.toContain('execution.claimed');
  });
});

describe('the sandbox of a tool', () => {
  const sandbox = { network: false, read: ['/srv'], write: ['/srv/out'] };
  const effect = { kind: 'tool', sandbox } as unknown as ToolEffect;
  const same = { ...sandbox, unconfined: false, pipelines: [] };

  it('is what was approved, or narrower, and never wider than that', async () => {
    expect(confinedTo(effect, same).sandbox).toEqual(sandbox);
    const narrow = { ...same, read: ['/srv/in'], write: [] };
    expect(confinedTo(effect, narrow).sandbox).toEqual({ network: false, read: ['/srv/in'], write: [] });
    const wide = [{ network: true }, { write: ['/srv'] }, { read: ['/'] }, { read: ['/srv', '/etc'] }];
    for (const more of [...wide, { unconfined: true }])
      await expectRefusal('CAPABILITY_WIDENED', () => confinedTo(effect, { ...same, ...more }));
  });
});
