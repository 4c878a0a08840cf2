import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Refusal } from '../../src/refusal.ts';
import { MessageStream } from '../../src/serve/mcp-stream.ts';

const notice = (n: number) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { n } });

/** A stream of a caller who can end, with a clock that the test moves. */
function streaming() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const caller = { is_one: true, checks: 0, ends: 0, cut: [] as unknown[] };
  const stream = new MessageStream({
    recheck: async () => {
      caller.checks += 1;
      if (!caller.is_one) throw new Refusal('TOKEN_INVALID');
    },
    onEnd: () => {
      caller.ends += 1;
    },
    cut: (error) => void caller.cut.push(error),
  });
  const reader = stream.response().body!.pipeThrough(new TextDecoderStream()).getReader();
  return { caller, stream, reader };
}

describe('a stream of messages', () => {
  it('looks whether its caller is still one, also while messages keep coming', async () => {
    const { caller, stream, reader } = streaming();
    for (let n = 0; n < 10; n += 1) {
      stream.send(notice(n));
      expect((await reader.read()).value).toContain(`"n":${n}`);
      vi.advanceTimersByTime(4_000);
    }
    expect(caller.checks).toBe(2);
  });

  it('ends with its caller: what is unread is dropped, and the answer does not count as read', async () => {
    const { caller, stream, reader } = streaming();
    stream.send(notice(1));
    expect((await reader.read()).value).toContain('"n":1');
    caller.is_one = false;
    vi.advanceTimersByTime(15_000);
    stream.send(notice(2));
    const written = vi.fn(async () => {});
    stream.finish({ response: { jsonrpc: '2.0', id: 1, result: {} }, written });
    expect(await reader.read()).toMatchObject({ done: true });
    expect(written).not.toHaveBeenCalled();
    expect(caller.ends).toBe(1);
  });

  it('is cut where its answer cannot be marked as read', async () => {
    const { caller, stream, reader } = streaming();
    const failure = new Refusal('STORE_UNREACHABLE');
    const response = { jsonrpc: '2.0', id: 1, result: {} } as const;
    stream.finish({ response, written: () => Promise.reject(failure) });
    expect((await reader.read()).value).toContain('"id":1');
    void reader.read();
    await vi.waitFor(() => expect([caller.cut, caller.ends]).toEqual([[failure], 1]));
  });
});
