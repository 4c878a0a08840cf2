import { describe, expect, it, onTestFinished } from 'vitest';
import type { Keyturn } from '../../src/keyturn.ts';
import { Refusal } from '../../src/refusal.ts';
import { answerEvents } from '../../src/serve/events.ts';
import { call, SAY, service } from './service.ts';

/** A stream of the agent `bot` over a store that answers `fails` in place of an intent, once it is set. */
async function streaming() {
  const s = await service();
  const failing: { once: Refusal | null; caller: Refusal | null } = { once: null, caller: null };
  const get: Keyturn['intents']['get'] = async (asked) => {
    const [refusal] = [failing.once];
    failing.once = null;
    if (refusal !== null) throw refusal;
    return s.keyturn.intents.get(asked);
  };
  const keyturn = { ledger: s.keyturn.ledger, intents: { get } } as unknown as Keyturn;
  const recheck = async () => {
    const [refusal] = [failing.caller];
    failing.caller = null;
    if (refusal !== null) throw refusal;
  };
  const open = async (last_id: string | null) => {
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const cuts: unknown[] = [];
    const answer = await answerEvents({
      keyturn,
      caller: { kind: 'agent', name: 'bot', key: null },
      shown: 'bot',
      last_id,
      recheck,
      signal: gone.signal,
      cut: (error) => void cuts.push(error),
      onEnd: () => {},
    });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    const heard = async () => (await reader.read()).value;
    return { heard, cuts };
  };
  const proposed = async () => {
    const { body } = await call(s, '/v1/intents/propose', SAY, { token: s.token });
    return body.intent_id as string;
  };
  return { open, proposed, failing };
}

const idIn = (heard: string | undefined) => /^id: (.+)$/m.exec(heard ?? '')![1]!;

describe('a stream of an agent', () => {
  it('is cut where the store fails, and told from there on what it missed', async () => {
    const { open, proposed, failing } = await streaming();
    const first = await open(null);
    const one = await proposed();
    const heard = await first.heard();
    expect(heard).toContain(one);
    const away = new Refusal('STORE_UNREACHABLE');
    failing.once = away;
    const other = await proposed();
    void first.heard().catch(() => {});
    await expect.poll(() => first.cuts).toEqual([away]);
    const again = await open(idIn(heard));
    expect(await again.heard()).toContain(other);
  });

  it('ends where its caller cannot be looked up, and goes on once it can', async () => {
    const { open, proposed, failing } = await streaming();
    const first = await open(null);
    const one = await proposed();
    const heard = await first.heard();
    expect(heard).toContain(one);
    failing.caller = new Refusal('STORE_UNREACHABLE');
    const other = await proposed();
    expect(await first.heard()).toBeUndefined();
    const again = await open(idIn(heard));
    expect(await again.heard()).toContain(other);
  });

  it('tells nothing of what is no intent', async () => {
    const { open, proposed, failing } = await streaming();
    const first = await open(null);
    failing.once = new Refusal('INTENT_NOT_FOUND');
    await proposed();
    expect(await first.heard()).toBe(':\n\n');
    expect(first.cuts).toEqual([]);
  });
});
