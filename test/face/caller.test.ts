import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { OPEN_TO } from '../../src/face/caller.ts';
import type { Verb } from '../../src/face/verb.ts';
import { VERBS } from '../../src/face/verbs.ts';
import type { Face } from '../../src/keyturn.ts';
import { agent, authority, human, proposeSay } from '../journey/authority.ts';
import { expectRefusal } from '../support/refusal.ts';

type AnyVerb = Verb<z.ZodType, z.ZodType>;

/** Every verb with its name. */
const table = Object.entries(VERBS).flatMap(([namespace, verbs]) =>
  Object.entries(verbs).map(([name, verb]) => [namespace, name, verb as unknown as AnyVerb] as const),
);

function ask(face: Face, namespace: string, name: string, request: object = {}): Promise<unknown> {
  const methods = face[namespace as keyof Face] as unknown as Record<
    string,
    (request: object) => Promise<unknown>
  >;
  return methods[name]!(request);
}

const effect = { kind: 'tool', tool: 'say', arguments: { word: 'x' } } as const;

describe('the table of verbs', () => {
  it('says of each verb whom it is open to', () => {
    for (const [namespace, name, { open_to }] of table)
      expect(OPEN_TO, `${namespace}.${name}`).toContain(open_to);
  });

  it('opens no act to an agent', () => {
    for (const [namespace, name, { kind, open_to }] of table)
      if (kind === 'act') expect(open_to, `${namespace}.${name}`).toBe('people');
  });
});

describe('a caller', () => {
  it('is somebody who is enrolled, at every call', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const scout = p.keyturn.as({ name: 'scout' });
    await expectRefusal('PRINCIPAL_UNKNOWN', () => p.keyturn.as({ name: 'nobody' }).intents.list());
    expect((await scout.intents.list()).intents).toEqual([]);
    await p.keyturn.people.revoke({ name: 'scout', reason: 'x', signer: p.ada });
    await expectRefusal('KEY_REVOKED', () => scout.intents.list());
  });

  it('who may not write by now writes nothing through the agent core either', async () => {
    const { keyturn } = await authority();
    const { size } = await keyturn.ledger.head();
    const ada = keyturn.as({ name: 'ada', mayWrite: () => false });
    await expectRefusal('SESSION_READS', () =>
      ada.conversations.ask({ user_id: 'ada', utterance: 'polish the brass bell' }),
    );
    expect((await keyturn.ledger.head()).size).toBe(size);
  });

  it('who lost their last credential is refused', async () => {
    const p = await authority();
    const { public_key } = await human(p, 'ben');
    const ben = p.keyturn.as({ name: 'ben' });
    expect((await ben.people.list()).principals).toHaveLength(2);
    await p.keyturn.people.revokeCredential({ name: 'ben', public_key, reason: 'x', signer: p.ada });
    await expectRefusal('KEY_REVOKED', () => ben.people.list());
  });

  it('proposes in no other name, and in their own unless they say one', async () => {
    const p = await authority();
    await agent(p, 'scout');
    await human(p, 'ben');
    for (const name of ['scout', 'ben']) {
      const { intents } = p.keyturn.as({ name });
      const proposal = await intents.propose({ declared_goal: 'x', effect });
      expect(proposal.proposer).toBe(name);
      const other = { declared_goal: 'x', effect, issuer: 'ada' };
      await expectRefusal('CALLER_OTHER', () => intents.propose(other));
      const undo = { intent_id: proposal.intent_id, issuer: 'ada' };
      await expectRefusal('CALLER_OTHER', () => intents.undo(undo));
      const signed = { declared_goal: 'x', effect, signer: p.ada };
      await expectRefusal('KEY_FILE_INVALID', () => intents.propose(signed));
    }
  });

  it('is recorded with the account that the entry point knows, and never with that of the service', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const account = { host: 'elsewhere', machine: null, uid: 7, user: 'eve' };
    for (const known of [undefined, account]) {
      const { intents } = p.keyturn.as({ name: 'scout', ...(known && { account: known }) });
      const { intent_id } = await intents.propose({ declared_goal: 'x', effect });
      expect((await intents.get({ intent_id })).account).toEqual(known ?? null);
    }
  });
});

describe('an agent', () => {
  it('is refused whatever is open to people', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const scout = p.keyturn.as({ name: 'scout' });
    for (const [namespace, name, { open_to }] of table)
      if (open_to === 'people') await expectRefusal('NOT_FOR_AGENTS', () => ask(scout, namespace, name));
  });

  it('finds what it proposed, and nothing that another one proposed', async () => {
    const p = await authority();
    const [scout] = [await agent(p, 'scout'), await agent(p, 'probe')];
    const mine = await proposeSay(p, {}, scout);
    const other = await proposeSay(p, { issuer: 'probe' });
    const { intents } = p.keyturn.as({ name: 'scout' });
    expect((await intents.get(idOf(mine))).proposer).toBe('scout');
    expect((await intents.result(idOf(mine))).status_word).toBe('waiting');
    expect((await intents.list()).intents.map(({ intent_id }) => intent_id)).toEqual([mine.intent_id]);
    expect(await intents.list({ proposer: 'probe' })).toEqual({ intents: [], next: null, looked: 0 });
    const about = idOf(other);
    const asked: readonly (() => Promise<unknown>)[] = [
      () => intents.get(about),
      () => intents.result(about),
      () => intents.twin(about),
      () => intents.waitFor(about),
      () => intents.undo(about),
      () => intents.withdraw({ ...about, reason: 'x', signer: scout }),
      () => intents.propose({ declared_goal: 'x', effect, replaces: other.intent_id }),
      () => intents.propose({ declared_goal: 'x', effect, undoes: other.intent_id }),
    ];
    const unknown = await expectRefusal('INTENT_NOT_FOUND', () => intents.get({ intent_id: NONE }));
    for (const one of asked) {
      const { facts } = await expectRefusal('INTENT_NOT_FOUND', one);
      expect(facts).toEqual(unknown.facts);
    }
  });

  it('withdraws what it proposed', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { intent_id } = await proposeSay(p, {}, scout);
    const { intents } = p.keyturn.as({ name: 'scout' });
    const withdrawn = await intents.withdraw({ intent_id, reason: 'no longer', signer: scout });
    expect(withdrawn.by).toBe('scout');
  });
});

describe('a human', () => {
  it('sees what everybody proposed', async () => {
    const p = await authority();
    await agent(p, 'scout');
    await human(p, 'ben');
    const { intent_id } = await proposeSay(p, { issuer: 'scout' });
    const { intents } = p.keyturn.as({ name: 'ben' });
    expect((await intents.get({ intent_id })).proposer).toBe('scout');
    expect((await intents.list()).intents).toHaveLength(1);
  });
});

/** An id that no intent has. */
const NONE = '00000000-0000-4000-8000-000000000000';

const idOf = ({ intent_id }: { readonly intent_id: string }) => ({ intent_id });
