import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { intentIdOfKey } from '../../src/intent/repeat.ts';
import { call, SAY, type Service, service } from './service.ts';
import { callSigned, keyed } from './signed.ts';

const PROPOSE = '/v1/intents/propose';
const KEY = 'nightly-2026-11-19';

/** A draft that an agent made up with this id, and signed. It computes the hash of the envelope by itself. */
async function madeUp(s: Service, key: Awaited<ReturnType<typeof keyed>>, id: string) {
  const at = new Date();
  const nonce = Buffer.alloc(16, 7).toString('base64');
  let statements: string[] = [];
  const halted = new Error('halted');
  const sign = async (all: readonly Uint8Array[]) => {
    statements = all.map((one) => Buffer.from(one).toString('utf8'));
    throw halted;
  };
  const signer = { name: key.name, public_key: key.public_key, drawn: { at, id }, sign };
  await expect(s.keyturn.intents.propose({ ...SAY, nonce, signer } as never)).rejects.toBe(halted);
  const proofs = await key.sign(statements.map((one) => Buffer.from(one)));
  const draft = { by: key.name, key: key.public_key, at: at.toISOString(), id, statements };
  return { request: { ...SAY, nonce }, draft, proofs };
}

describe('the id of an intent that an agent proposes with its key', () => {
  it('is not that which another agent will have by its idempotency key', async () => {
    const s = await service();
    const scout = await keyed(s);
    const id = intentIdOfKey({ origin: s.keyturn.host.origin, proposer: 'bot', key: KEY });
    const finished = await callSigned(s, scout, PROPOSE, await madeUp(s, scout, id));
    expect(finished.status).toBe(200);
    expect(finished.body.intent_id).not.toBe(id);
    const bots = await call(s, PROPOSE, { ...SAY, idempotency_key: KEY }, { token: s.token });
    expect([bots.status, bots.body.intent_id]).toEqual([200, id]);
  });

  it('tells it nothing of what another agent proposed', async () => {
    const s = await service();
    const scout = await keyed(s);
    const { body } = await call(s, PROPOSE, { ...SAY, idempotency_key: KEY }, { token: s.token });
    for (const id of [body.intent_id, randomUUID()])
      expect((await callSigned(s, scout, PROPOSE, await madeUp(s, scout, id))).status).toBe(200);
  });
});
