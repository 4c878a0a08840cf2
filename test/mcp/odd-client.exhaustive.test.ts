import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accepted, mcpProject, SERVERS, turned } from '../mcp-call/servers.ts';
import { piped } from './piped.ts';
import { gateProcess } from './process.ts';
import { enrolled, STATELESS_META, textOf } from './stage.ts';

const LONG = { timeout: 120_000 };

const callLine = (id: string, values: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"odd__act","arguments":${values}}}`;

describe('a client whose messages are odd', () => {
  it('with an id that is none is answered without one, and nothing is proposed', LONG, async () => {
    const { p, raw, send, answer, answers } = await piped();
    const ids = ['1.5', 'true', '{}', '[]', 'null', '9007199254740993', '-0.5'];
    for (const id of ids) raw(callLine(id, '{"how":"x"}'));
    send(7, 'ping', {});
    await answer(7);
    const refused = answers.filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(ids.length);
    for (const { error } of refused) expect(error!.code).toBe(-32600);
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });

  it('with what is not bound as it is written is refused', LONG, async () => {
    const { p, raw, answer } = await piped();
    const values = [
      '{"n":1e400}',
      '{"n":12345678901234567890}',
      '{"__proto__":{"how":"die"}}',
      '{"how":"\\u0000"}',
    ];
    for (const [n, value] of values.entries()) {
      raw(callLine(String(n + 1), value));
      expect((await answer(n + 1)).error?.message, value).toMatch(/JSON_(BAD_NUMBER|NOT_PLAIN|BAD_STRING)/);
    }
    expect((await p.keyturn.intents.list({})).intents).toEqual([]);
  });

  it('with a member named as what every object has has it bound, shown and sent', LONG, async () => {
    const { p, raw, answer } = await piped({}, { hold_ms: 20_000 });
    raw(callLine('1', '{"how":"plain","constructor":"c","toString":0.12345678901234567890}'));
    const waiting = async () => (await p.keyturn.intents.list({ status_word: 'waiting' })).intents;
    await expect.poll(waiting, { timeout: 30_000 }).toHaveLength(1);
    const { intent_id } = (await waiting())[0]!;
    const shown = JSON.stringify(await p.keyturn.intents.story({ intent_id }));
    for (const text of ['constructor', 'toString', '0.12345678901234568']) expect(shown).toContain(text);
    expect((await turned(p, intent_id)).result).toBe('success');
    expect(textOf((await answer(1)).result)).toBe('did plain');
  });

  it('with members of the protocol that are of another kind is answered each time', LONG, async () => {
    const { p, raw, send, answer } = await piped();
    const call = { name: 'odd__act', arguments: { how: 'x' } };
    send(1, 'tools/call', { ...call, _meta: 'none' });
    send(2, 'tools/call', { ...call, _meta: { progressToken: { a: 1 } } });
    for (const id of [1, 2]) expect(textOf((await answer(id)).result)).toContain('NOT RUN yet');
    raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}');
    raw('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":["odd__act"]}');
    expect((await answer(3)).error?.code).toBe(-32600);
    raw('{"jsonrpc":"1.0","id":4,"method":"ping"}');
    expect((await answer(4)).error?.code).toBe(-32600);
    const later = { ...STATELESS_META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    send(5, 'tools/call', { ...call, _meta: later });
    expect((await answer(5)).error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } });
    // Both were the same call.
    expect((await p.keyturn.intents.list({})).intents).toHaveLength(1);
  });

  it('with one byte at a time, and characters that are cut, is one message', LONG, async () => {
    const { input, answer } = await piped();
    for (const byte of Buffer.from('{"jsonrpc":"2.0","id":"größe","method":"ping"}\r\n')) {
      input.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    expect((await answer('größe' as never)).result).toEqual({});
  });

  it('with calls and no more input gets their answers, and the gate ends', LONG, async () => {
    const p = await mcpProject({ odd: { script: SERVERS.odd, args: ['plain', '{files}/log'] } });
    await accepted(p.keyturn, 'odd', p.ada);
    await enrolled(p);
    const schema = { type: 'object', properties: { how: { const: 'last' } } };
    await p.keyturn.agents.delegate({
      ...{ delegate: 'scout', actions: ['mcp:odd:*'], ttl_s: 600, approves: true },
      ...{ grant: { uses: 5, arguments: schema }, reason: 'a test', signer: p.ada },
    });
    const { child, send, heard } = gateProcess(p.root, 'scout');
    const ended = new Promise((done) => child.once('exit', done));
    for (const how of ['last', 'waits'])
      send({ id: how, method: 'tools/call', params: { name: 'odd__act', arguments: { how } } });
    child.stdin.end();
    expect(await ended).toBe(0);
    const said = (how: string) => textOf(heard().find(({ id }) => id === how)!.result);
    expect(said('last')).toBe('did last');
    expect(said('waits')).toContain('NOT RUN yet');
    expect(readFileSync(join(p.files, 'log'), 'utf8')).toBe('last\n');
  });
});
