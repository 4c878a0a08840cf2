import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { auditExport } from '../../src/audit/ledger.ts';
import { createClient, openLink, type ServiceRefusal } from '../../src/client/client.ts';
import type { OpenKey } from '../../src/identity/act.ts';
import { answerBytes } from '../../src/serve/streamed.ts';
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

  it('takes no more pieces than are read, and breaks off when its caller is none any more', async () => {
    let made = 0;
    let ended = 0;
    let is_caller = true;
    const pieces = async function* () {
      for (;;) yield Buffer.from(`${made++}\n`);
    };
    const signal = new AbortController().signal;
    const recheck = async () => {
      if (!is_caller) throw new Error('no caller');
    };
    const onEnd = () => void ended++;
    const { body } = await answerBytes({ run: (to) => to(pieces()), recheck, signal, onEnd });
    const reader = body!.getReader();
    expect(String(Buffer.from((await reader.read()).value!))).toBe('0\n');
    expect([made <= 3, ended]).toEqual([true, 0]);
    is_caller = false;
    const rest = async () => {
      for (let read = 0; read < 10; read++) await reader.read();
    };
    await expect(rest()).rejects.toThrow('no caller');
    expect([made <= 3, ended]).toEqual([true, 1]);
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
