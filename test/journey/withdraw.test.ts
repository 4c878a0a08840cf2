import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { thisProcess } from '../../src/effect/process.ts';
import type { Signer } from '../../src/identity/act.ts';
import { auditProof, type Request } from '../../src/keyturn.ts';
import { openSqliteStore } from '../store/open.ts';
import { proofOf, sizeOf } from '../support/ledger.ts';
import type { Project } from '../support/project.ts';
import { expectRefusal } from '../support/refusal.ts';
import { runSeen } from '../support/seen.ts';
import { agent, authority, call, granted, yes } from './authority.ts';
import { claimElsewhere } from './claim-elsewhere.ts';

const GOAL = { declared_goal: 'Say hello.' };
const draft = (over: object = {}): Request<'intents.propose'> => ({
  ...GOAL,
  effect: { kind: 'tool', tool: 'say', arguments: { word: 'hello' } },
  ...over,
});
const propose = (p: Project, over: object = {}, signer?: Signer) =>
  p.keyturn.intents.propose({ ...draft(over), signer });

const reason = 'The caller went away.';

const storeOf = ({ keyturn }: Project) =>
  openSqliteStore({ path: keyturn.layout.store, tenant: 'default', clock: () => new Date(), mode: 'write' });

describe('an intent that its proposer withdraws', () => {
  it('can no longer be approved, ordered or run, and that is final', async () => {
    const p = await authority();
    const { intent_id, hash, receipt } = await propose(p);
    const withdrawn = await p.keyturn.intents.withdraw({ intent_id, reason, receipt });
    expect(withdrawn).toEqual({ intent_id, hash, by: 'ada', reason });
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('withdrawn');
    expect(await p.keyturn.intents.check({ intent_id, hash })).toMatchObject({
      eligible: false,
      code: 'INTENT_WITHDRAWN',
    });
    const about = { intent_id, hash, signer: p.ada };
    await expectRefusal('INTENT_WITHDRAWN', () => p.keyturn.intents.approve(about));
    await expectRefusal('INTENT_WITHDRAWN', () => p.keyturn.intents.turn(about as never));
    await expectRefusal('INTENT_WITHDRAWN', () => p.keyturn.intents.reject({ ...about, reason }));
    await expectRefusal('INTENT_WITHDRAWN', () => p.keyturn.intents.withdraw({ intent_id, reason, receipt }));
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('takes its orders and its capability with it', async () => {
    const p = await authority();
    const { intent_id, hash, receipt } = await propose(p);
    const about = { intent_id, hash };
    await p.keyturn.intents.approve({ ...about, signer: p.ada });
    await p.keyturn.intents.grant({ ...about, signer: p.ada, is_issued: true });
    await p.keyturn.intents.grant({ ...about, signer: p.ada });
    await p.keyturn.intents.withdraw({ intent_id, reason, receipt });
    const { capabilities } = await p.keyturn.intents.get({ intent_id });
    expect(capabilities.map(({ status }) => status)).toEqual(['revoked', 'revoked']);
    await expectRefusal('INTENT_WITHDRAWN', () => runSeen(p.keyturn, { ...about, confirm: yes }));
    await p.keyturn.ledger.verify({ deep: true });
  });

  it('does not run: a run that goes on is refused as such, and one whose process is gone as in doubt', async () => {
    const p = await authority();
    const effect = { kind: 'tool', tool: 'wait', arguments: { seconds: 60 } } as const;
    const { intent_id, hash, receipt } = await propose(p, { effect });
    await p.keyturn.intents.turn({ intent_id, hash, signer: p.ada });
    const stop = new AbortController();
    let begun = (_execution_id: string) => {};
    const claimed = new Promise<string>((done) => {
      begun = done;
    });
    const onClaimed = (execution_id: string) => begun(execution_id);
    const run = runSeen(p.keyturn, { intent_id, hash, confirm: yes, abort: stop.signal, onClaimed });
    const execution_id = await claimed;
    const withdraw = () => p.keyturn.intents.withdraw({ intent_id, reason, receipt });
    const { facts } = await expectRefusal('RUN_STILL_ALIVE', withdraw);
    expect(facts).toMatchObject({ execution_id });
    expect((await p.keyturn.intents.result({ intent_id })).status_word).toBe('running');
    stop.abort();
    await run;

    const lost = await granted(p);
    await claimElsewhere(p, await storeOf(p), lost, { ...thisProcess(), pid: 4194304 });
    await expectRefusal('RUN_IN_DOUBT', () =>
      p.keyturn.intents.withdraw({ intent_id: lost.intent_id, reason, signer: p.ada }),
    );
  });

  it('was not claimed yet: what runs, ran or failed is no longer the proposer’s to take back', async () => {
    const p = await authority();
    const { intent_id, hash, receipt } = await propose(p);
    await p.keyturn.intents.approve({ intent_id, hash, signer: p.ada });
    await p.keyturn.intents.grant({ intent_id, hash, signer: p.ada });
    expect((await runSeen(p.keyturn, { intent_id, hash, confirm: yes })).result).toBe('success');
    await expectRefusal('ALREADY_EXECUTED', () => p.keyturn.intents.withdraw({ intent_id, reason, receipt }));
    const failed = await granted(p, call('fail', {}));
    await runSeen(p.keyturn, { ...failed, confirm: yes });
    await expectRefusal('RUN_FAILED', () =>
      p.keyturn.intents.withdraw({ intent_id: failed.intent_id, reason, signer: p.ada }),
    );
  });

  it('is withdrawn by the key of its proposer, without a receipt, and nothing else will do', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const theirs = await propose(p, { issuer: 'scout' });
    const mine = await propose(p, { issuer: 'ada' });
    const { intent_id } = theirs;
    const withdraw = (proof: object) => p.keyturn.intents.withdraw({ intent_id, reason, ...proof });
    await expectRefusal('RECEIPT_INVALID', () => withdraw({}));
    await expectRefusal('RECEIPT_INVALID', () => withdraw({ receipt: theirs.receipt, signer: scout }));
    await expectRefusal('RECEIPT_INVALID', () => withdraw({ receipt: mine.receipt }));
    await expectRefusal('RECEIPT_INVALID', () => withdraw({ signer: p.ada }));
    await expectRefusal('SIGNATURE_INVALID', () => withdraw({ signer: { ...p.ada, name: 'scout' } }));
    await expectRefusal('SIGNATURE_INVALID', () => withdraw({ signer: { ...scout, sign: p.ada.sign } }));
    await expectRefusal('SHAPE_INVALID', () => withdraw({ receipt: 'short' }));
    await expectRefusal('SHAPE_INVALID', () => withdraw({ receipt: theirs.receipt, reason: '' }));
    await expectRefusal('INTENT_NOT_FOUND', () =>
      withdraw({ receipt: theirs.receipt, intent_id: randomUUID() }),
    );
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('proposed');
    await withdraw({ signer: scout });
    expect((await p.keyturn.intents.get({ intent_id })).status).toBe('withdrawn');
    const { words } = (await p.keyturn.intents.story({ intent_id: intent_id })).story.at(-1)!;
    expect(words).toBe(`scout withdrew it, signed with its key: ${reason}`);
  });

  it('that was signed is proven by a bundle, with the key of who withdrew it', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const { intent_id } = await propose(p, { issuer: 'scout' });
    await p.keyturn.intents.withdraw({ intent_id, reason, signer: scout });
    const proof = await proofOf(p.keyturn, intent_id);
    const { key } = await p.keyturn.ledger.head();
    const { entries } = auditProof(proof, { key });
    expect(entries.map(({ kind }) => kind)).toContain('intent.withdrawn');
  });
});

