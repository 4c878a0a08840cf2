import { describe, expect, it } from 'vitest';
import { sha256 } from '../../src/canonical/digest.ts';
import { freezeEnvelope, openEnvelope, parseDraft } from '../../src/intent/envelope.ts';
import { expectRefusal } from '../support/refusal.ts';

const now = new Date('2026-01-15T12:00:00.000Z');
const options = {
  issuer: 'bot',
  effect_digest: 'ef'.repeat(32),
  alternate_digests: [],
  actions: ['tool:backup'],
  nonce: Buffer.alloc(16, 7).toString('base64'),
  now,
  ttl_s: 3600,
};
const draft = {
  declared_goal: 'Back up the folder',
  effect: { kind: 'tool', tool: 'backup', arguments: { target: 'a' } },
};
const spare = { kind: 'tool', tool: 'copy', arguments: { target: 'a' } };

describe('an envelope', () => {
  it('is filled in once, and its hash is the SHA-256 of its canonical bytes', () => {
    const frozen = freezeEnvelope(parseDraft(draft), options);
    expect(frozen.hash).toBe(sha256(frozen.bytes));
    expect(frozen.envelope).toMatchObject({
      issuer: 'bot',
      requested_actions: ['tool:backup'],
      alternates: [],
      replaces: null,
      expiry: '2026-01-15T13:00:00.000Z',
      created_at: now.toISOString(),
    });
    expect(openEnvelope(frozen.bytes)).toEqual(frozen.envelope);
  });

  it('has another hash when any field differs', () => {
    const { envelope, hash } = freezeEnvelope(parseDraft(draft), options);
    const others = [
      { ...envelope, declared_goal: 'Back up the folders' },
      { ...envelope, effect: { ...envelope.effect, arguments: { target: 'b' } } },
      { ...envelope, requested_actions: ['tool:other'] },
      { ...envelope, alternates: [{ ...spare, digest: 'aa'.repeat(32) }] },
      { ...envelope, alternates: [{ ...spare, digest: 'ab'.repeat(32) }] },
      { ...envelope, replaces: 'b2831d73-2708-4f50-944b-7b54f11bfbb4' },
      { ...envelope, expiry: '2026-01-15T13:00:00.001Z' },
    ];
    const hashes = others.map((other) => freezeEnvelope(parseDraft(other), options).hash);
    hashes.push(
      freezeEnvelope(parseDraft(envelope), { ...options, nonce: Buffer.alloc(16).toString('base64') }).hash,
    );
    expect(new Set([hash, ...hashes]).size).toBe(others.length + 2);
    expect(freezeEnvelope(parseDraft(envelope), options).hash).toBe(hash);
  });

  it('names its alternates with the digests of what they would do, and requests what they do', () => {
    const alternate_digests = ['aa'.repeat(32), 'ab'.repeat(32)];
    const alternates = [spare, { ...spare, tool: 'move' }];
    const actions = ['tool:backup', 'tool:copy', 'tool:copy'];
    const { envelope } = freezeEnvelope(parseDraft({ ...draft, alternates }), {
      ...options,
      alternate_digests,
      actions,
    });
    expect(envelope.alternates).toEqual(
      alternates.map((call, i) => ({ ...call, digest: alternate_digests[i] })),
    );
    expect(envelope.requested_actions).toEqual(['tool:backup', 'tool:copy']);
  });

  it('that was changed after it was sealed is refused', async () => {
    const { envelope, hash } = freezeEnvelope(parseDraft(draft), options);
    expect(freezeEnvelope(parseDraft({ ...envelope, integrity_hash: hash }), options).hash).toBe(hash);
    const changed = { ...envelope, declared_goal: 'Something else', integrity_hash: hash };
    await expectRefusal('ENVELOPE_HASH_WRONG', () => freezeEnvelope(parseDraft(changed), options));
  });

  it('with a key that a schema would drop in silence is refused', async () => {
    const hostile = JSON.parse('{"target":"a","__proto__":{"target":"b"}}');
    const effect = { ...draft.effect, arguments: hostile };
    await expectRefusal('JSON_NOT_PLAIN', () => parseDraft({ ...draft, effect }));
    const alternates = [{ ...draft.effect, arguments: hostile }];
    await expectRefusal('JSON_NOT_PLAIN', () => parseDraft({ ...draft, alternates }));
    const constraints = { limits: hostile };
    await expectRefusal('JSON_NOT_PLAIN', () => parseDraft({ ...draft, constraints }));
  });

  it('with unknown keys, wrong types or missing fields is refused', async () => {
    const bad: unknown[] = [
      null,
      [],
      'text',
      {},
      { ...draft, extra: 1 },
      { ...draft, declared_goal: '' },
      { ...draft, declared_goal: 7 },
      { ...draft, declared_goal: 'x'.repeat(5000) },
      { ...draft, intent_id: 'B2831D73-2708-4F50-944B-7B54F11BFBB4' },
      { ...draft, effect: { ...draft.effect, tool: '../x' } },
      { ...draft, effect: { ...draft.effect, kind: 'shell' } },
      { ...draft, effect: { ...draft.effect, arguments: [] } },
      { ...draft, alternates: [{ ...spare, kind: 'plan' }] },
      { ...draft, alternates: Array(9).fill(spare) },
      { ...draft, replaces: 'the other one' },
      { ...draft, expiry: 'tomorrow' },
      { ...draft, requested_actions: [] },
      { ...draft, constraints: { everything: true } },
    ];
    for (const value of bad) await expectRefusal('SHAPE_INVALID', () => parseDraft(value));
    await expectRefusal('SHAPE_INVALID', () => openEnvelope(Buffer.from('{}')));
  });

  it('that has expired, lives too long or comes from the future is refused', async () => {
    const at = (over: object) => () => freezeEnvelope(parseDraft({ ...draft, ...over }), options);
    await expectRefusal('INTENT_EXPIRED', at({ expiry: '2026-01-15T12:00:00.000Z' }));
    await expectRefusal('TIME_MALFORMED', at({ expiry: '2027-01-15T12:00:00.000Z' }));
    await expectRefusal('TIME_MALFORMED', at({ created_at: '2026-01-15T12:01:00.000Z' }));
  });
});
