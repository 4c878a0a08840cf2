import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient, openLink, type ServiceRefusal } from '../../src/client/client.ts';
import type { Draft, Signer } from '../../src/keyturn.ts';
import { SAY, type Service, service } from './service.ts';

const agentOf = ({ address, token }: Service) => createClient({ address, token });

const proofsOf = (draft: Draft, signer: Signer) =>
  signer.sign(draft.statements.map((one) => Buffer.from(one)));

/** What a call was refused with. */
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => {
      throw new Error('It was not refused.');
    },
    (error: ServiceRefusal) => error,
  );

describe('keyturn/client', () => {
  it('proposes with a token, waits over several polls, and has what was printed once a human has turned it', async () => {
    const s = await service({ most: 1 });
    const agent = agentOf(s);
    const { intent_id, hash } = await agent.intents.propose(SAY);
    const waits = agent.intents.waitFor({ intent_id }, { poll_s: 0 });
    const human = await openLink(s.link);
    const request = { intent_id, hash };
    const { draft, deadline } = await human.intents.turn.draft({ request, by: 'ada' });
    expect(Date.parse(deadline)).toBeGreaterThan(Date.now());
    const proofs = await proofsOf(draft, s.ada);
    expect(await human.intents.turn.finish({ request, draft, proofs })).toMatchObject({ by: 'ada' });
    const { status_word, run } = await waits;
    expect([status_word, run?.output]).toMatchObject(['succeeded', { stdout: 'hello\n' }]);
    expect((await agent.intents.list()).intents.map((one) => one.intent_id)).toEqual([intent_id]);
  });

  it('refuses as the library does, with code, message, advice and facts', async () => {
    const s = await service();
    const effect = { kind: 'tool' as const, tool: 'no-such-tool', arguments: {} };
    const asked = { declared_goal: 'Try.', effect };
    const here = await refusalOf(s.keyturn.intents.propose({ ...asked, issuer: 'bot' }));
    const there = await refusalOf(agentOf(s).intents.propose(asked));
    const told = ({ code, message, advice, facts }: ServiceRefusal) => ({ code, message, advice, facts });
    expect(told(there)).toEqual(told(here));
    expect([there.name, there.status]).toEqual(['ServiceRefusal', 400]);
    const unproven = createClient({ address: s.address });
    expect((await refusalOf(unproven.intents.list())).code).toBe('CALLER_UNPROVEN');
    expect((await refusalOf(openLink(s.link.slice(0, -4)))).code).toBe('LINK_SPENT');
  });

  it('stops waiting when its signal says so, in a poll and between two', async () => {
    const s = await service();
    const agent = agentOf(s);
    const { intent_id } = await agent.intents.propose(SAY);
    for (const poll_s of [0, 25]) {
      const signal = AbortSignal.timeout(200);
      const waits = agent.intents.waitFor({ intent_id }, { signal, poll_s });
      expect((await refusalOf(waits)).name).toBe('TimeoutError');
    }
  });

  it('takes nothing for an answer that is none, and its token goes nowhere else', async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer(({ headers, url }, response) => {
      seen.push(headers.authorization);
      if (url === '/v1/intents/list') response.writeHead(307, { location: '/elsewhere' }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome</p>');
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    onTestFinished(() => void other.close());
    const address = `http://127.0.0.1:${(other.address() as { port: number }).port}/`;
    const client = createClient({ address, token: 'ktk1.a' });
    await expect(client.intents.list()).rejects.toThrow(TypeError);
    await expect(client.tools.list()).rejects.toThrow(/no Keyturn service: 200 text\/html/);
    expect(seen).toEqual(['Bearer ktk1.a', 'Bearer ktk1.a']);
  });

  it('asks for nothing that was not asked for', async () => {
    const client = createClient({ address: 'http://127.0.0.1:1' });
    const { intents } = client;
    // A namespace with a "then" would be called here, and never answer.
    expect([await client, await intents].length).toBe(2);
    expect(JSON.stringify([client, intents])).toBe('[{},{}]');
    expect(() => `${intents}`).toThrow(TypeError);
  });

  it('has the types of the table: what the compiler refuses, the service refuses as well', async () => {
    const s = await service();
    const { intents, runs } = agentOf(s);
    const { next }: { next: string | null } = await intents.list({ limit: 1 });
    const calls = [
      // @ts-expect-error a member that no request has
      ['SHAPE_INVALID', () => intents.list({ limits: next })] as const,
      // @ts-expect-error a request that has to say which intent
      ['SHAPE_INVALID', () => intents.get()] as const,
      // @ts-expect-error an act is never one call
      ['NOT_FOR_AGENTS', () => intents.turn({ intent_id: s.token_id, hash: '' })] as const,
      // @ts-expect-error a read is no act
      ['SHAPE_INVALID', () => intents.get.draft({ request: { intent_id: '' }, by: 'ada' })] as const,
      // @ts-expect-error it needs something of the caller's process
      ['ROUTE_UNKNOWN', () => runs.run({})] as const,
      // @ts-expect-error no such verb
      ['ROUTE_UNKNOWN', () => intents.aprove({})] as const,
    ];
    for (const [code, call] of calls) expect((await refusalOf(call())).code).toBe(code);
  });
});