describe('an idempotency key', () => {
  const idempotency_key = 'order-4711-of-tuesday';

  it('with the same request is the same intent, with its receipt, however often it is sent', async () => {
    const p = await authority();
    const size = async () => sizeOf(p.keyturn);
    const first = await propose(p, { idempotency_key });
    const before = await size();
    const again = await propose(p, { idempotency_key });
    expect(again).toEqual({ ...first, repeated: true });
    expect(first.repeated).toBe(false);
    expect(await size()).toBe(before);
    await p.keyturn.intents.withdraw({ intent_id: again.intent_id, reason, receipt: again.receipt });
    expect((await propose(p, { idempotency_key })).intent_id).toBe(first.intent_id);
  });

  it('of many callers at once makes one intent', async () => {
    const p = await authority();
    const all = await Promise.all(Array.from({ length: 8 }, () => propose(p, { idempotency_key })));
    expect(new Set(all.map(({ intent_id }) => intent_id)).size).toBe(1);
    expect(all.filter(({ repeated }) => !repeated)).toHaveLength(1);
  });

  it('with another request is refused, and the first one stays as it was', async () => {
    const p = await authority();
    const first = await propose(p, { idempotency_key });
    const other = (over: object) => () => propose(p, { idempotency_key, ...over });
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', other(call('say', { word: 'bye' })));
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', other({ declared_goal: 'Say something else.' }));
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', other({ constraints: { limits: { network: false } } }));
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', other({ replaces: first.intent_id }));
    await expectRefusal(
      'IDEMPOTENCY_KEY_REUSED',
      other({ expiry: new Date(Date.now() + 60_000).toISOString() }),
    );
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', other({ requested_actions: ['tool:say', 'more'] }));
    expect((await p.keyturn.intents.get({ intent_id: first.intent_id })).status).toBe('proposed');
  });

  it('of a signed proposal has no receipt, and is another request without the signature', async () => {
    const p = await authority();
    const scout = await agent(p, 'scout');
    const signed = await propose(p, { idempotency_key, issuer: 'scout' }, scout);
    expect(signed.receipt).toBeNull();
    expect(await propose(p, { idempotency_key, issuer: 'scout' }, scout)).toEqual({
      ...signed,
      repeated: true,
    });
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', () => propose(p, { idempotency_key, issuer: 'scout' }));
    const other = 'another-key-of-tuesday';
    const unsigned = await propose(p, { idempotency_key: other, issuer: 'scout' });
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', () =>
      propose(p, { idempotency_key: other, issuer: 'scout' }, scout),
    );
    const { intent_id } = signed;
    await expectRefusal('RECEIPT_INVALID', () =>
      p.keyturn.intents.withdraw({ intent_id, reason, receipt: unsigned.receipt }),
    );
    await expectRefusal('RECEIPT_INVALID', () =>
      p.keyturn.intents.withdraw({ intent_id, reason, receipt: null }),
    );
    await p.keyturn.intents.withdraw({ intent_id, reason, signer: scout });
  });

  it('of another proposer is another key', async () => {
    const p = await authority();
    await agent(p, 'scout');
    const mine = await propose(p, { idempotency_key, issuer: 'ada' });
    const theirs = await propose(p, { idempotency_key, issuer: 'scout' });
    expect(theirs.intent_id).not.toBe(mine.intent_id);
    expect(theirs.receipt).not.toBe(mine.receipt);
  });

  it('names the intent, so an intent that took its id otherwise is not taken for it', async () => {
    const p = await authority();
    const { intent_id } = await propose(p, { idempotency_key });
    const copy = await authority();
    await propose(copy, { intent_id });
    await expectRefusal('IDEMPOTENCY_KEY_REUSED', () => propose(copy, { idempotency_key }));
    await expectRefusal('SHAPE_INVALID', () => propose(p, { idempotency_key, intent_id: randomUUID() }));
  });

  it.each([
    ['too short to be a secret', 'order-1'],
    ['10 KB long', 'k'.repeat(10_240)],
    ['with a blank', 'order 4711 of tuesday'],
    ['with a line break', 'order-4711\nof-tuesday'],
    ['empty', ''],
    ['a number', 4711 as never],
  ])('%s is refused', async (_, key) => {
    const p = await authority();
    await expectRefusal('SHAPE_INVALID', () => propose(p, { idempotency_key: key }));
  });
});
