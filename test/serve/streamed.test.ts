import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditExport } from '../../src/audit/ledger.ts';
import { createClient, openLink, type ServiceRefusal } from '../../src/client/client.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { Refusal } from '../../src/refusal.ts';
import { answerBytes, type BytesTo } from '../../src/serve/streamed.ts';
import { until } from '../support/processes.ts';
import { expectRefusal } from '../support/refusal.ts';
import { acted, call, refusalIn, SAY, service, session } from './service.ts';
import { callSigned } from './signed.ts';

describe('an export over HTTP', () => {
  it('is the whole ledger as it flows, which verifies; an agent is refused it', async () => {
    const s = await service();
    const { key, size } = await s.keyturn.ledger.head();
    const bytes = await (await openLink(s.link)).ledger.export({ with_objects: true });
    expect(await auditExport(bytes, { key })).toMatchObject({ size, objects: { erased: 0 } });
    const agent = createClient({ address: s.address, token: s.token });
    const refused = await agent.ledger.export().catch((error: ServiceRefusal) => error.code);
    expect(refused).toBe('NOT_FOR_AGENTS');
    const to = await callSigned(s, s.ada as OpenKey, '/v1/ledger/export', { to: 'a file' });
    expect(refusalIn(to)).toEqual([400, 'SHAPE_INVALID']);
  });

  /** Pieces without end, for a caller who can end. */
  function endless() {
    const seen = { made: 0, ended: 0, is_caller: true, cut: [] as unknown[] };
    const pieces = async function* () {
      for (;;) yield Buffer.from(`${seen.made++}\n`);
    };
    const stop = new AbortController();
    const asked = {
      run: (to: BytesTo) => to(pieces()),
      recheck: async () => {
        if (!seen.is_caller) throw new Refusal('TOKEN_INVALID');
      },
      signal: stop.signal,
      cut: (error: unknown) => void seen.cut.push(error),
      onEnd: () => void seen.ended++,
    };
    return { seen, stop, asked };
  }

  it('takes no more pieces than are read, and is cut when its caller is none any more', async () => {
    const { seen, asked } = endless();
    const reader = (await answerBytes(asked)).body!.getReader();
    expect(String(Buffer.from((await reader.read()).value!))).toBe('0\n');
    expect([seen.made <= 3, seen.ended]).toEqual([true, 0]);
    seen.is_caller = false;
    for (let read = 0; read < 3; read++) void reader.read();
    await until(() => seen.cut.length > 0);
    expect(seen).toMatchObject({ ended: 1, cut: [{ code: 'TOKEN_INVALID' }] });
    expect(seen.made <= 3).toBe(true);
  });

  it('what fails before the first piece is a refusal: no caller any more, a service that stops', async () => {
    const left = endless();
    left.seen.is_caller = false;
    await expectRefusal('TOKEN_INVALID', () => answerBytes(left.asked));
    const stopped = endless();
    stopped.stop.abort(new Refusal('WAIT_OVER'));
    await expectRefusal('WAIT_OVER', () => answerBytes(stopped.asked));
    const later = endless();
    const recheck = async () => later.stop.abort(new Refusal('WAIT_OVER'));
    await expectRefusal('WAIT_OVER', () => answerBytes({ ...later.asked, recheck }));
    for (const { seen } of [left, stopped, later]) expect([seen.ended, seen.cut]).toEqual([1, []]);
  });
});

describe('ledger.since', () => {
  it('tells entries from one on, and waits for the next one', async () => {
    const s = await service();
    const cookie = await session(s);
    const { body } = await call(s, '/v1/ledger/since?from=1', undefined, { cookie });
    expect(body.entries.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: body.next - 1 }, (_, i) => i + 1),
    );
    const path = `/v1/ledger/since?from=${body.next}`;
    const over = await call(s, path, undefined, { cookie, headers: { prefer: 'wait=0' } });
    expect(refusalIn(over)).toEqual([409, 'WAIT_OVER']);
    const waits = call(s, path, undefined, { cookie });
    await call(s, '/v1/intents/propose', SAY, { token: s.token });
    expect((await waits).body).toMatchObject({ entries: [{ kind: 'intent.proposed' }], next: body.next + 1 });
    expect(refusalIn(await call(s, path, undefined, { token: s.token }))).toEqual([403, 'NOT_FOR_AGENTS']);
  });
});

describe('plans.report', () => {
  it('is asked for by a human whose key signed the request, and by no session and no agent', async () => {
    const s = await service();
    const request = { execution_id: randomUUID() };
    const path = '/v1/plans/report';
    const cookie = await session(s);
    expect(refusalIn(await call(s, path, request, { cookie }))).toEqual([403, 'SESSION_READS']);
    expect(refusalIn(await acted(s, path, request, s.ada, cookie))).toEqual([403, 'SESSION_READS']);
    expect(refusalIn(await call(s, path, request, { token: s.token }))).toEqual([403, 'NOT_FOR_AGENTS']);
    const signed = await callSigned(s, s.ada as OpenKey, path, request);
    expect(refusalIn(signed)).toEqual([404, 'EXECUTION_NOT_FOUND']);
  });
});
